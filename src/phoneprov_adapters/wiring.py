"""From settings to use cases: the way in for servers, scripts and other tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from phoneprov_adapters.container import Container
from phoneprov_adapters.security.keys import SecretKeys, load_or_create_keys
from phoneprov_adapters.settings import Settings, SettingsError
from phoneprov_adapters.sql import migrate
from phoneprov_adapters.sql.choice import is_embedded
from phoneprov_adapters.system import system_clock
from phoneprov_core.application import UseCases
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.times import shown

DRAIN_SECONDS = 32.0
"""How long a shutdown waits for switches under way: each ends within 30."""


def prepare(settings: Settings) -> Container:
    """The container for these settings, with nothing opened yet.

    Makes the data folder, and in it a secret key where none is set. Raises
    ``SettingsError``.
    """
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SettingsError(
            f"PHONEPROV_DATA_DIR: the folder cannot be made ({error.strerror})."
        ) from None
    try:
        if settings.secret_keys is not None:
            keys = SecretKeys.parse(settings.secret_keys)
        else:
            keys = load_or_create_keys(settings.data_dir)
    except ValueError as error:
        raise SettingsError(f"PHONEPROV_SECRET_KEYS: {error}") from None
    return Container(settings=settings, keys=keys)


async def migrate_embedded(settings: Settings) -> None:
    """Bring a database of our own up to date; a shared one is left as it is."""
    if is_embedded(settings.database_url):
        await migrate.upgrade(settings.database_url)


@asynccontextmanager
async def running(container: Container) -> AsyncIterator[UseCases]:
    """The use cases while the database is open.

    On the way in, deployments that a crash cut off are marked as interrupted. On the way
    out, switches under way are waited for.
    """
    database = container.database()
    await database.open()
    try:
        async with database.write() as tx:
            await tx.deployments.interrupt_abandoned(shown(system_clock()))
        yield container.use_cases()
    finally:
        await container.tasks().drain(DRAIN_SECONDS)
        await database.close()
        await asyncio.to_thread(container.hasher().close)


@asynccontextmanager
async def open_phoneprov(settings: Settings) -> AsyncIterator[UseCases]:
    """Every use case, ready to be called, without HTTP.

    An embedded database is brought up to date first. Raises ``SettingsError`` and
    ``Unavailable``.
    """
    container = prepare(settings)
    await migrate_embedded(settings)
    async with running(container) as use_cases:
        yield use_cases


def readiness(container: Container) -> Callable[[], Awaitable[str | None]]:
    """A question that answers why the service cannot serve, or None when it can."""

    async def ready() -> str | None:
        try:
            stands_at = await container.database().schema_version()
        except Unavailable as error:
            return error.message
        if stands_at != migrate.newest():
            return "The database's schema is not the one this version needs."
        return None

    return ready
