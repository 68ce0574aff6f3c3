"""Threads for costly work, with a bounded queue for each rank."""

import itertools
import os
import sys
from asyncio import wrap_future
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from queue import PriorityQueue
from threading import BoundedSemaphore
from typing import Any, TypeVar

from phoneprov_core.kernel.errors import Unavailable

T = TypeVar("T")


class WorkThreads:
    """Runs costly functions in ``workers`` threads, the oldest of the lowest rank first. At most
    ``queue`` more of each of three ranks wait; they are dropped with their callers. Work that has
    begun occupies its thread until it ends, also when its caller is cancelled."""

    def __init__(self, workers: int, queue: int = 256) -> None:
        self._places = [BoundedSemaphore(workers + queue) for _ in range(3)]
        self._queue = PriorityQueue[tuple[int, int, Future[Any], Callable[[], Any]]]()
        self._numbers = itertools.count()
        self._executor = ThreadPoolExecutor(workers, "phoneprov-hash", _lower_priority)

    async def run(self, work: Callable[[], T], rank: int = 0) -> T:
        """Raises ``Unavailable`` at once if the queue of the rank is full, and after ``close``."""
        places, result = self._places[rank], Future[T]()
        if not places.acquire(blocking=False):
            raise Unavailable("Too many passwords are being checked; try again in a few seconds.")
        result.add_done_callback(lambda _: places.release())
        try:
            self._executor.submit(self._run_next)
        except RuntimeError:
            result.cancel()
            raise Unavailable("The server is stopping; try again shortly.") from None
        self._queue.put((rank, next(self._numbers), result, work))
        return await wrap_future(result)

    def _run_next(self) -> None:
        _, _, result, work = self._queue.get()  # each call has one entry
        if result.set_running_or_notify_cancel():
            try:
                result.set_result(work())
            except BaseException as error:  # noqa: BLE001 - raised to the caller
                result.set_exception(error)

    def close(self) -> None:
        """Accept no more work, and do not wait for the accepted one, which finishes."""
        self._executor.shutdown(wait=False)


def _lower_priority() -> None:
    """On Linux below the event loop, which would wait for a thread's time slice at each step."""
    with suppress(OSError):
        os.nice(10 if sys.platform == "linux" else 0)
