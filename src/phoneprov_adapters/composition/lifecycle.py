"""From settings to use cases, for servers, scripts and other tools; and what an installation
consists of: its data folder, its database and its keys.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from phoneprov_adapters.composition.adapters import OwnDatabase
from phoneprov_adapters.composition.container import Container, background_of, container_with
from phoneprov_adapters.composition.plugins import Periodic
from phoneprov_adapters.composition.settings import Settings, SettingsError
from phoneprov_adapters.runtime.tasks import system_clock
from phoneprov_adapters.security.keys import SecretKeys, key_file, load_or_create_keys
from phoneprov_adapters.sql.engines.address import embedded_file, is_embedded
from phoneprov_adapters.sql.engines.hosts import NotPostgres
from phoneprov_adapters.sql.engines.processes import Processes, processes_at
from phoneprov_adapters.sql.engines.revisions import UnfitSchema, newest, obstacle
from phoneprov_adapters.sql.engines.sqlite_file import revision_of
from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_adapters.sql.maintenance.key_rotation import MissingKeys
from phoneprov_core.application import UseCases
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Event
from phoneprov_core.kernel.errors import NotWritable, Unavailable
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.records import LEASE_SECONDS


def make_folder(settings: Settings) -> None:
    """Create the data folder. Raises ``SettingsError``."""
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise SettingsError(
            f"PHONEPROV_DATA_DIR: the folder cannot be created ({error.strerror})."
        ) from None


def require_database(settings: Settings) -> None:
    """Check that the file of the embedded database exists, if the settings name one.

    For commands that must not create an installation in a wrong folder. Raises ``SettingsError``
    with the absolute path.
    """
    file = embedded_file(settings.database_url)
    if file is not None and not file.exists():
        raise _no_installation(f"There is no database at {file.absolute()}")


def require_installation(settings: Settings) -> None:
    """Like ``require_database``; with a shared database and without ``PHONEPROV_SECRET_KEYS`` the
    data folder, which contains the key, must exist. Raises ``SettingsError``."""
    require_database(settings)
    if settings.secret_keys is None and not settings.data_dir.exists():
        raise _no_installation(
            "PHONEPROV_SECRET_KEYS is not set, and there is no folder "
            f"{settings.data_dir.absolute()}"
        )


def _no_installation(missing: str) -> SettingsError:
    return SettingsError(
        f"{missing}. Run the command in the folder of the installation, or set "
        "PHONEPROV_DATA_DIR. phoneprov create-admin or phoneprov serve creates a new installation."
    )


async def require_keys(container: Container) -> None:
    """Check, while the database is open, that every key that its secrets need is configured.

    Raises ``SettingsError`` with the remedy. A key file that was just created in place of a lost
    one is removed again.
    """
    try:
        await container.rotation().require_all()
    except MissingKeys as missing:
        raise SettingsError(_remedy(container, missing.key_ids)) from None


def _remedy(container: Container, missing: tuple[str, ...]) -> str:
    settings, made = container.settings(), container.keys().made
    file = key_file(settings.data_dir)
    which = f"the key{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    if made is not None:
        made.unlink(missing_ok=True)
        return (
            f"The key file {file} does not exist, and the database holds secrets that need {which}:"
            " put the file back, or name its keys in PHONEPROV_SECRET_KEYS."
        )
    where = "PHONEPROV_SECRET_KEYS" if settings.secret_keys is not None else f"The key file {file}"
    if pins_only := {key.id for key in container.keys().pins_only}.intersection(missing):
        return (
            f"{where} marks the key {', '.join(sorted(pins_only))} with pin:, but secrets in the"
            " database are encrypted with it: remove pin: and run phoneprov keys rotate."
        )
    unused = " (the key file in the data folder is not read when it is set)"
    return (
        f"{where} lacks {which}, which secrets in the database need"
        f"{unused if settings.secret_keys is not None and file.exists() else ''}:"
        " add what is missing after the others, separated by a comma, and run"
        " phoneprov keys rotate."
    )


DRAIN_SECONDS = 32.0
"""Seconds that a running switch has at a shutdown: each one ends within 30 seconds."""
LOOK_SECONDS = float(LEASE_SECONDS)
"""Seconds between two searches for deployments of processes that ended."""

TAKE_OVER_SECONDS = 1.0
"""Seconds between two looks for processes that ended. A command that restarts a phone takes
longer."""

OFFLINE_SECONDS = 2.0
"""Seconds until work that found no database is tried again."""

log = logging.getLogger("phoneprov.deployments")


def prepare(settings: Settings, **adapters: object) -> Container:
    """The container for these settings, with other adapters by the names of their providers;
    nothing is opened yet.

    Creates the data folder, and the secret key in it if no key is set. Raises ``SettingsError``.
    """
    try:
        if settings.secret_keys is not None:
            keys = SecretKeys.parse(settings.secret_keys)
        else:
            make_folder(settings)
            keys = load_or_create_keys(settings.data_dir)
    except ValueError as error:
        raise SettingsError(f"PHONEPROV_SECRET_KEYS: {error}") from None
    if is_embedded(settings.database_url):
        make_folder(settings)
    return container_with(settings, keys, **adapters)


async def create_database(settings: Settings) -> None:
    """Create the embedded database if its file does not exist; any other is not changed."""
    file = embedded_file(settings.database_url)
    if file is not None and not await asyncio.to_thread(file.exists):
        await bring_up_to_date(settings.database_url)


async def bring_up_to_date(url: str, tell: Callable[[str], None] = lambda _: None) -> None:
    """Upgrade the database at ``url``, unless it has the newest revision; ``tell`` is called with
    a line for each wait. Raises ``Unavailable``."""
    file = embedded_file(url)
    if file is not None and await asyncio.to_thread(revision_of, file) == newest():
        return
    # Only an upgrade loads alembic.
    from phoneprov_adapters.sql.maintenance import migrate  # noqa: PLC0415

    await migrate.upgrade(url, tell)


async def require_schema(database: object) -> None:
    """Raises ``UnfitSchema`` if the open database has another schema than this version needs, and
    ``Unavailable``. One in memory always has it."""
    if isinstance(database, OwnDatabase) and (reason := obstacle(await database.revision())):
        raise UnfitSchema(reason)


@asynccontextmanager
async def opened(container: Container) -> AsyncIterator[None]:
    """Open the database. Raises ``UnfitSchema`` and ``Unavailable``."""
    database = container.database()
    await database.open()
    try:
        await require_schema(database)
        yield
    finally:
        await database.close()


@asynccontextmanager
async def running(
    container: Container, *, may_be_offline: bool = False, batches: bool = False
) -> AsyncIterator[None]:
    """Open the database, and run the background work of the use cases.

    At the start the keys are checked (see ``require_keys``), and deployments that a crash
    interrupted are marked; leases of other hosts and processes are checked periodically. What a
    killed process of this host held is free then; that of another host expires. At the end
    running switches are awaited. With ``may_be_offline`` the start succeeds while a shared database
    cannot be reached or has another schema, or the disk of an embedded one cannot be written; the
    use cases raise ``Unavailable`` meanwhile. With
    ``batches`` the open batches of other processes are continued; batches started here are always
    processed.
    """
    database, settings = container.database(), container.settings()
    url = settings.database_url
    processes = processes_at(url, settings.data_dir)

    with processes.registered(database.process):
        is_marked = False
        try:
            try:
                await database.open()
                await require_schema(database)
                await require_keys(container)
                await _mark_interrupted(database, processes)
                is_marked = True
                if batches:
                    await container.view_fleet().count_days()  # no reader has to wait for it
            except Unavailable as error:
                is_fatal = is_embedded(url) and not isinstance(error, NotWritable)
                if not may_be_offline or is_fatal or isinstance(error, NotPostgres):
                    raise
                which = "changed" if isinstance(error, NotWritable) else "used"
                log.warning("The database cannot be %s. %s", which, error.message)

            async def mark() -> None:
                if await _mark_interrupted(database, processes) and batches:
                    container.tasks().start(container.confirm().resume())

            looking = [Periodic(mark, LOOK_SECONDS, immediately=not is_marked)]
            if batches:
                container.tasks().start(container.confirm().resume())
                looking += [_taking_over(container, processes), *background_of(container)]
            tasks = [asyncio.create_task(_every(work)) for work in looking]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                await container.tasks().drain(DRAIN_SECONDS)
                container.uploader.shutdown()
        finally:
            await database.close()
            container.hasher.shutdown()


def _taking_over(container: Container, processes: Processes) -> Periodic:
    """Take over the watches of phones from processes of this host that end, such as commands."""
    known = processes.names()

    async def look() -> None:
        nonlocal known
        before, known = known, processes.names()
        if before - known:
            container.tasks().start(container.confirm().resume())

    return Periodic(look, TAKE_OVER_SECONDS)


async def _mark_interrupted(database: Database, processes: Processes) -> int:
    async with processes.killed() as killed, database.write(by=SYSTEM_ACTOR) as tx:
        for process in sorted(killed):
            await tx.leases.release_of(process)
            await tx.batches.release_of(process)
        count = await tx.deployments.interrupt_abandoned(timestamp(system_clock()))
        if count:
            event = Event("deployment.interrupted", "deployment", None, {"deployments": count})
            tx.trail.note(event)
    if count:
        log.warning("%d deployments of ended processes were marked as interrupted.", count)
    return count


async def _every(periodic: Periodic) -> None:
    """Repeat some work. The database may be unavailable for a while: at the start of a host, for
    example, it is a few seconds late."""
    pause = 0.0 if periodic.immediately else periodic.seconds
    while True:
        await asyncio.sleep(pause)
        try:
            await periodic.work()
            pause = periodic.seconds
        except Unavailable:
            pause = min(periodic.seconds, OFFLINE_SECONDS)


@asynccontextmanager
async def open_phoneprov(settings: Settings) -> AsyncIterator[UseCases]:
    """All use cases, without HTTP.

    An embedded database is created if it does not exist. Raises ``SettingsError``, ``Unavailable``
    and, if the schema has to be upgraded first, ``UnfitSchema``.
    """
    container = prepare(settings)
    await create_database(settings)
    async with running(container):
        yield container.use_cases()


def readiness(container: Container) -> Callable[[], Awaitable[str | None]]:
    """Readiness check: the reason why the service cannot serve, or None if it can."""

    async def ready() -> str | None:
        database = container.database()
        try:
            await require_schema(database)
            await database.require_privileges()
            await database.require_writable()
        except Unavailable as error:
            return error.message
        return None

    return ready
