"""Waiting for a state that sends no event."""

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Process(Protocol):
    def poll(self) -> int | None: ...


async def until(condition: Callable[[], Any], seconds: float = 120) -> Any:
    """Poll a function or a coroutine function; its first true value. Raises ``TimeoutError``."""
    async with asyncio.timeout(seconds):
        while True:
            found = condition()
            if inspect.isawaitable(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(0.01)


def wait_for(
    condition: Callable[[], T],
    process: Process | None = None,
    *,
    log: Callable[[], str] = str,
    seconds: float = 120,
) -> T:
    """The same in a thread. Fails with the log when the time is over or the process has ended."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert process is None or process.poll() is None, log()
        assert time.monotonic() < deadline, log()
        time.sleep(0.01)
    return found
