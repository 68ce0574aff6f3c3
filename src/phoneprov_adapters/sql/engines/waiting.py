"""Awaiting of work that a cancellation does not stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def to_its_end(work: Awaitable[T]) -> T:
    """Await, and continue to wait when cancelled: work that was passed to a database is executed in
    any case, and further work may follow only after its end."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # Retrieved: no other caller awaits it.
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        await asyncio.wait([task])
        raise
