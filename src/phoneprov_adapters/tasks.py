"""Work that goes on when whoever asked for it is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")

_CANCEL_SECONDS = 5.0
"""How long work that is cancelled may take to end."""


class OwnedTasks:
    """Runs work in tasks of its own, and can wait for all of them."""

    def __init__(self) -> None:
        self._running: dict[asyncio.Future[Any], float] = {}

    async def run(self, work: Awaitable[T]) -> T:
        """The result of the work, which goes on to its end when this call is cancelled."""
        task = asyncio.ensure_future(work)
        self._running[task] = asyncio.get_running_loop().time()
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def _forget(self, task: asyncio.Future[Any]) -> None:
        self._running.pop(task, None)
        if not task.cancelled():
            task.exception()  # seen: nobody may be left to see it

    async def drain(self, seconds: float) -> None:
        """Wait until all work has ended. What goes on ``seconds`` after its beginning is
        cancelled."""
        loop = asyncio.get_running_loop()
        timers = [
            loop.call_at(since + seconds, task.cancel) for task, since in self._running.items()
        ]
        if timers:
            await asyncio.wait(set(self._running), timeout=seconds + _CANCEL_SECONDS)
        for timer in timers:
            timer.cancel()
