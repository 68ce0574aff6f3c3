"""Work that goes on when whoever asked for it is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


class OwnedTasks:
    """Runs work in tasks of its own, and can wait for all of them."""

    def __init__(self) -> None:
        self._running: set[asyncio.Future[Any]] = set()

    async def run(self, work: Awaitable[T]) -> T:
        """The result of the work, which goes on to its end when this call is cancelled."""
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    def _forget(self, task: asyncio.Future[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # seen: nobody may be left to see it

    async def drain(self, seconds: float) -> None:
        """Wait until all work has ended, at most for so long; what is left is cancelled."""
        if not self._running:
            return
        _, late = await asyncio.wait(set(self._running), timeout=seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=5)
