"""Work that goes on when whoever asked for it is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")

_CANCEL_SECONDS = 5.0
"""How long work that is cancelled may take to end."""


class OwnedTasks:
    """Runs work in tasks of its own, and can end all of them."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Future[Any], float] = {}
        self._background: set[asyncio.Future[Any]] = set()
        self._draining = False

    async def run(self, work: Awaitable[T]) -> T:
        """The result of the work, which goes on to its end when this call is cancelled."""
        task = asyncio.ensure_future(work)
        self._running[task] = asyncio.get_running_loop().time()
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def start(self, work: Awaitable[None]) -> None:
        """Begin work that nobody waits for; a shutdown ends it at once."""
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._forget)
        if self._draining:
            _end(task)

    def _forget(self, task: asyncio.Future[Any]) -> None:
        self._running.pop(task, None)
        self._background.discard(task)
        if not task.cancelled():
            task.exception()  # seen: nobody may be left to see it

    async def drain(self, seconds: float) -> None:
        """End what runs in the background, and wait until all other work has ended. What goes
        on ``seconds`` after its beginning is cancelled."""
        self._draining = True
        for task in self._background:
            _end(task)
        loop = asyncio.get_running_loop()
        timers = [
            loop.call_at(since + seconds, task.cancel) for task, since in self._running.items()
        ]
        if timers:
            await asyncio.wait(set(self._running), timeout=seconds + _CANCEL_SECONDS)
        for timer in timers:
            timer.cancel()
        if self._background:
            await asyncio.wait(set(self._background), timeout=_CANCEL_SECONDS)
        self._draining = False


def _end(task: asyncio.Future[Any]) -> None:
    # In the next turn of the loop, when it has begun: what never began cleans nothing up.
    asyncio.get_running_loop().call_soon(task.cancel)
