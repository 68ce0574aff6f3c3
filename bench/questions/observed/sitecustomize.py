"""Loaded by every process of the service that ``bench.questions.phone_logins`` starts.

Appends a line for each hash to a file of its process in the folder ``BENCH_HASHES``: when the hash
was queued, begun and finished, and when its caller received the result. All processes use the same
clock.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from phoneprov_adapters.security.credentials import WorkThreads

T = TypeVar("T")

_run = WorkThreads.run


async def _observed(
    self: WorkThreads, work: Callable[[], T], rank: int = 0, patience: float = float("inf")
) -> T:
    times = [time.perf_counter()]

    def timed() -> T:
        times.append(time.perf_counter())
        try:
            return work()
        finally:
            times.append(time.perf_counter())

    try:
        return await _run(self, timed, rank, patience)
    finally:
        times.append(time.perf_counter())
        with Path(os.environ["BENCH_HASHES"], str(os.getpid())).open("a") as file:  # noqa: ASYNC230
            file.write(" ".join(f"{one:.6f}" for one in times) + "\n")


if "BENCH_HASHES" in os.environ:
    WorkThreads.run = _observed  # type: ignore[method-assign]
