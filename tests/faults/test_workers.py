"""Killed worker processes, and a killed supervisor."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.served import Served
from races.wire import HALF, REST, SECONDS
from races.workers import owner_of, workers_of
from support.polling import until
from support.scale import note, rounds, spread


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A service with two processes."""
    service = Served(tmp_path, workers=2)
    yield service
    service.kill()


async def test_killed_worker_is_replaced_and_workers_end_with_their_supervisor(
    served: Served,
) -> None:
    await asyncio.to_thread(served.start)
    await check_killed_worker_is_replaced(served)
    await check_workers_end_with_supervisor(served)


async def check_killed_worker_is_replaced(served: Served) -> None:
    times, away = rounds(1, 20), []
    token = await served.token()
    answered = 0
    for turn in range(times):
        async with served.lines(1) as lines:
            other = lines[turn % 2]
            (victim,) = {*served.pids} - {await owner_of(other, served.pids, served.port)}
            began = time.monotonic()
            os.kill(victim, signal.SIGKILL)
            replaced = asyncio.create_task(wait_until_each_worker_answers(served, victim))
            while not replaced.done():
                # Clients of the other worker notice nothing; neither do new clients.
                assert (await other.ask("GET", "/me", token=token)).status == 200
                async with served.line() as line:
                    assert (await line.ask("GET", "/me", token=token)).status == 200
                answered += 2
            await replaced
        away.append(time.monotonic() - began)
    note(
        f"worker killed {times} times: {answered} requests answered meanwhile, all; two processes "
        f"serve again after {spread(away)}"
    )


async def wait_until_each_worker_answers(served: Served, victim: int) -> None:
    await until(lambda: victim not in (pids := workers_of(served.pid)) and len(pids) >= 2, SECONDS)
    async with served.lines(1):
        pass


async def check_workers_end_with_supervisor(served: Served) -> None:
    async with served.lines(1) as lines:
        pids = served.pids
        for line in lines:
            line.write(HALF)
        await asyncio.sleep(0.5)  # read by the workers
        os.kill(served.pid, signal.SIGKILL)
        await served.ended(SECONDS)
        # Accepted requests are finished.
        for line in lines:
            line.write(REST)
            assert (await line.reply()).status == 404
    await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), SECONDS)
    # The port is free for the next start.
    socket.create_server(("127.0.0.1", served.port)).close()
