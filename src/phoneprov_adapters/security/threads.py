"""Threads for costly work: a few at work, some more waiting, and no more than that."""

from __future__ import annotations

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
_NICENESS = 10


def processors() -> int:
    """Those that this process may use: more threads than those get into each other's way."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class WorkThreads:
    """Runs costly functions beside the event loop, at most ``workers`` of them at a time
    (None: as many as there are ``processors``), while at most ``queue`` more wait in each of
    two queues. A thread that is free takes its work from the first queue as long as there is
    any.

    A place belongs to the work, not to the caller. A caller who goes away gives no place
    back while the work still runs; work that waits is dropped with its caller.

    While more work waits, answers are handed back several together: one that is there stays
    for a tenth of a second, and for as long as the work that was begun meanwhile takes. Costly work
    empties the processor's caches, so that whatever the loop does after it takes several times
    as long as when it has just done the same for somebody else.

    On Linux the threads have a lower priority than the loop: else whoever only reads would wait
    for a whole turn of theirs at each step. Something is left to them however busy the loop is.
    """

    def __init__(self, workers: int | None = None, queue: int = 256) -> None:
        workers = workers or processors()
        self._places = [threading.BoundedSemaphore(workers + queue) for _ in range(2)]
        self._queues: tuple[deque[_Job], deque[_Job]] = (deque(), deque())
        self._executor = ThreadPoolExecutor(
            workers, thread_name_prefix="phoneprov-hash", initializer=_give_way
        )
        self._answers = _Answers()

    async def run(self, work: Callable[[], T], *, first: bool = True) -> T:
        """What ``work`` answers or raises. It waits in the first queue or in the second.

        Raises ``Unavailable``, without waiting, when every place of the queue is taken, and
        after ``close``.
        """
        places, queue = self._places[not first], self._queues[not first]
        if not places.acquire(blocking=False):
            raise Unavailable("Too many passwords are being checked just now; try again shortly.")
        answers, loop = self._answers, asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()

        def begin() -> T:
            answers.one_waits_less()
            return work()

        answers.one_more_waits()
        done: Future[T] = Future()
        job = _Job(done, begin)
        queue.append(job)
        try:
            self._executor.submit(self._run_next)
        except RuntimeError:
            queue.remove(job)
            places.release()
            answers.one_waits_less()
            raise Unavailable("The server is stopping; try again shortly.") from None

        def end(done: Future[T]) -> None:
            places.release()
            if done.cancelled():
                answers.one_waits_less()
            else:
                answers.take(_Answer(loop, answer, done))

        done.add_done_callback(end)
        try:
            return await answer
        finally:
            done.cancel()

    def _run_next(self) -> None:
        # There is a job for each call: each was queued before its call was submitted.
        first, second = self._queues
        try:
            job = first.popleft()
        except IndexError:
            job = second.popleft()
        job.run()

    def close(self) -> None:
        """Take no more work. What was taken is finished; nobody waits for it here."""
        self._executor.shutdown(wait=False)


def _give_way() -> None:
    # Elsewhere it would be the priority of the whole process.
    if sys.platform == "linux":
        with suppress(OSError):
            os.nice(_NICENESS)


class _Job(NamedTuple):
    """Work that waits for a thread, and the future of its answer."""

    done: Future[Any]
    work: Callable[[], Any]

    def run(self) -> None:
        """Do the work, unless it was cancelled."""
        if not self.done.set_running_or_notify_cancel():
            return
        try:
            answer = self.work()
        except BaseException as error:  # noqa: BLE001 - raised to the caller
            self.done.set_exception(error)
        else:
            self.done.set_result(answer)


class _Answer(NamedTuple):
    """What came of a piece of work, and who waits for it in which loop."""

    loop: asyncio.AbstractEventLoop
    waited_for: asyncio.Future[Any]
    done: Future[Any]


class _Answers:
    """Answers that are there. They go back when no work waits any more, so none of them stays
    for ever, or when the first has been held for long enough."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work_waiting = 0
        self._held: list[_Answer] = []
        self._go_back_at = 0.0

    def one_more_waits(self) -> None:
        with self._lock:
            self._work_waiting += 1

    def one_waits_less(self) -> None:
        with self._lock:
            self._work_waiting -= 1
            self._hand_back_if_due()

    def take(self, answer: _Answer) -> None:
        with self._lock:
            if not self._held:
                self._go_back_at = time.monotonic() + _HELD_SECONDS
            self._held.append(answer)
            self._hand_back_if_due()

    def _hand_back_if_due(self) -> None:
        if not self._held or (self._work_waiting and time.monotonic() < self._go_back_at):
            return
        held, self._held = self._held, []
        for loop in {answer.loop for answer in held}:
            # One that is closed has nobody left who waits.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_hand_back, [a for a in held if a.loop is loop])


def _hand_back(answers: list[_Answer]) -> None:
    for _, waited_for, done in answers:
        if waited_for.done():
            continue
        error = done.exception()
        if error is not None:
            waited_for.set_exception(error)
        else:
            waited_for.set_result(done.result())
