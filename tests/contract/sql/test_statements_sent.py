"""The number of messages of a change to PostgreSQL."""

import asyncio
import contextlib
import random
from functools import partialmethod
from typing import Any

import asyncpg
import pytest

from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.postgres_reading import SIZE
from phoneprov_core.kernel.actor import Actor, Event
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.people.audit import WantedEntries
from phoneprov_core.people.auth.model import Exchange
from phoneprov_core.people.auth.sessions import exchange
from support.phone_records import a_phone
from support.records import a_session, a_user, identifier

ADA = Actor("00000000-0000-4000-8000-000000000001", 0, "10.0.0.1", username="ada")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first word of each statement that is sent."""
    words: list[str] = []
    for name in ("fetch", "execute", "executemany"):

        def counted(self: Any, sql: str, *parameters: Any, call: Any, **options: Any) -> Any:
            words.append(sql.split(maxsplit=1)[0])
            return call(self, sql, *parameters, **options)

        call = getattr(asyncpg.Connection, name)
        monkeypatch.setattr(asyncpg.Connection, name, partialmethod(counted, call=call))
    return words


async def actions(database: PostgresDatabase) -> list[str]:
    async with database.read() as tx:
        return [one.entry.action for one in await tx.audit.newest(WantedEntries(), 10)]


async def test_record_and_audit_entry_are_one_statement(
    database: PostgresDatabase, sent: list[str]
) -> None:
    async with database.write(by=ADA) as tx:
        await tx.phones.add(a_phone(1))

    assert sent == ["WITH"]
    assert await actions(database) == ["phone.created"]


async def test_conflict_writes_no_entry_and_keeps_the_connection_usable(
    database: PostgresDatabase, sent: list[str]
) -> None:
    async with database.write(by=ADA) as tx:
        await tx.phones.add(a_phone(1))
    with pytest.raises(Conflict):
        async with database.write(by=ADA) as tx:
            await tx.phones.add(a_phone(1))

    assert sent == ["WITH", "WITH"]
    assert await actions(database) == ["phone.created"]


async def test_two_changes_are_a_transaction(database: PostgresDatabase, sent: list[str]) -> None:
    async with database.write(by=ADA) as tx:
        await tx.phones.add(a_phone(1))
        await tx.phones.add(a_phone(2))

    assert sent == ["BEGIN", "INSERT", "INSERT", "INSERT", "COMMIT"]


async def test_refresh_token_exchange_is_one_statement(
    database: PostgresDatabase, sent: list[str]
) -> None:
    async with database.write() as tx:
        await tx.users.add(a_user(1))
        await tx.sessions.start(a_session(1, identifier(1)))
    sent.clear()

    async with database.write(by=ADA) as tx:
        done = await exchange(
            tx.sessions, identifier(1), "t1", "t2", now=2000, expires_at=8000, grace=0
        )

        again = await exchange(
            tx.sessions, identifier(1), "t2", "t3", now=2000, expires_at=8000, grace=0
        )

    assert done is again is Exchange.DONE
    assert sent == ["WITH", "WITH"]


async def test_single_event_is_one_statement(database: PostgresDatabase, sent: list[str]) -> None:
    async with database.write(by=ADA) as tx:
        tx.trail.note(Event("session.reused", "user", ADA.user_uuid))

    assert sent == ["WITH"]


async def test_empty_transaction_sends_nothing(database: PostgresDatabase, sent: list[str]) -> None:
    async with database.write(by=ADA):
        pass
    with contextlib.suppress(ZeroDivisionError):
        async with database.write(by=ADA) as tx:
            await tx.users.add(a_user(1))
            raise ZeroDivisionError

    assert not sent


async def test_cancelled_statement_is_executed_completely_or_not_at_all(
    database: PostgresDatabase,
) -> None:
    chance = random.Random(7)

    async def create(number: int) -> None:
        async with database.write(by=ADA) as tx:
            await tx.phones.add(a_phone(number))

    tasks = [asyncio.create_task(create(number)) for number in range(1, 101)]
    for task in tasks:
        await asyncio.sleep(chance.random() / 500)
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    async with database.read() as tx:
        phones = {phone.mac for phone in await tx.phones.rows(200)}
        entries = {one.entry.resource_id for one in await tx.audit.newest(WantedEntries(), 200)}
    assert phones == entries
    # No connection is lost, and none is in a transaction.
    await asyncio.gather(*(create(number) for number in range(101, 101 + 2 * SIZE)))
