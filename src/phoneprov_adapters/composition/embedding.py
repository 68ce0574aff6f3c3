"""Ways in for other programs: without a server or a network for tests, and without ``await``.

``phoneprov_adapters.composition.lifecycle.open_phoneprov`` opens the real thing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, fields
from typing import Any, Protocol, TypeVar

from dependency_injector import providers

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.lifecycle import DRAIN_SECONDS
from phoneprov_adapters.composition.settings import Settings, read_settings
from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.phone import MemoryManager, MemoryPhone
from phoneprov_adapters.memory.system import (
    CountingIds,
    FixedClock,
    PlainHasher,
    PlainPages,
    PlainTokens,
)
from phoneprov_adapters.memory.uploader import MemoryUploader
from phoneprov_adapters.memory.watch import MemoryReachability, MemoryWatch
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.application import UseCases
from phoneprov_core.deployments.watch import Watch
from phoneprov_core.kernel.times import millis

R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class InMemory(UseCases):
    """The use cases, and the adapters behind them, which only remember.

    ``uploader.files`` are the files that were uploaded, ``phone.sent`` what each phone was told
    over its web server, ``manager.performed`` what Asterisk was asked for. Failures can be
    planned (``uploader.fail_next``, ``phone.fail``, ``manager.fail``). Phones that were restarted
    are waited for until ``watch.comes_back`` or ``watch.goes_missing``; what a preview finds to
    be reachable is ``reachability.at_server`` and ``reachability.at_phone``. ``clock`` stands still
    until ``clock.advance`` moves it; identifiers count up from 1. Hashes and tokens protect
    nothing.
    """

    database: MemoryDatabase
    uploader: MemoryUploader
    phone: MemoryPhone
    manager: MemoryManager
    watch: MemoryWatch
    reachability: MemoryReachability
    clock: FixedClock


@asynccontextmanager
async def open_in_memory(settings: Settings | None = None) -> AsyncIterator[InMemory]:
    """Every use case over adapters in memory: no file, no network, no waiting.

    ``settings`` are those of an empty environment unless given. Where they name an Asterisk
    (``PHONEPROV_AMI_HOST``), phones are restarted through ``manager``, else over ``phone``.
    Whatever database and uploader they choose, memory stands in for it; a phone driver of
    another package is taken as it is.
    """
    settings = settings or read_settings({})
    clock = FixedClock()
    database = MemoryDatabase(clock=lambda: millis(clock()))
    uploader = MemoryUploader(settings.phone_networks, host=settings.ftp.host)
    phone = MemoryPhone(settings.phone_networks)
    manager = MemoryManager()
    watch, reachability = MemoryWatch(), MemoryReachability()
    container = Container(
        settings=settings, keys=SecretKeys.parse("what is in memory is open to all")
    )
    for provider, adapter in (
        (container.clock, clock),
        (container.new_id, CountingIds()),
        (container.database, database),
        (container.hasher, PlainHasher()),
        (container.tokens, PlainTokens()),
        (container.signer, PlainPages()),
        (container.uploader, uploader),
        (container.phone_commands, phone),
        (container.manager, manager if settings.manager else None),
        (container.watch, Watch(None, watch, seconds=settings.confirm_seconds)),
        (container.reachability, reachability),
    ):
        provider.override(providers.Object(adapter))
    use_cases = container.use_cases()
    try:
        yield InMemory(
            **{field.name: getattr(use_cases, field.name) for field in fields(UseCases)},
            database=database,
            uploader=uploader,
            phone=phone,
            manager=manager,
            watch=watch,
            reachability=reachability,
            clock=clock,
        )
    finally:
        await container.tasks().drain(DRAIN_SECONDS)
        await database.close()


class Run(Protocol):
    """Runs what would have to be awaited, to its end."""

    def __call__(self, work: Coroutine[Any, Any, R], /) -> R:
        """Its result; what it raises is raised here."""
        ...


@contextmanager
def blocking(opening: AbstractAsyncContextManager[T]) -> Iterator[tuple[T, Run]]:
    """What ``opening`` opens, for a program without an event loop, and a way to run its calls.

    ``with blocking(open_phoneprov(settings)) as (phoneprov, run):`` and then, say,
    ``run(phoneprov.phones.create(actor, new_phone))``. One call at a time, from one thread.
    Raises ``RuntimeError`` where an event loop runs already: there one awaits.
    """
    _require_no_loop()
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        opened = runner.run(stack.enter_async_context(opening))
        try:
            yield opened, runner.run
        finally:
            runner.run(stack.aclose())


def _require_no_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("An event loop runs here already: open it with async with, and await.")
