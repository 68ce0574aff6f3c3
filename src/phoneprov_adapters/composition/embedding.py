"""Embedding in other programs: in memory for tests, and blocking calls without ``await``.

``phoneprov_adapters.composition.lifecycle.open_phoneprov`` opens the service itself.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, fields
from threading import Thread
from typing import Any, Protocol, TypeVar

from phoneprov_adapters.composition.container import container_with
from phoneprov_adapters.composition.lifecycle import DRAIN_SECONDS
from phoneprov_adapters.composition.settings import Settings, read_settings
from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.devices import (
    MemoryManager,
    MemoryPhone,
    MemoryReachability,
    MemoryUploader,
    MemoryWatch,
)
from phoneprov_adapters.memory.system import (
    CountingIds,
    FixedClock,
    PlainHasher,
    PlainPages,
    PlainTokens,
)
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_core.application import UseCases
from phoneprov_core.kernel.values import millis
from phoneprov_core.switching.deployments.confirm import Watch

R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class InMemory(UseCases):
    """The use cases over adapters in memory, and these adapters.

    ``uploader.files`` are the files that were uploaded, ``phone.sent`` the commands that each phone
    received, ``manager.performed`` the actions that Asterisk received. Failures can be planned
    (``uploader.fail_next``, ``phone.fail``, ``manager.fail``). A watch of a restarted phone ends
    with ``watch.comes_back`` or ``watch.goes_missing``; ``reachability.at_server`` and
    ``reachability.at_phone`` are the results of the reachability checks of a preview. ``clock``
    stops until ``clock.advance``; identifiers count up from 1. Hashes and tokens are not secure.
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
    """Every use case over adapters in memory: without files, network and waiting.

    The default of ``settings`` is an empty environment. If they contain ``PHONEPROV_AMI_HOST``,
    phones are restarted through ``manager``, else over ``phone``. Database and uploader are always
    in memory; a phone driver of another package is used.
    """
    settings = settings or read_settings({})
    clock = FixedClock()
    database = MemoryDatabase(clock=lambda: millis(clock()))
    uploader = MemoryUploader(settings.phone_networks, host=settings.ftp.host)
    phone = MemoryPhone(settings.phone_networks)
    manager = MemoryManager()
    watch, reachability = MemoryWatch(), MemoryReachability()
    container = container_with(
        settings,
        SecretKeys.parse("what is in memory is open to all"),
        clock=clock,
        new_id=CountingIds(),
        database=database,
        hasher=PlainHasher(),
        tokens=PlainTokens(),
        signer=PlainPages(),
        uploader=uploader,
        phone_commands=phone,
        manager=manager if settings.manager else None,
        watch=Watch(None, watch, seconds=settings.confirm_timeout),
        reachability=reachability,
    )
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
    """Runs a coroutine to its end and returns its result. Any thread may call it, also while
    another thread does: the coroutines then run concurrently."""

    def __call__(self, work: Coroutine[Any, Any, R], /) -> R:
        """The result of the coroutine; its exceptions are raised. If the wait is interrupted, the
        coroutine is cancelled. Raises ``RuntimeError``, and runs nothing, in a thread whose event
        loop runs, and after the end of the block."""


@contextmanager
def blocking(opening: AbstractAsyncContextManager[T]) -> Iterator[tuple[T, Run]]:
    """Open ``opening`` for a program without an event loop, with a function that runs its calls.

    ``with blocking(open_phoneprov(settings)) as (phoneprov, run):`` and then
    ``run(phoneprov.phones.create(actor, new_phone))``, in any thread. The event loop has a thread
    of its own. Raises ``RuntimeError`` if an event loop runs already: use ``async with`` and
    ``await`` there.
    """
    with _loop_in_a_thread() as loop:

        def run(work: Coroutine[Any, Any, R], /) -> R:
            if loop.is_closed() or _has_loop():
                work.close()
                _require_no_loop()
                raise RuntimeError("The block of blocking() has ended; its event loop is closed.")
            future = asyncio.run_coroutine_threadsafe(work, loop)
            try:
                return future.result()
            except BaseException:
                future.cancel()  # of no effect, unless the wait was interrupted
                raise

        stack = AsyncExitStack()
        opened = run(stack.enter_async_context(opening))
        try:
            yield opened, run
        finally:
            run(stack.aclose())


@contextmanager
def _loop_in_a_thread() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs in a thread of its own until the end of the block. What still runs
    then is cancelled."""
    _require_no_loop()
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def live() -> None:
        end = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), end))
        await end.wait()

    thread = Thread(target=lambda: asyncio.run(live()), name="phoneprov", daemon=True)
    thread.start()
    loop, end = started.result()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()


def _require_no_loop() -> None:
    if _has_loop():
        raise RuntimeError(
            "An event loop is running: use async with and await instead of blocking."
        )


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
