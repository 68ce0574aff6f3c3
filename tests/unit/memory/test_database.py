"""The memory database beyond the contract of stores."""

import asyncio
import gc
import sqlite3
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from support.audited import AuditedDatabase
from support.data_folder import create_database
from support.phone_records import a_phone
from support.records import a_mac, a_user, identifier


async def names(database: MemoryDatabase) -> list[str]:
    async with database.read() as tx:
        return [user.username for user in await tx.users.rows(100)]


async def test_read_transaction_refuses_writes() -> None:
    database = MemoryDatabase()

    async with database.read() as tx:
        with pytest.raises(RuntimeError, match="opened for reading"):
            await tx.phones.add(a_phone(1))

    async with database.read() as tx:
        assert await tx.phones.count() == 0


async def test_leases_use_the_clock_of_the_database() -> None:
    now = [1000]
    database = MemoryDatabase(clock=lambda: now[0])

    async with database.write() as tx:
        assert await tx.leases.take(a_mac(1), "me", 60) == 1
        now[0] += 59_999
        assert await tx.leases.take(a_mac(1), "you", 60) is None
        now[0] += 1
        assert await tx.leases.take(a_mac(1), "you", 60) == 2


async def test_expired_lease_is_not_released() -> None:
    now = [1000]
    database = MemoryDatabase(clock=lambda: now[0])

    async with database.write() as tx:
        fence = await tx.leases.take(a_mac(1), "me", 60)
        assert fence is not None
        now[0] += 60_000
        assert not await tx.leases.release(a_mac(1), "me", fence)


def test_schema_is_that_of_a_file(tmp_path: Path) -> None:
    def schema(connection: sqlite3.Connection) -> set[tuple[object, ...]]:
        query = (
            "SELECT m.name, c.name, c.type, c.[notnull], c.pk FROM sqlite_schema m, "
            "pragma_table_xinfo(m.name) c WHERE m.type = 'table' "
            "UNION SELECT m.tbl_name, m.sql, c.name, c.desc, c.coll FROM sqlite_schema m, "
            "pragma_index_xinfo(m.name) c WHERE m.type = 'index' "
            "UNION SELECT m.name, c.[table], c.[from], c.[to], c.on_delete FROM sqlite_schema m, "
            "pragma_foreign_key_list(m.name) c WHERE m.type = 'table'"
        )
        found = connection.execute(query).fetchall()
        return {row for row in found if row[0] != "alembic_version"}

    memory = MemoryDatabase()
    with closing(sqlite3.connect(create_database(tmp_path))) as file:
        assert schema(memory._sqlite._connection) == schema(file)


def test_several_event_loops_use_it_one_after_the_other() -> None:
    database = MemoryDatabase()

    async def add(number: int) -> None:
        async with database.write() as tx:
            await tx.users.find(identifier(number))
            await tx.users.add(a_user(number))

    async def add_side_by_side(first: int) -> None:
        await asyncio.gather(*(add(number) for number in range(first, first + 5)))

    asyncio.run(add_side_by_side(1))
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, add_side_by_side(6)).result()
    asyncio.run(add_side_by_side(11))

    assert len(asyncio.run(names(database))) == 15


def test_transaction_of_a_loop_that_stopped_is_rolled_back() -> None:
    database = MemoryDatabase()

    async def begin() -> None:
        tx = await anext(transaction)
        await tx.users.add(a_user(1))
        await tx.flush()

    async def add() -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(2))

    async def opened() -> AsyncGenerator[SqlTransaction, None]:
        async with database.write() as tx:
            yield tx

    transaction = opened()
    stopped = asyncio.new_event_loop()
    stopped.run_until_complete(begin())
    assert asyncio.run(names(database)) == []

    asyncio.run(add())

    assert asyncio.run(names(database)) == ["ada-2"]
    stopped.run_until_complete(transaction.aclose())
    stopped.close()
    assert asyncio.run(names(database)) == ["ada-2"]


async def test_forgotten_database_leaves_no_connection_thread_or_file() -> None:
    def files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before, threads = files(), threading.active_count()
    database = MemoryDatabase()
    async with database.write() as tx:
        await tx.users.add(a_user(1))
        await tx.flush()
        assert await names(database) == []
        committed = database._sqlite._committed
    connections = database._sqlite._connection, committed
    assert (files(), threading.active_count()) == (before, threads)
    del database, tx
    gc.collect()

    for connection in connections:
        assert connection is not None
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")


def test_new_database_takes_few_milliseconds() -> None:
    MemoryDatabase()
    began = time.process_time()
    for _ in range(100):
        MemoryDatabase()
    assert time.process_time() - began < 0.5


async def test_change_that_is_not_in_the_trail_is_found() -> None:
    database = AuditedDatabase(clock=lambda: 0)
    async with database.write(by=SYSTEM_ACTOR) as tx:
        await tx.users.add(a_user(1))
        await tx.phones.add(a_phone(1))

    async def change_secretly(change: Callable[[SqlTransaction], Awaitable[object]]) -> None:
        async with database.write(by=SYSTEM_ACTOR) as tx:
            await change(tx)
            tx.trail.records.clear()

    with pytest.raises(AssertionError, match=r"not audited.*phone"):
        await change_secretly(lambda tx: tx.phones.put(a_phone(1, name="another")))
    with pytest.raises(AssertionError, match=r"not audited.*user"):
        await change_secretly(lambda tx: tx.users.add(a_user(2)))
    assert await names(database) == ["ada-1"]
