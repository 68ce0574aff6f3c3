"""Concurrent reads of one row are sent to PostgreSQL together."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import bindparam, select, update

from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.connection import Context
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.postgres_reading import (
    LANES,
    MOST,
    PostgresReadConnection,
    for_many,
)
from phoneprov_adapters.sql.engines.postgres_writing import compiled_for
from phoneprov_adapters.sql.tables.people import users
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.people.auth.model import Principal
from support.kinds import KINDS, Kind, add
from support.records import (
    a_permission,
    a_session,
    a_user,
    an_assignment,
    identifier,
)
from support.stores import DATABASES

NAME = select(users.c.username).where(users.c.uuid == bindparam("key"))
PEOPLE = 5
BOX = SecretBox(SecretKeys.parse("k" * 32))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[PostgresDatabase]:
    async with DATABASES["postgres"](tmp_path) as opened:
        assert isinstance(opened, PostgresDatabase)
        async with opened.write() as tx:
            for number in range(1, PEOPLE + 1):
                await tx.users.add(a_user(number))
        yield opened


class Asking:
    """A session that records its queries; ``gate`` holds them while closed."""

    def __init__(self, database: PostgresDatabase) -> None:
        self.asked: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self._database = database
        self.connection = PostgresReadConnection(Context(BOX), self._ask)

    async def _ask(self, sql: str, parameters: Sequence[Any]) -> Sequence[Any]:
        self.asked.append(sql)
        await self.gate.wait()
        return await self._database.answered(sql, parameters)

    async def name(self, key: str) -> str | None:
        row = await self.connection.fetch_one(NAME, key=key)
        return None if row is None else row[0]

    def begin(self, *numbers: int) -> list[asyncio.Task[str | None]]:
        return [asyncio.create_task(self.name(identifier(number))) for number in numbers]


async def turns(number: int = 5) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_reads_in_one_query_return_each_its_own_rows(database: PostgresDatabase) -> None:
    asking = Asking(database)

    names = await asyncio.gather(*asking.begin(3, 99, 1, 3, 2))

    assert names == ["ada-3", None, "ada-1", "ada-3", "ada-2"]
    assert len(asking.asked) == 1


async def test_single_read_is_sent_unchanged(database: PostgresDatabase) -> None:
    asking = Asking(database)

    assert await asking.name(identifier(4)) == "ada-4"
    assert asking.asked == [compiled_for(NAME).sql]


async def test_queries_above_the_limit_wait(
    database: PostgresDatabase,
) -> None:
    asking = Asking(database)
    asking.gate.clear()
    tasks = []
    for number in range(1, PEOPLE + 1):
        tasks += asking.begin(number)
        await turns()
    assert len(asking.asked) == LANES
    asking.gate.set()

    assert await asyncio.gather(*tasks) == [f"ada-{number}" for number in range(1, PEOPLE + 1)]
    assert len(asking.asked) == LANES + 1


async def test_query_length_is_bounded_for_any_number_of_reads(
    database: PostgresDatabase,
) -> None:
    asking = Asking(database)
    numbers = [1 + number % PEOPLE for number in range(5 * MOST + 1)]

    names = await asyncio.gather(*asking.begin(*numbers))

    assert names == [f"ada-{number}" for number in numbers]
    assert len(asking.asked) == 6


async def test_reads_return_no_state_older_than_their_request(database: PostgresDatabase) -> None:
    asking = Asking(database)
    asking.gate.clear()
    before = asking.begin(1, 2) + asking.begin(3)
    await turns()
    async with database.write() as tx:
        await tx.users.put(a_user(1, username="lovelace"))
    after = asking.begin(1)
    await turns()
    asking.gate.set()

    assert await after[0] == "lovelace"
    await asyncio.gather(*before)


async def test_cancelled_read_does_not_affect_others(database: PostgresDatabase) -> None:
    asking = Asking(database)
    asking.gate.clear()
    first, second, third = asking.begin(1, 2, 3)
    await turns()
    late = asking.begin(4, 5)
    second.cancel()
    late[0].cancel()
    await turns()
    asking.gate.set()

    assert await asyncio.gather(*[first, third, late[1]]) == ["ada-1", "ada-3", "ada-5"]
    assert second.cancelled()
    assert late[0].cancelled()


async def test_query_without_callers_is_not_sent(database: PostgresDatabase) -> None:
    asking = Asking(database)
    tasks = asking.begin(1, 2)
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await turns()

    assert not asking.asked
    assert await asking.name(identifier(1)) == "ada-1"


@pytest.mark.parametrize("bad", ["with a \0 in it", "with a \udce9 in it"])
async def test_failed_read_fails_alone(database: PostgresDatabase, bad: str) -> None:
    asking = Asking(database)
    names = [asking.name(identifier(1)), asking.name(bad), asking.name(identifier(2))]

    results: list[Any] = await asyncio.gather(*names, return_exceptions=True)

    assert results[::2] == ["ada-1", "ada-2"]
    failed = results[1]
    assert isinstance(failed, Exception)
    assert len(asking.asked) <= 5
    # Like a single query.
    with pytest.raises(type(failed)):
        await asking.name(bad)


async def test_unavailable_database_fails_every_read(database: PostgresDatabase) -> None:
    asking = Asking(database)
    await database.close()

    errors = await asyncio.gather(*asking.begin(1, 2, 3), return_exceptions=True)

    assert [type(error) for error in errors] == [Unavailable] * 3
    assert len({id(error) for error in errors}) == 3
    # No query was sent for each of them alone.
    assert len(asking.asked) == 1


async def test_connection_lost_during_isolation_fails_all_reads_at_once(
    database: PostgresDatabase,
) -> None:
    asking = Asking(database)
    asking.gate.clear()
    names = [asking.name("with a \0 in it"), *(asking.name(identifier(1)) for _ in range(63))]
    tasks = [asyncio.create_task(name) for name in names]
    await turns()
    answered = database.answered

    async def gone(sql: str, parameters: Sequence[Any]) -> Sequence[Any]:
        if len(asking.asked) > 1:
            raise Unavailable("The database does not answer; try again.")
        return await answered(sql, parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "answered", gone)
        asking.gate.set()
        errors = await asyncio.gather(*tasks, return_exceptions=True)

    assert {type(error) for error in errors} == {Unavailable}
    assert len(asking.asked) == 2


async def test_failed_query_fails_waiting_reads(database: PostgresDatabase) -> None:
    asking = Asking(database)
    asking.gate.clear()
    tasks = []
    for number in range(1, LANES + 3):
        tasks += asking.begin(number)
        await turns()
    await database.close()
    asking.gate.set()

    errors = await asyncio.gather(*tasks, return_exceptions=True)

    assert [type(error) for error in errors] == [Unavailable] * len(tasks)
    assert len(asking.asked) == LANES
    assert len({id(error) for error in errors}) == len(tasks)


async def test_read_after_a_failed_query_is_sent(database: PostgresDatabase) -> None:
    asking = Asking(database)
    await database.close()
    with pytest.raises(Unavailable):
        await asking.name(identifier(1))
    await database.open()

    assert await asyncio.gather(*asking.begin(1, 2)) == ["ada-1", "ada-2"]


@pytest.mark.parametrize(
    "statement",
    [
        select(users.c.uuid),
        select(users.c.uuid).where(users.c.is_active == bindparam("active")),
        select(users.c.uuid).where(users.c.uuid == bindparam("key")).limit(bindparam("limit")),
        update(users).where(users.c.uuid == bindparam("key")).values(lang="en"),
    ],
)
def test_reads_that_cannot_be_combined_are_sent_alone(statement: Any) -> None:
    assert for_many(statement) is None


@pytest.mark.parametrize("kind", KINDS, ids=repr)
async def test_combined_reads_return_the_same_as_single_reads(
    database: PostgresDatabase, kind: Kind
) -> None:
    records = [kind.make(number) for number in (13, 11, 99, 12)]
    present = {identifier(number) for number in range(1, PEOPLE + 1)}
    others = [one for one in kind.others if getattr(one, "uuid", None) not in present]
    await add(database, *others, *records[:2], records[3])
    keys = [kind.key_of(record) for record in records]

    async with database.read() as tx:
        alone = [await kind.store(tx).find(key) for key in keys]
        together = await asyncio.gather(*(kind.store(tx).find(key) for key in keys))

    assert together == alone
    assert [found is None for found in alone] == [False, False, True, False]


async def test_reads_of_different_callers_are_separate(database: PostgresDatabase) -> None:
    async with database.write() as tx:
        for number in range(1, PEOPLE + 1):
            await tx.permissions.add(a_permission(number, level=number))
            await tx.users.set_password_hash(identifier(number), f"hash {number}")
            if number != 2:
                assigned = an_assignment(identifier(number), identifier(number), number)
                await tx.assignments.assign(assigned)
            if number != 4:
                await tx.sessions.start(a_session(number, identifier(number)))

    people = range(1, PEOPLE + 1)
    async with database.read() as tx:
        principals = await asyncio.gather(
            *(tx.sessions.principal(identifier(number), 2000) for number in people)
        )
        passwords = await asyncio.gather(
            *(tx.users.with_password(f"ADA-{number}") for number in people)
        )

    assert principals == [
        None
        if number == 4
        else Principal(identifier(number), None if number == 2 else number, f"ada-{number}")
        for number in people
    ]
    assert passwords == [(a_user(number), f"hash {number}") for number in people]
