"""Writers that wait for each other are committed together; before that each can roll back."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.sqlite_writing import WriteConnection
from phoneprov_core.kernel.errors import Unavailable
from support.phone_records import a_phone
from support.records import a_mac
from support.stores import DATABASES

Tx = Any
Meanwhile = Callable[[Tx], Awaitable[None]]


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    async with DATABASES["sqlite"](tmp_path) as opened:
        assert isinstance(opened, SqliteDatabase)
        yield opened


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Grows with each commit."""
    made: list[None] = []
    commit = WriteConnection.commit

    async def counted(self: WriteConnection) -> None:
        if not self._within:
            made.append(None)
        await commit(self)

    monkeypatch.setattr(WriteConnection, "commit", counted)
    return made


async def nothing(_: Tx) -> None:
    pass


async def write(database: SqliteDatabase, number: int, meanwhile: Meanwhile = nothing) -> None:
    async with database.write() as tx:
        await tx.phones.add(a_phone(number))
        await meanwhile(tx)
    # When the block has ended, its changes are committed.
    assert number in await stored_numbers(database)


async def stored_numbers(database: SqliteDatabase) -> set[int]:
    async with database.read() as tx:
        return {int(phone.mac[-2:], 16) for phone in await tx.phones.rows(1000)}


async def together(database: SqliteDatabase, *followers: Meanwhile) -> list[BaseException | None]:
    """A first writer, number 1, that runs until the others wait; the end of each."""
    waiting = asyncio.Event()

    async def first(_: Tx) -> None:
        await waiting.wait()

    leader = asyncio.create_task(write(database, 1, first))
    await asyncio.sleep(0.01)
    others = [
        asyncio.create_task(write(database, number, meanwhile))
        for number, meanwhile in enumerate(followers, 2)
    ]
    await asyncio.sleep(0)
    waiting.set()
    return await asyncio.gather(leader, *others, return_exceptions=True)


async def test_waiting_writers_are_committed_together(
    database: SqliteDatabase, commits: list[None]
) -> None:
    ended = await together(database, *[nothing] * 9)

    assert ended == [None] * 10
    assert await stored_numbers(database) == set(range(1, 11))
    assert len(commits) == 1


async def test_single_writer_is_committed_at_once(
    database: SqliteDatabase, commits: list[None]
) -> None:
    for number in range(3):
        await write(database, number)

    assert len(commits) == 3


async def test_failed_transaction_is_rolled_back_alone(database: SqliteDatabase) -> None:
    async def fail(_: Tx) -> None:
        raise ZeroDivisionError

    ended = await together(database, nothing, fail, nothing)

    assert [type(error) for error in ended if error] == [ZeroDivisionError]
    assert await stored_numbers(database) == {1, 2, 4}


async def test_cancelled_transaction_is_rolled_back_alone(database: SqliteDatabase) -> None:
    async def cancelled(_: Tx) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    ended = await together(database, nothing, cancelled, nothing)

    assert [type(error) for error in ended if error] == [asyncio.CancelledError]
    assert await stored_numbers(database) == {1, 2, 4}


async def test_failed_commit_rolls_back_the_group_and_fails_every_transaction(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = WriteConnection.commit

    async def full(connection: WriteConnection) -> None:
        if not connection._within:
            raise Unavailable("no room", code="disk_full")
        await commit(connection)

    monkeypatch.setattr(WriteConnection, "commit", full)
    ended = await together(database, nothing, nothing)
    monkeypatch.undo()

    assert [type(error) for error in ended] == [Unavailable] * 3
    assert {getattr(error, "code", None) for error in ended} == {"disk_full"}
    assert await stored_numbers(database) == set()
    await write(database, 9)


async def test_error_that_rolls_back_the_group_fails_every_transaction(
    database: SqliteDatabase, commits: list[None]
) -> None:
    async def roll_back_group(tx: Tx) -> None:
        # As SQLite does without space.
        await tx.users._connection.flush()
        await tx.users._connection._driver.execute_steps([("ROLLBACK", ())])
        raise Unavailable("no room", code="disk_full")

    ended = await together(database, nothing, roll_back_group, nothing)

    assert [type(error) for error in ended] == [Unavailable] * 3 + [type(None)]
    assert {getattr(error, "code", None) for error in ended[:3]} == {"disk_full"}
    assert await stored_numbers(database) == {4}


async def test_cancelled_first_transaction_does_not_block_the_group(
    database: SqliteDatabase,
) -> None:
    waiting = asyncio.Event()

    async def first(_: Tx) -> None:
        await waiting.wait()

    leader = asyncio.create_task(write(database, 1, first))
    await asyncio.sleep(0.01)

    async def second(_: Tx) -> None:
        leader.cancel()

    follower = asyncio.create_task(write(database, 2, second))
    await asyncio.sleep(0)
    waiting.set()
    ended = await asyncio.gather(leader, follower, return_exceptions=True)

    assert [type(error) for error in ended] == [asyncio.CancelledError, type(None)]
    # Its block had ended: the change is kept, although the outcome was reported as unknown.
    assert await stored_numbers(database) == {1, 2}


async def test_cancelled_while_its_changes_join_the_group_keeps_the_group(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = WriteConnection.commit

    async def cancelled(connection: WriteConnection) -> None:
        task = asyncio.current_task()
        if connection._within and task is not None:
            task.cancel()
        await commit(connection)

    monkeypatch.setattr(WriteConnection, "commit", cancelled)
    ended = await together(database, nothing)
    monkeypatch.undo()

    assert [type(error) for error in ended] == [type(None), asyncio.CancelledError]
    await write(database, 9)
    assert await stored_numbers(database) == {1, 2, 9}


async def test_readers_see_committed_changes_only(database: SqliteDatabase) -> None:
    seen: list[set[int]] = []

    async def observe(_: Tx) -> None:
        seen.append(await stored_numbers(database))

    await together(database, observe, observe)

    assert seen == [set(), set()]
    assert await stored_numbers(database) == {1, 2, 3}


async def test_many_writers_over_time_lose_nothing(
    database: SqliteDatabase, commits: list[None]
) -> None:
    await asyncio.gather(*(write(database, number) for number in range(60)))

    assert await stored_numbers(database) == set(range(60))
    assert len(commits) < 30
    async with database.write() as tx:
        assert await tx.leases.take(a_mac(1), "me", 60) == 1


async def test_parameters_of_statements_are_not_logged(
    database: SqliteDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        await write(database, 7)

    assert a_mac(7) not in caplog.text


async def test_transaction_whose_only_statement_waits_rolls_back_alone(
    database: SqliteDatabase,
) -> None:
    async def refused(tx: Tx) -> None:
        assert not tx.phones._connection._is_open
        raise Unavailable("not now")

    ended = await together(database, nothing, refused, nothing)

    assert [type(error) for error in ended if error] == [Unavailable]
    assert await stored_numbers(database) == {1, 2, 4}
