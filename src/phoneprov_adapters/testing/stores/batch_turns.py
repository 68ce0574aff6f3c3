"""The contract of ``Batches``: leases of batches and claims of phones."""

from __future__ import annotations

import asyncio

import msgspec
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
    take_if_any,
)
from phoneprov_adapters.testing.records import identifier, moment
from phoneprov_core.batches.changes import halt, put_back
from phoneprov_core.batches.model import BatchState, Counts, PhoneState
from phoneprov_core.batches.transitions import Hold, final
from phoneprov_core.stores import Database


async def _any_free(database: Database) -> bool:
    async with database.read() as tx:
        return await tx.batches.any_free()


async def _keep(database: Database, hold: Hold, seconds: int = 60) -> BatchState | None:
    async with database.write() as tx:
        return await tx.batches.keep(hold, seconds)


async def _finish(database: Database, hold: Hold) -> bool:
    async with database.write() as tx:
        state = await tx.batches.state(hold.batch_uuid)
        assert state is not None
        return await tx.batches.finish(hold, final(state), NOW)


@pytest.mark.asyncio
class BatchTurnsContract:
    """The contract of ``Batches``: leases of batches and claims of phones."""

    async def test_batch_has_one_holder(self, database: Database) -> None:
        assert not await _any_free(database)
        assert await take_if_any(database) is None
        await add_batch(database, a_batch(1), 1)
        assert await _any_free(database)

        assert await take(database) == Hold(identifier(1), "me", 1)

        assert not await _any_free(database)
        assert await take_if_any(database, "you") is None

    async def test_batch_one_of_racing_processes_takes_it(self, database: Database) -> None:
        for number in (1, 2, 3):
            await add_batch(database, a_batch(number), 1)

        async def until_none_is_left(holder: str) -> list[str]:
            taken = []
            while await _any_free(database):
                if hold := await take_if_any(database, holder):
                    taken.append(hold.batch_uuid)
            return taken

        holders = [f"holder {n}" for n in range(10)]
        taken = await asyncio.gather(*(until_none_is_left(holder) for holder in holders))

        assert sorted(uuid for uuids in taken for uuid in uuids) == [
            identifier(number) for number in (1, 2, 3)
        ]

    async def test_hold_expired_is_lost(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 2)
        mine = await take(database, seconds=0)
        yours = await take(database, "you")

        assert yours == Hold(identifier(1), "you", 2)
        assert await _keep(database, mine) is None
        assert not await _finish(database, mine)
        async with database.write() as tx:
            await tx.batches.release(mine)
        assert await _keep(database, yours) is BatchState.RUNNING

    async def test_hold_kept_for_zero_seconds_is_free(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 1)
        mine = await take(database, seconds=60)

        assert await _keep(database, mine, 0) is BatchState.RUNNING

        assert await _any_free(database)

    async def test_batch_released_can_be_taken(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 1)
        await add_batch(database, a_batch(2), 1)
        mine = await take(database)
        await take(database)

        async with database.write() as tx:
            await tx.batches.release(mine)
        assert await take(database) == Hold(identifier(1), "me", 2)

        async with database.write() as tx:
            await tx.batches.release_all()
        assert (await take(database)).batch_uuid == identifier(1)
        assert (await take(database)).batch_uuid == identifier(2)

    async def test_phones_are_taken_by_position(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 5)
        hold = await take(database)

        first, second = await claim(database, hold, 2)

        assert (first.position, second.position) == (1, 2)
        assert (first.attempt_uuid, first.fence, first.cut_off) == (identifier(10_001), 1, 0)
        assert [turn.position for turn in await claim(database, hold, 9)] == [3, 4, 5]
        assert await claim(database, hold, 9) == []

    async def test_phone_postponed_is_next_after_the_others(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 3)
        hold = await take(database)
        first, second = await claim(database, hold, 2)
        again = msgspec.structs.replace(
            second, attempt_uuid=identifier(77), cut_off=1, waiting_since=NOW
        )

        async with database.write() as tx:
            assert await put_back(tx.batches, first, first, 60, "busy")
            assert await put_back(tx.batches, second, again, 0, "cut off")
            assert not await put_back(tx.batches, second, again, 0, "cut off")

        shown = await batch_phones(database)
        assert [(phone.state, phone.message) for phone in shown[:2]] == [
            (PhoneState.WAITING, "busy"),
            (PhoneState.WAITING, "cut off"),
        ]
        third = await claim(database, hold, 1)
        assert [turn.position for turn in third] == [3]
        assert await claim(database, hold, 9) == [again]
        assert (await batch_phones(database))[1].tries == 2
        assert (await batch_phones(database))[1].message is None
        assert await claim(database, hold, 9) == []  # The first is not due yet.

    async def test_turn_ends_once_under_its_own_hold(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 2)
        hold = await take(database, seconds=60)
        first, second = await claim(database, hold, 2)

        assert await end(database, first)
        assert not await end(database, first, PhoneState.FAILED)
        assert not await end(database, msgspec.structs.replace(second, fence=2))
        assert [phone.state for phone in await batch_phones(database)] == [
            PhoneState.DONE,
            PhoneState.RUNNING,
        ]

    async def test_turns_of_an_earlier_holder_are_found(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 4)
        earlier = await take(database)
        turns = await claim(database, earlier, 3)
        await end(database, turns[0])
        async with database.write() as tx:
            assert await tx.batches.abandoned(earlier, 9) == []
            await tx.batches.release(earlier)
        later = await take(database)
        await claim(database, later, 1)

        async with database.write() as tx:
            assert await tx.batches.abandoned(later, 9) == turns[1:]
            assert await tx.batches.abandoned(later, 1) == turns[1:2]

    async def test_batch_without_pending_or_running_phones_is_done(
        self, database: Database
    ) -> None:
        await add_batch(database, a_batch(1), 2)
        hold = await take(database)
        assert not await _finish(database, hold)
        first, second = await claim(database, hold, 2)
        await end(database, first)
        assert not await _finish(database, hold)
        await end(database, second, PhoneState.FAILED)

        assert await _finish(database, hold)

        assert not await _finish(database, hold)
        assert not await _any_free(database)
        assert await find_batch(database, 1) == a_batch(
            1, state=BatchState.DONE, ended_at=NOW, phones=Counts(done=1, failed=1, total=2)
        )

    async def test_halted_batch_keeps_its_state_when_it_ends(self, database: Database) -> None:
        await add_batch(database, a_batch(1), 2)
        hold = await take(database)
        async with database.write() as tx:
            await halt(tx.batches, identifier(1), BatchState.CANCELLED, None)

        assert await _keep(database, hold) is BatchState.CANCELLED
        assert await _finish(database, hold)

        ended = await find_batch(database, 1)
        assert ended is not None
        assert (ended.state, ended.ended_at) == (BatchState.CANCELLED, moment(50))
        assert await _keep(database, hold) is None
