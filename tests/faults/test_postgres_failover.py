"""Failover with two real servers and synchronous streaming replication.

``PHONEPROV_TESTS=long`` tries every failure of a primary, and measures.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.revisions import Timelines
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.kernel.errors import Unavailable
from support.polling import until
from support.postgres import ask
from support.postgres_databases import database_at
from support.records import a_user, identifier
from support.replication import Pair, refusing_host
from support.scale import LONG, note, rounds

_PROMISED_SECONDS = 5.0
_DATABASE = "office"


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.close()


class Writer:
    """Adds users one after the other, and records the uuids of acknowledged ones."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self.acknowledged: list[tuple[str, float]] = []
        self._number = 0

    async def write(self) -> bool:
        """Add the next user; whether it was acknowledged."""
        self._number += 1
        try:
            async with self._database.write() as tx:
                await tx.users.add(a_user(self._number))
        except Unavailable:
            return False
        self.acknowledged.append((identifier(self._number), time.monotonic()))
        return True

    async def run(self) -> None:
        """Write until cancelled."""
        while True:
            await self.write()
            await asyncio.sleep(0.01)

    async def until_acknowledged_after(self, moment: float) -> float:
        """The seconds from a moment to the first write that was acknowledged after it."""
        await until(lambda: self.acknowledged and self.acknowledged[-1][1] >= moment, 60)
        return next(at for _, at in self.acknowledged if at >= moment) - moment


@asynccontextmanager
async def fails(pair: Pair, how: str) -> AsyncIterator[None]:
    """Let the primary fail in this way."""
    folder: Path = pair.primary.folder
    async with AsyncExitStack() as stack:
        if how == "silent":
            pair.primary.pause()
        else:
            pair.primary.stop("QUIT")
            states = {"recovering": "57P03", "full": "53300", "read only": "25006"}
            if how in states:
                await stack.enter_async_context(refusing_host(folder, states[how]))
            elif how == "black hole":
                await stack.enter_async_context(refusing_host(folder, None))
        yield


@pytest.mark.parametrize(
    "how",
    rounds(["silent"], ["silent", "killed", "black hole", "recovering", "full", "read only"]),
)
async def test_failover_first_write_is_answered_and_none_is_lost(
    pair: Pair, how: str, tmp_path: Path
) -> None:
    await pair.primary.run(f"CREATE DATABASE {_DATABASE}")
    url = pair.url(_DATABASE)
    await migrate.upgrade(url)
    await pair.synchronize()
    timelines = tmp_path / "timelines.json"
    database = database_at(url, timelines=Timelines(timelines))
    await database.open()
    writer = Writer(database)
    writing = asyncio.create_task(writer.run())
    try:
        await writer.until_acknowledged_after(time.monotonic())

        async with fails(pair, how):
            await pair.promote()
            seconds = await writer.until_acknowledged_after(time.monotonic())
            note(f"failover, primary {how}: first write {seconds:.2f} s after the promotion")
            if LONG:
                assert seconds < _PROMISED_SECONDS
            assert await migrate.current(url) is not None

        if how == "silent":
            await _check_old_primary_is_refused(pair, writer, url, timelines)
    finally:
        writing.cancel()
        await asyncio.wait([writing])
        await database.close()

    kept = {row[0] for row in await ask(pair.standby.url(_DATABASE), "SELECT uuid FROM users")}
    assert {uuid for uuid, _ in writer.acknowledged} <= kept


async def _check_old_primary_is_refused(
    pair: Pair, writer: Writer, url: str, timelines: Path
) -> None:
    """The old primary returns, named first, and accepts changes: the split brain."""
    pair.primary.resume()
    await pair.primary.run("ALTER SYSTEM SET synchronous_standby_names = ''")
    await pair.primary.run("SELECT pg_reload_conf()")
    await writer.until_acknowledged_after(time.monotonic())
    # A process that starts now knows it only from the file.
    started = database_at(url, timelines=Timelines(timelines))
    await started.open()
    async with started.write() as tx:
        await tx.users.add(a_user(999_999))
    await started.close()
    found = await ask(
        pair.standby.url(_DATABASE), "SELECT 1 FROM users WHERE uuid = $1", identifier(999_999)
    )
    assert found
