"""Statements of a SQLite transaction without a result are sent to the thread with the next one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, Table, delete

from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.sqlite_thread import SqliteThread
from phoneprov_adapters.testing.phone_records import a_phone
from phoneprov_core.auth.throttle import Attempts
from phoneprov_core.kernel.errors import Unavailable
from support.stores import DATABASES

KEPT = Attempts(failures=2, first_at=1_000, last_at=2_000)
_IN_NO_TABLE = delete(Table("nowhere", MetaData(), Column("number", Integer)))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    async with DATABASES["sqlite"](tmp_path) as opened:
        assert isinstance(opened, SqliteDatabase)
        async with opened.write() as tx:
            for key in ("a", "b"):
                await tx.attempts.begin(key, KEPT)
        yield opened


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of steps of each call of the thread."""
    steps: list[int] = []
    ask = SqliteThread.ask

    def counted(self: SqliteThread, *work: Any) -> Any:
        steps.append(len(work))
        return ask(self, *work)

    monkeypatch.setattr(SqliteThread, "ask", counted)
    return steps


async def left(database: SqliteDatabase) -> set[str]:
    """The accounts with counted guesses."""
    found = set()
    async with database.write() as tx:
        for key in ("a", "b"):
            if not await tx.attempts.begin(key, Attempts()):
                found.add(key)
            else:
                await tx.attempts.clear(key)
    return found


async def test_deferred_statements_take_no_turns(
    database: SqliteDatabase, asked: list[int]
) -> None:
    async with database.write() as tx:
        await tx.attempts.clear("a")
        await tx.attempts.clear("b")
        assert not asked
        await tx.phones.add(a_phone(1))

    # The start of the transaction, both of them, the phone, and its end.
    assert asked == [5]
    assert not await left(database)


async def test_deferred_statements_alone_are_a_transaction(
    database: SqliteDatabase, asked: list[int]
) -> None:
    async with database.write() as tx:
        await tx.attempts.clear("a")

    assert asked == [3]
    assert await left(database) == {"b"}


async def test_later_statements_see_deferred_changes(database: SqliteDatabase) -> None:
    async with database.write() as tx:
        await tx.attempts.keep("a", Attempts(failures=7))
        assert await tx.attempts.of("a") == Attempts(failures=7)
        await tx.attempts.clear("a")
        assert await tx.attempts.begin("a", KEPT)


async def test_error_before_deferred_statements_drops_them(database: SqliteDatabase) -> None:
    async def fail() -> None:
        async with database.write() as tx:
            await tx.attempts.clear("a")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert await left(database) == {"a", "b"}


async def test_error_after_deferred_statements_rolls_them_back(database: SqliteDatabase) -> None:
    async def fail() -> None:
        async with database.write() as tx:
            await tx.attempts.clear("a")
            await tx.phones.add(a_phone(1))
            await tx.attempts.clear("b")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    assert await left(database) == {"a", "b"}


async def test_deferred_statement_failure_is_raised_at_commit_and_rolls_back(
    database: SqliteDatabase,
) -> None:
    async def fail() -> None:
        async with database.write() as tx:
            await tx.attempts.clear("a")
            await tx.attempts._connection.soon(_IN_NO_TABLE)

    with pytest.raises(Unavailable):
        await fail()

    assert await left(database) == {"a", "b"}
    async with database.write() as tx:
        await tx.attempts.clear("a")
    assert await left(database) == {"b"}


async def test_deferred_statements_of_a_group_are_all_executed(
    database: SqliteDatabase,
) -> None:
    keys = [f"key {number}" for number in range(50)]
    async with database.write() as tx:
        for key in keys:
            await tx.attempts.begin(key, KEPT)

    async def clear(key: str, *, fails: bool) -> None:
        async with database.write() as tx:
            await tx.attempts.clear(key)
            if fails:
                raise ZeroDivisionError

    ended = await asyncio.gather(
        *(clear(key, fails=number % 5 == 4) for number, key in enumerate(keys)),
        return_exceptions=True,
    )

    async with database.write() as tx:
        gone = [await tx.attempts.begin(key, Attempts()) for key in keys]
    assert gone == [error is None for error in ended]
    assert gone.count(False) == 10
