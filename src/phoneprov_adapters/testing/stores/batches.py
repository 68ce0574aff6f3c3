"""The contract of ``Batches``: storing and reading."""

from __future__ import annotations

from typing import Any

import pytest

from phoneprov_adapters.testing.batches import (
    NOW,
    a_batch,
    add_batch,
    batch_phones,
    claim,
    end,
    find_batch,
    take,
)
from phoneprov_adapters.testing.records import a_mac, identifier, moment
from phoneprov_core.batches.changes import halt, put_back
from phoneprov_core.batches.commands import WantedPhones
from phoneprov_core.batches.model import BatchAction, BatchPhone, BatchState, Counts, PhoneState
from phoneprov_core.batches.transitions import BatchItem
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.stores import Database


@pytest.mark.asyncio
class BatchesContract:
    """The contract of ``Batches``: storing and reading."""

    async def test_batch_is_found_unchanged(self, database: Database) -> None:
        full = a_batch(
            1,
            profile_uuid=identifier(800),
            profile_name="Ada",
            revision=3,
            model="7945",
            location="2nd floor",
            software_type="SCCP",
            per_minute=30,
            stop_after_failures=None,
            message="why",
            ended_at=NOW,
            state=BatchState.CANCELLED,
        )
        await add_batch(database, full, 0)
        await add_batch(database, a_batch(2, action=BatchAction.RESTART), 0)

        assert await find_batch(database, 1) == full
        assert await find_batch(database, 2) == a_batch(2, action=BatchAction.RESTART)
        assert await find_batch(database, 3) is None

    async def test_batch_read_has_the_numbers_of_its_phones(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 230)
        await add_batch(database, a_batch(2), 2)
        hold = await take(database)
        turns = await claim(database, hold, 3)
        await end(database, turns[0])
        await end(database, turns[1], PhoneState.FAILED)

        counts = Counts(waiting=227, running=1, done=1, failed=1, total=230)
        assert await find_batch(database, 1) == a_batch(1, phones=counts)
        async with database.read() as tx:
            assert await tx.batches.counts(identifier(1)) == counts
            assert [batch.phones for batch in await tx.batches.rows(10)] == [
                counts,
                Counts(waiting=2, total=2),
            ]

    async def test_batches_are_listed_oldest_first(self, database: Database) -> None:
        for number in (3, 1, 4, 2):
            await add_batch(database, a_batch(number, user_uuid=identifier(900 + number % 2)), 0)

        async with database.read() as tx:
            everything = await tx.batches.rows(10)
            assert [batch.uuid for batch in everything] == [identifier(n) for n in (1, 2, 3, 4)]
            assert await tx.batches.rows(2, after=everything[0], offset=1) == everything[2:]
            assert await tx.batches.rows(10, owner=identifier(901)) == everything[::2]
            assert await tx.batches.rows(10, after=everything[0], owner=identifier(901)) == [
                everything[2]
            ]
            assert await tx.batches.count() == 4
            assert await tx.batches.count(identifier(900)) == 2

    async def test_newest_batches_are_paged_by_key(self, database: Database) -> None:
        for number in (3, 1, 2):
            await add_batch(database, a_batch(number, created_at=moment(7)), 0)
        await add_batch(database, a_batch(9, created_at=moment(1)), 2)

        async with database.read() as tx:
            first = await tx.batches.newest(2)
            assert [batch.uuid for batch in first] == [identifier(3), identifier(2)]
            rest = await tx.batches.newest(9, before=first[-1])
            assert [batch.uuid for batch in rest] == [identifier(1), identifier(9)]
            assert rest[-1].phones == Counts(waiting=2, total=2)
            assert await tx.batches.newest(9, before=rest[-1]) == []

    async def test_phone_is_in_a_batch_once(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 1)
        await add_batch(database, a_batch(2), 1)  # the same phone

        with pytest.raises(Conflict):
            async with database.write() as tx:
                await tx.batches.add_phones(
                    [BatchItem(identifier(1), 2, a_mac(1), identifier(700))]
                )
        with pytest.raises(NotFound):
            async with database.write() as tx:
                await tx.batches.add_phones(
                    [BatchItem(identifier(9), 1, a_mac(1), identifier(700))]
                )

    async def test_phones_of_a_batch_are_listed_by_position(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 5)
        await add_batch(database, a_batch(2), 1)
        hold = await take(database)
        turns = await claim(database, hold, 2)
        await end(
            database, turns[1], PhoneState.FAILED, message="no", deployment_uuid=identifier(7)
        )

        shown = await batch_phones(database)
        assert [(phone.position, phone.mac) for phone in shown] == [
            (number, a_mac(number)) for number in range(1, 6)
        ]
        assert [phone.state for phone in shown] == [
            PhoneState.RUNNING,
            PhoneState.FAILED,
            *[PhoneState.WAITING] * 3,
        ]
        assert (shown[1].message, shown[1].deployment_uuid) == ("no", identifier(7))
        assert (shown[1].tries, shown[1].started_at, shown[1].ended_at) == (1, NOW, moment(51))
        assert (shown[4].tries, shown[4].started_at, shown[4].ended_at) == (0, None, None)

        async with database.read() as tx:
            waiting = tx.batches.phones(identifier(1), WantedPhones(state="waiting"))
            assert await waiting.count() == 3
            assert await waiting.rows(1, offset=1) == [shown[3]]
            assert await waiting.rows(9, after=shown[2]) == shown[3:]
            everything = tx.batches.phones(identifier(1), WantedPhones())
            assert await everything.count() == 5
            assert await everything.rows(2, after=shown[0], offset=1) == shown[2:4]

            async def page(limit: int, **wanted: Any) -> list[BatchPhone]:
                phones = tx.batches.phones(identifier(1), WantedPhones(**wanted))
                return await phones.rows(limit)

            assert await page(2, after=0) == shown[:2]
            assert await page(9, after=2) == shown[2:]
            assert await page(1, after=3, state="waiting") == [shown[3]]
            assert await page(9, after=2**31 - 1, state="waiting") == []

    async def test_halted_batch_skips_waiting_phones(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 3)
        hold = await take(database)
        await claim(database, hold, 1)

        async with database.write() as tx:
            assert await halt(tx.batches, identifier(1), BatchState.STOPPED, "too many")
        async with database.write() as tx:
            assert not await halt(tx.batches, identifier(1), BatchState.CANCELLED, None)
            assert not await halt(tx.batches, identifier(2), BatchState.CANCELLED, None)

        assert await find_batch(database, 1) == a_batch(
            1,
            state=BatchState.STOPPED,
            message="too many",
            phones=Counts(running=1, left_out=2, total=3),
        )
        assert await claim(database, hold, 3) == []

    async def test_phone_postponed_in_a_halted_batch_is_skipped(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 1)
        (turn,) = await claim(database, await take(database), 1)

        async with database.write() as tx:
            await halt(tx.batches, identifier(1), BatchState.CANCELLED, None)
        async with database.write() as tx:
            assert await put_back(tx.batches, turn, turn, 0, None)

        assert (await batch_phones(database))[0].state is PhoneState.LEFT_OUT
