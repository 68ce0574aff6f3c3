"""Threads for costly work: a few at work, some more waiting, and no more than that."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from phoneprov_core.kernel.errors import Unavailable

T = TypeVar("T")


class WorkThreads:
    """Runs costly functions beside the event loop, at most ``workers`` of them at a time
    (None: as many as there are processors), while at most ``queue`` more wait.

    A place belongs to the work, not to the caller. A caller who goes away gives no place
    back while the work still runs; work that waits is dropped with its caller.
    """

    def __init__(self, workers: int | None = None, queue: int = 256) -> None:
        workers = workers or os.cpu_count() or 1
        self._places = threading.BoundedSemaphore(workers + queue)
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="phoneprov-hash")

    async def run(self, work: Callable[[], T]) -> T:
        """What ``work`` answers or raises.

        Raises ``Unavailable``, without waiting, when every place is taken, and after
        ``close``.
        """
        if not self._places.acquire(blocking=False):
            raise Unavailable("Too many passwords are being checked just now; try again shortly.")
        try:
            future = self._executor.submit(work)
        except RuntimeError:
            self._places.release()
            raise Unavailable("The server is stopping; try again shortly.") from None
        future.add_done_callback(self._give_back)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Take no more work. What was taken is finished; nobody waits for it here."""
        self._executor.shutdown(wait=False)

    def _give_back(self, _done: Future[T]) -> None:
        self._places.release()
