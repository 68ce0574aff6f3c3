"""Waiting for what goes on in any case."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def to_its_end(work: Awaitable[T]) -> T:
    """Await, and when cancelled go on waiting: what was handed to a database is done in any
    case, and only what is known to have ended can be followed by anything else."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        # Nobody else will ask how it ended.
        task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        await asyncio.wait([task])
        raise
