"""Threads for costly work, with bounded queues."""

import asyncio
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from phoneprov_core.kernel.errors import Unavailable

T = TypeVar("T")

_HELD_SECONDS = 0.1
_LONG_QUEUE = 8
"""Length of the queue from which results are delivered together."""
_NICENESS = 10


def processors() -> int:
    """The processors that this process may use: more threads would compete for them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WorkThreads:
    """Runs costly functions in threads, at most ``workers`` of them at a time (None: one per
    processor), with at most ``queue`` more in each of two queues. A free thread empties the first
    queue first.

    A thread is occupied until the work ends, also when its caller is cancelled; queued work is
    dropped with its caller.

    While at least 8 pieces of work are queued, results are delivered together: a result is held for
    a tenth of a second, and until the work started in that time has ended. Costly work evicts the
    processor's caches, so that the next task of the loop takes several times as long; delivering
    together pays this once. With a shorter queue a result is delivered at once: no caller waits for
    work that was queued after its own.

    On Linux the threads have a lower priority than the loop; otherwise a reading request would wait
    for a time slice of theirs at each step. A busy loop leaves them a small share.
    """

    def __init__(self, workers: int | None = None, queue: int = 256) -> None:
        workers = workers or processors()
        self._places = [threading.BoundedSemaphore(workers + queue) for _ in range(2)]
        self._queues: tuple[deque[_Job], deque[_Job]] = (deque(), deque())
        self._executor = ThreadPoolExecutor(
            workers, thread_name_prefix="phoneprov-hash", initializer=_lower_priority
        )
        self._answers = _Answers()

    async def run(self, work: Callable[[], T], *, first: bool = True) -> T:
        """The result of ``work``, which waits in the first or the second queue.

        Raises ``Unavailable`` at once if the queue is full, and after ``close``.
        """
        places, queue = self._places[not first], self._queues[not first]
        if not places.acquire(blocking=False):
            raise Unavailable("Too many passwords are being checked; try again in a few seconds.")
        answers, loop = self._answers, asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def begin() -> T:
            answers.count_begun()
            return work()

        answers.count_queued()
        done: Future[T] = Future()
        job = _Job(done, begin)
        queue.append(job)
        try:
            self._executor.submit(self._run_next)
        except RuntimeError:
            queue.remove(job)
            places.release()
            answers.count_begun()
            raise Unavailable("The server is stopping; try again shortly.") from None

        def end(done: Future[T]) -> None:
            places.release()
            if done.cancelled():
                answers.count_begun()
            else:
                answers.take(_Answer(loop, answer, done))

        done.add_done_callback(end)
        try:
            return await answer
        finally:
            done.cancel()

    def _run_next(self) -> None:
        # Each call has a job: it was queued before its call was submitted.
        first, second = self._queues
        try:
            job = first.popleft()
        except IndexError:
            job = second.popleft()
        job.run()

    def close(self) -> None:
        """Accept no more work. Accepted work finishes; this does not wait for it."""
        self._executor.shutdown(wait=False)


def _lower_priority() -> None:
    # On other systems it would be the priority of the whole process.
    if sys.platform == "linux":
        with suppress(OSError):
            os.nice(_NICENESS)


class _Job(NamedTuple):
    """Queued work and the future of its result."""

    done: Future[Any]
    work: Callable[[], Any]

    def run(self) -> None:
        """Run the work, unless it was cancelled."""
        if not self.done.set_running_or_notify_cancel():
            return
        try:
            answer = self.work()
        except BaseException as error:  # noqa: BLE001 - raised to the caller
            self.done.set_exception(error)
        else:
            self.done.set_result(answer)


class _Answer(NamedTuple):
    """The result of a piece of work, with its future and loop."""

    loop: asyncio.AbstractEventLoop
    result: asyncio.Future[Any]
    done: Future[Any]


class _Answers:
    """Results to be delivered: at once while the queue is short, else when the first has been held
    for long enough."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queue_length = 0
        self._held: list[_Answer] = []
        self._deliver_at = 0.0

    def count_queued(self) -> None:
        with self._lock:
            self._queue_length += 1

    def count_begun(self) -> None:
        with self._lock:
            self._queue_length -= 1
            self._deliver_if_due()

    def take(self, answer: _Answer) -> None:
        with self._lock:
            if not self._held:
                self._deliver_at = time.monotonic() + _HELD_SECONDS
            self._held.append(answer)
            self._deliver_if_due()

    def _deliver_if_due(self) -> None:
        is_long = self._queue_length >= _LONG_QUEUE
        if not self._held or (is_long and time.monotonic() < self._deliver_at):
            return
        held, self._held = self._held, []
        for loop in {answer.loop for answer in held}:
            # A closed loop has no waiting callers.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_deliver, [a for a in held if a.loop is loop])


def _deliver(answers: list[_Answer]) -> None:
    for _, result, done in answers:
        if result.done():
            continue
        error = done.exception()
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(done.result())
