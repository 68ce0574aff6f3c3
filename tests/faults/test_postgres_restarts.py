"""PostgreSQL crashes, restarts or becomes silent under the service."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import asyncpg
import pytest

from faults.ledger import Writer
from faults.served import Served
from faults.test_crashes import HALF_THERE, writers_for
from races.wire import Line
from support.postgres import Server, new_database
from support.scale import SEED, note, random_choices, rounds, spread

BACK_SECONDS = 5.0
"""Maximum seconds between the return of the database and the first success."""
LONGEST_SECONDS = 12.0
"""Maximum seconds of a request, in any state of the database."""


@pytest.fixture(scope="module")
def careful() -> Iterator[Server]:
    """A server with full durability."""
    server = Server("fsync=on", "full_page_writes=on")
    yield server
    server.close()


@pytest.fixture
def served(careful: Server, tmp_path: Path) -> Iterator[Served]:
    """A service with two processes and a database of that server, not yet started."""
    with asyncio.Runner() as runner:
        database = new_database(careful)
        url = runner.run(database.__aenter__())
        service = Served(tmp_path, url, workers=2)
        yield service
        service.kill()
        runner.run(database.__aexit__(None, None, None))


class Watch:
    """Reads continuously, and records each response and its time."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._token = token
        self.good: list[float] = []
        self.refused: list[float] = []
        self.slowest = 0.0

    async def read_once(self) -> None:
        line = await Line.open(self._port)
        try:
            while True:
                began = time.monotonic()
                reply = await line.ask("GET", "/me", token=self._token)
                now = time.monotonic()
                self.slowest = max(self.slowest, now - began)
                assert reply.status in {200, 503}, reply
                if reply.status == 503:
                    assert reply.envelope["success"] is False
                    assert reply.envelope["message"]
                (self.good if reply.status == 200 else self.refused).append(now)
                await asyncio.sleep(0.02)
        finally:
            await line.close()


@asynccontextmanager
async def at_work(served: Served, writers: list[Writer], token: str) -> AsyncIterator[Watch]:
    """All writers write, and a ``Watch`` reads, during the block."""
    goes_on = True
    watch = Watch(served.port, token)
    working = [
        asyncio.create_task(writer.write(served.port, token, lambda: goes_on)) for writer in writers
    ]
    watching = asyncio.create_task(watch.read_once())
    try:
        yield watch
    finally:
        goes_on = False
        watching.cancel()
        results = await asyncio.gather(*working, watching, return_exceptions=True)
        errors = [result for result in results if isinstance(result, Exception)]
        assert not errors, errors


def crash(server: Server) -> Callable[[], None]:
    server.stop("QUIT")
    return server.start


def restart(server: Server) -> Callable[[], None]:
    server.stop("INT")
    return server.start


def kill_backend(server: Server) -> Callable[[], None]:
    """The server handles it as a crash, ends all other processes and recovers by itself."""
    os.kill(backends(server)[-1], signal.SIGKILL)
    return lambda: asyncio.run(wait_until_it_accepts_connections(server))


async def wait_until_it_accepts_connections(server: Server) -> None:
    async with asyncio.timeout(30):
        while True:
            with suppress(OSError, asyncpg.PostgresError):
                await server.run("SELECT 1")
                return
            await asyncio.sleep(0.005)


def stop_answering(server: Server) -> Callable[[], None]:
    """The server is silent, and no connection ends."""
    pids = [postmaster(server), *backends(server)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)

    def resume() -> None:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)

    return resume


def postmaster(server: Server) -> int:
    return int((server.folder / "data" / "postmaster.pid").read_text().split()[0])


def backends(server: Server) -> list[int]:
    pid = postmaster(server)
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


FAULTS = {crash: 0.5, restart: 0.5, kill_backend: 0.0, stop_answering: 6.5}
"""The faults, and their minimum seconds."""


async def test_postgres_restart_fails_requests_and_recovers(
    served: Served, careful: Server
) -> None:
    await asyncio.to_thread(served.start)
    token = await served.token()
    async with served.direct() as direct:
        root = await direct.account(level=0, username="root")
    async with served.lines(1):
        pids = served.pids
    writers = writers_for(root.uuid, "root", "postgres")
    chance = random_choices("postgres")
    happens = rounds([crash, stop_answering], [*FAULTS] * 5)
    back: dict[str, list[float]] = {}
    slowest = 0.0
    for fault in happens:
        async with at_work(served, writers, token) as watch:
            await asyncio.sleep(chance.uniform(0.3, 0.8))
            come_back = await asyncio.to_thread(fault, careful)
            await asyncio.sleep(FAULTS[fault] + chance.uniform(0, 0.5))
            await asyncio.to_thread(come_back)
            began = time.monotonic()
            while not (watch.good and watch.good[-1] > began):
                assert time.monotonic() - began < 30, served.log_text()
                await asyncio.sleep(0.01)
            back.setdefault(fault.__name__, []).append(watch.good[-1] - began)
            await asyncio.sleep(0.3)
        assert watch.refused or fault is kill_backend
        slowest = max([slowest, watch.slowest, *(writer.slowest for writer in writers)])
        async with served.line() as line:
            for writer in writers:
                assert await writer.check(line, token) == [], f"seed {SEED}"
        await check_database(served.database_url)
    assert served.pids == pids, "a process of ours ended"
    assert max(map(max, back.values())) < BACK_SECONDS
    assert slowest < LONGEST_SECONDS
    assert "Traceback" not in served.log_text()
    kept, lost = sum(w.acknowledged for w in writers), sum(w.unknown for w in writers)
    note(
        f"PostgreSQL away {len(happens)} times: {kept} answered writes, all kept;"
        f" {sum(w.refused for w in writers)} refused with 503, {lost} without an answer; slowest"
        f" request {slowest:.1f} s"
    )
    for fault_name, seconds in back.items():
        note(f"PostgreSQL, {fault_name}: first success {spread(seconds)} after its return")


TABLES_BROKEN = """
SELECT relname, broken.* FROM pg_class, verify_heapam(pg_class.oid, check_toast => true) AS broken
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""
INDEXES_LOOKED_AT = """
SELECT count(bt_index_parent_check(indexrelid, heapallindexed => true)::text)
FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
WHERE relnamespace = 'public'::regnamespace
"""
"""Raises an error for an index that is damaged or lacks rows of its table."""


async def check_database(url: str) -> None:
    """No change is stored in part, and every table and index is consistent."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        await connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
        assert await connection.fetch(TABLES_BROKEN) == []
        assert await connection.fetchval(INDEXES_LOOKED_AT) > 20
        for what, count in HALF_THERE.items():
            assert await connection.fetchval(count) == 0, what
    finally:
        await connection.close()
