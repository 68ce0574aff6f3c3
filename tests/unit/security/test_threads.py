"""Threads for costly work: running and queued work, places, and the order of the ranks."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from phoneprov_adapters.security.credentials import WorkThreads
from phoneprov_core.kernel.errors import Unavailable


class Work:
    """Work that runs until ``go`` is set, and counts concurrent calls."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.started = threading.Semaphore(0)
        self.begun = 0
        self.most = 0
        self._running = 0
        self._lock = threading.Lock()

    def __call__(self) -> str:
        with self._lock:
            self.begun += 1
            self._running += 1
            self.most = max(self.most, self._running)
        self.started.release()
        assert self.go.wait(10)
        with self._lock:
            self._running -= 1
        return "done"

    async def has_started(self) -> None:
        assert await asyncio.to_thread(self.started.acquire, timeout=60)


@pytest.fixture
def work() -> Iterator[Work]:
    work = Work()
    yield work
    work.go.set()


@pytest.fixture
def threads() -> Iterator[WorkThreads]:
    """Two calls running, one waiting."""
    threads = WorkThreads(workers=2, queue=1)
    yield threads
    threads.close()


async def begin(threads: WorkThreads, work: Work, calls: int) -> list[asyncio.Task[str]]:
    tasks = [asyncio.create_task(threads.run(work)) for _ in range(calls)]
    await asyncio.sleep(0)
    return tasks


async def is_full(threads: WorkThreads) -> bool:
    try:
        await threads.run(lambda: None)
    except Unavailable:
        return True
    return False


async def test_full_queue_refuses_the_next_task_at_once(threads: WorkThreads, work: Work) -> None:
    tasks = await begin(threads, work, 3)

    for _ in range(20):
        with pytest.raises(Unavailable):
            await threads.run(work)
    await work.has_started()
    await work.has_started()
    work.go.set()

    assert await asyncio.gather(*tasks) == ["done"] * 3
    assert (work.begun, work.most) == (3, 2)
    assert not await is_full(threads)


async def test_queue_places_are_released_after_each_task(threads: WorkThreads) -> None:
    for _ in range(50):
        assert await asyncio.gather(*[threads.run(lambda: 1) for _ in range(3)]) == [1, 1, 1]


async def test_queue_place_of_a_cancelled_caller_is_kept_during_its_work(
    threads: WorkThreads, work: Work
) -> None:
    tasks = await begin(threads, work, 3)
    await work.has_started()
    await work.has_started()
    for task in tasks[:2]:
        task.cancel()
    await asyncio.wait(tasks[:2], timeout=60)

    assert all(task.cancelled() for task in tasks[:2])
    assert await is_full(threads)
    work.go.set()
    assert await tasks[2] == "done"
    assert work.most == 2


async def test_waiting_work_of_a_cancelled_caller_is_dropped(
    threads: WorkThreads, work: Work
) -> None:
    tasks = await begin(threads, work, 3)
    await work.has_started()
    await work.has_started()
    tasks[2].cancel()
    await asyncio.wait([tasks[2]], timeout=60)

    (successor,) = await begin(threads, work, 1)
    assert await is_full(threads)
    work.go.set()

    assert await asyncio.gather(*tasks[:2], successor) == ["done"] * 3
    assert work.begun == 3


async def test_exception_of_the_work_is_raised_and_frees_its_thread(
    threads: WorkThreads,
) -> None:
    def fail() -> None:
        raise LookupError("lost")

    for _ in range(5):
        with pytest.raises(LookupError, match="lost"):
            await threads.run(fail)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads have no priority")
async def test_work_does_not_block_the_event_loop(threads: WorkThreads) -> None:
    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, 0)

    before = niceness()

    assert await threads.run(niceness) == min(before + 10, 19)
    assert niceness() == before


async def test_closed_queue_refuses_new_work_and_finishes_accepted_work(
    threads: WorkThreads, work: Work
) -> None:
    tasks = await begin(threads, work, 3)
    await work.has_started()

    begun = time.monotonic()
    threads.close()
    threads.close()

    assert time.monotonic() - begun < 5
    with pytest.raises(Unavailable):
        await threads.run(work)
    work.go.set()
    assert await asyncio.gather(*tasks) == ["done"] * 3
    for _ in range(5):
        with pytest.raises(Unavailable, match="is stopping"):
            await threads.run(work)


async def test_result_without_waiting_work_is_delivered_at_once(
    threads: WorkThreads, work: Work
) -> None:
    (slow,) = await begin(threads, work, 1)
    await work.has_started()

    # One is still running, but no caller waits for a thread.
    assert await asyncio.wait_for(threads.run(lambda: "quick"), 60) == "quick"
    assert not slow.done()
    work.go.set()
    assert await slow == "done"


async def test_results_are_delivered_to_the_loops_of_their_callers(work: Work) -> None:
    threads = WorkThreads(workers=1, queue=3)
    elsewhere = asyncio.create_task(
        asyncio.to_thread(asyncio.run, asyncio.wait_for(threads.run(work), 60))
    )
    await work.has_started()
    here = await begin(threads, work, 2)
    work.go.set()

    assert await asyncio.gather(elsewhere, *here) == ["done"] * 3
    threads.close()


async def test_cancelled_work_releases_its_place_in_each_queue(
    threads: WorkThreads, work: Work
) -> None:
    for rank in range(3):
        busy = [asyncio.create_task(threads.run(work, rank)) for _ in range(3)]
        await asyncio.sleep(0)
        for task in busy[2:]:
            task.cancel()
        await asyncio.gather(*busy[2:], return_exceptions=True)
        busy.append(asyncio.create_task(threads.run(work, rank)))
        await asyncio.sleep(0)
        work.go.set()
        assert list(await asyncio.gather(busy[0], busy[1], busy[3])) == ["done"] * 3
        work.go.clear()


@pytest.mark.parametrize("full", [0, 1, 2])
async def test_full_queue_of_one_rank_keeps_the_others_open(
    threads: WorkThreads, work: Work, full: int
) -> None:
    tasks = [asyncio.create_task(threads.run(work, full)) for _ in range(3)]
    await asyncio.sleep(0)

    with pytest.raises(Unavailable):
        await threads.run(work, full)
    tasks += [asyncio.create_task(threads.run(work, rank)) for rank in {0, 1, 2} - {full}]
    await asyncio.sleep(0)
    assert not any(task.done() for task in tasks)
    work.go.set()
    assert await asyncio.gather(*tasks) == ["done"] * 5


async def test_lower_rank_is_taken_before_work_that_waits_longer(work: Work) -> None:
    threads, order = WorkThreads(workers=1, queue=9), list[int]()
    running = await begin(threads, work, 1)
    await work.has_started()
    waiting = [
        asyncio.create_task(threads.run(lambda rank=rank: order.append(rank), rank))  # type: ignore[misc]
        for rank in (2, 2, 1, 0, 1, 0)
    ]
    await asyncio.sleep(0)
    work.go.set()

    await asyncio.gather(*running, *waiting)
    assert order == [0, 0, 1, 1, 2, 2]
    threads.close()


async def test_work_that_waited_too_long_is_refused_when_its_turn_comes(work: Work) -> None:
    threads = WorkThreads(workers=1, queue=1)
    (long,) = await begin(threads, work, 1)
    late = asyncio.create_task(threads.run(work, patience=0.05))
    await work.has_started()
    await asyncio.sleep(0.1)
    work.go.set()

    with pytest.raises(Unavailable):
        await late
    assert (await long, work.begun) == ("done", 1)
    assert await threads.run(lambda: "next", patience=60) == "next"
    threads.close()
