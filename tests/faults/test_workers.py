"""Worker processes that are killed, and a supervisor that is."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.served import Served
from races.workers import workers_of
from support.scale import note, rounds, spread


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A service with two processes."""
    service = Served(tmp_path, workers=2)
    yield service
    service.kill()


async def test_a_killed_worker_is_replaced_while_others_serve_on(served: Served) -> None:
    times, away = rounds(1, 20), []
    await asyncio.to_thread(served.start)
    token = await served.token()
    answered = 0
    for turn in range(times):
        async with served.lines(1) as lines:
            victim, other = served.pids[turn % 2], lines[1 - turn % 2]
            began = time.monotonic()
            os.kill(victim, signal.SIGKILL)
            while victim in (pids := workers_of(served.pid)) or len(pids) < 2:
                # Who is connected to the other notices nothing; nor does who comes anew.
                assert (await other.ask("GET", "/me", token=token)).status == 200
                async with served.line() as line:
                    assert (await line.ask("GET", "/me", token=token)).status == 200
                answered += 2
                assert time.monotonic() - began < 30
        async with served.lines(1):  # each process answers again
            away.append(time.monotonic() - began)
    served.tell(signal.SIGTERM)
    assert (await served.ended(30))[0] == 0
    note(
        f"worker killed {times} times: {answered} requests answered meanwhile, all; two processes "
        f"serve again after {spread(away)}"
    )


async def test_workers_leave_with_their_supervisor(served: Served) -> None:
    await asyncio.to_thread(served.start)
    async with served.lines(1) as lines:
        pids = served.pids
        os.kill(served.pid, signal.SIGKILL)
        await served.ended(5)
        # Requests that were accepted are finished also now.
        for line in lines:
            assert (await line.ask("GET", "/nothing")).status == 404
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    await asyncio.to_thread(served.start)  # the port is free
    async with served.line() as line:
        assert (await line.ask("GET", "/nothing")).status == 404
