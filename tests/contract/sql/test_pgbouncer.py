"""A pgbouncer in transaction mode: any transaction may get any connection."""

import asyncio
import random
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import func, select

from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.revisions import LOCK_REVISION, newest
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.kernel.errors import Unavailable
from support import pgbouncer, postgres
from support.postgres_databases import database_at
from support.records import a_user, identifier

pytestmark = pytest.mark.skipif(
    pgbouncer.binary() is None and not pgbouncer.REQUIRED, reason=pgbouncer.MISSING
)


@pytest.fixture
async def through(url: str) -> AsyncIterator[PostgresDatabase]:
    """The database through pgbouncer."""
    opened = database_at(pgbouncer.url(url))
    await opened.open()
    yield opened
    await opened.close()


async def test_pgbouncer_schema_is_migrated() -> None:
    async with postgres.new_database(migrated=False) as direct:
        url = pgbouncer.url(direct)
        assert await migrate.current(url) is None
        await migrate.upgrade(url)
        assert await migrate.current(url) == newest()
        assert await migrate.current(direct) == newest()


async def test_pgbouncer_many_clients_share_few_connections(
    through: PostgresDatabase, url: str
) -> None:
    """More clients than pgbouncer has connections, as of several processes."""
    other = database_at(pgbouncer.url(url))
    await other.open()
    async with through.write() as tx:
        await tx.users.add(a_user(0, phone="0"))

    async def count_up(database: PostgresDatabase) -> None:
        async with database.write() as tx:
            user = await tx.users.find(identifier(0))
            assert user is not None
            await tx.users.put(a_user(0, phone=str(int(user.phone or "") + 1)))

    async def read_user(database: PostgresDatabase) -> None:
        async with database.read() as tx:
            assert await tx.users.by_username("ada-0") is not None
            assert await tx.users.count() == 1
            assert len(await tx.users.rows(10)) == 1

    both = (through, other)
    await asyncio.gather(*(ask(both[n % 2]) for n in range(60) for ask in (count_up, read_user)))

    async with other.read() as tx:
        assert await tx.users.find(identifier(0)) == a_user(0, phone="60")
    await other.close()


async def test_pgbouncer_locks_hold_across_processes(through: PostgresDatabase, url: str) -> None:
    other = database_at(pgbouncer.url(url))
    await other.open()
    inside: list[str] = []

    async def enter(database: PostgresDatabase, name: str) -> None:
        async with database.write() as tx:
            await tx.users._connection.fetch_one(LOCK_REVISION)
            inside.append(name)
            await asyncio.sleep(0.005)
            inside.append(name)

    await asyncio.gather(*(enter(d, f"{n}") for n, d in enumerate((through, other) * 5)))

    assert inside[::2] == inside[1::2]
    await other.close()


async def test_pgbouncer_deadlines_apply_to_one_transaction_only(
    through: PostgresDatabase, url: str
) -> None:
    setting = select(func.current_setting("statement_timeout"))
    async with through.write() as tx:
        changing = await tx.users._connection.fetch_all(setting)
    async with through.read() as tx:
        reading = [await tx.users._connection.fetch_all(setting) for _ in range(6)]

    assert [tuple(row) for row in changing] == [("4s",)]
    assert [tuple(row) for rows in reading for row in rows] == [("0",)] * 6


async def test_pgbouncer_cancelled_requests_leave_no_transaction_open(
    through: PostgresDatabase, url: str
) -> None:
    chance = random.Random(7)
    async with through.write() as tx:
        await tx.users.add(a_user(0))

    async def request(number: int) -> None:
        async with through.write() as tx:
            await tx.users.find(identifier(0))
            await tx.users.add(a_user(2 * number))
            await tx.users.add(a_user(2 * number + 1))
        async with through.read() as tx:
            await tx.users.count()

    requests = [asyncio.create_task(request(n)) for n in range(1, 100)]
    for task in requests:
        await asyncio.sleep(chance.random() / 500)
        task.cancel()
    await asyncio.gather(*requests, return_exceptions=True)

    async with through.write() as tx:
        assert await tx.users.remove(identifier(0))
    users = {row[0] for row in await postgres.ask(url, "SELECT uuid FROM users")}
    pairs = [{identifier(2 * n), identifier(2 * n + 1)} for n in range(1, 100)]
    assert all(pair <= users or not pair & users for pair in pairs)
    states = await postgres.ask(
        url, "SELECT state FROM pg_stat_activity WHERE datname = current_database()"
    )
    assert "idle in transaction" not in {state for (state,) in states}


async def test_pgbouncer_without_the_option_is_named_in_the_error(url: str) -> None:
    without = pgbouncer.url(url).replace("&pgbouncer=true", "")

    with pytest.raises(Unavailable, match="pgbouncer=true"):
        await database_at(without).open()
