"""The contract of ``BatchStore``: leases of batches and claims of phones."""

import asyncio

import msgspec

from contract.stores.test_batches import NOW, BatchTests
from phoneprov_core.features.batches.model import BatchState, Counts, PhoneState
from phoneprov_core.features.batches.ports import BatchLease
from phoneprov_core.features.batches.results import halt, put_back
from support.phone_records import a_batch
from support.records import identifier, moment
from support.store_tests import existing
from support.stores import process_of


class TestBatchTurns(BatchTests):
    """The contract of ``BatchStore``: leases of batches and claims of phones."""

    async def _any_free(self) -> bool:
        return await self.read(lambda tx: tx.batches.any_free())

    async def _keep(self, hold: BatchLease, seconds: int = 60) -> BatchState | None:
        return await self.write(lambda tx: tx.batches.keep(hold, seconds))

    async def _finish(self, hold: BatchLease) -> bool:
        async with self.database.write() as tx:
            if await tx.batches.keep(hold, 60) is None:
                return False
            finished = existing(await tx.batches.find(hold.batch_uuid)).finished(NOW)
            if finished is not None:
                await tx.batches.put(finished)
            return finished is not None

    async def test_batch_has_one_holder(self) -> None:
        assert not await self._any_free()
        assert await self.take_if_any() is None
        await self.add_batch(a_batch(1), 1)
        assert await self._any_free()

        assert await self.take() == BatchLease(identifier(1), "me", 1)

        assert not await self._any_free()
        assert await self.take_if_any("you") is None

    async def test_batch_one_of_racing_processes_takes_it(self) -> None:
        for number in (1, 2, 3):
            await self.add_batch(a_batch(number), 1)

        async def until_none_is_left(holder: str) -> list[str]:
            taken = []
            while await self._any_free():
                if hold := await self.take_if_any(holder):
                    taken.append(hold.batch_uuid)
            return taken

        holders = [f"holder {n}" for n in range(10)]
        taken = await asyncio.gather(*(until_none_is_left(holder) for holder in holders))

        assert sorted(uuid for uuids in taken for uuid in uuids) == [
            identifier(number) for number in (1, 2, 3)
        ]

    async def test_hold_expired_is_lost(self) -> None:
        await self.add_batch(a_batch(1), 2)
        mine = await self.take(seconds=0)
        yours = await self.take("you")

        assert yours == BatchLease(identifier(1), "you", 2)
        assert await self._keep(mine) is None
        assert not await self._finish(mine)
        await self.write(lambda tx: tx.batches.release(mine))
        assert await self._keep(yours) is BatchState.RUNNING
        assert not await self._any_free()
        assert await self._keep(yours, 0) is BatchState.RUNNING
        assert await self._any_free()

    async def test_batch_released_can_be_taken(self) -> None:
        await self.add_batch(a_batch(1), 1)
        await self.add_batch(a_batch(2), 1)
        mine = await self.take()
        await self.take()

        await self.write(lambda tx: tx.batches.release(mine))
        assert await self.take() == BatchLease(identifier(1), "me", 2)

        await self.write(lambda tx: tx.batches.release_of(identifier(9)))
        assert not await self._any_free()
        await self.write(lambda tx: tx.batches.release_of(process_of(self.database)))
        assert (await self.take()).batch_uuid == identifier(1)
        assert (await self.take()).batch_uuid == identifier(2)

    async def test_phones_are_taken_by_position(self) -> None:
        await self.add_batch(a_batch(1), 5)
        hold = await self.take()

        first, second = await self.claim(hold, 2)

        assert (first.position, second.position) == (1, 2)
        assert (first.attempt_uuid, first.fence, first.cut_off) == (identifier(10_001), 1, 0)
        assert [claim.position for claim in await self.claim(hold, 9)] == [3, 4, 5]
        assert await self.claim(hold, 9) == []

    async def test_phone_postponed_is_next_after_the_others(self) -> None:
        await self.add_batch(a_batch(1), 3)
        hold = await self.take()
        first, second = await self.claim(hold, 2)
        again = msgspec.structs.replace(
            second, attempt_uuid=identifier(77), cut_off=1, waiting_since=NOW
        )

        async with self.database.write() as tx:
            assert await put_back(tx.batches, first, first, 60, "busy")
            assert await put_back(tx.batches, second, again, 0, "cut off")
            assert not await put_back(tx.batches, second, again, 0, "cut off")

        shown = await self.batch_phones()
        assert [(phone.state, phone.message) for phone in shown[:2]] == [
            (PhoneState.WAITING, "busy"),
            (PhoneState.WAITING, "cut off"),
        ]
        third = await self.claim(hold, 1)
        assert [claim.position for claim in third] == [3]
        assert await self.claim(hold, 9) == [again]
        assert (await self.batch_phones())[1].tries == 2
        assert (await self.batch_phones())[1].message is None
        assert await self.claim(hold, 9) == []  # The first is not due yet.

    async def test_turn_ends_once_under_its_own_hold(self) -> None:
        await self.add_batch(a_batch(1), 2)
        hold = await self.take(seconds=60)
        first, second = await self.claim(hold, 2)

        assert await self.end(first)
        assert not await self.end(first, PhoneState.FAILED)
        assert not await self.end(msgspec.structs.replace(second, fence=2))
        assert [phone.state for phone in await self.batch_phones()] == [
            PhoneState.DONE,
            PhoneState.RUNNING,
        ]

    async def test_turns_of_an_earlier_holder_are_found(self) -> None:
        await self.add_batch(a_batch(1), 4)
        earlier = await self.take()
        claims = await self.claim(earlier, 3)
        await self.end(claims[0])
        async with self.database.write() as tx:
            assert await tx.batches.abandoned(earlier, 9) == []
            await tx.batches.release(earlier)
        later = await self.take()
        await self.claim(later, 1)

        async with self.database.write() as tx:
            assert await tx.batches.abandoned(later, 9) == claims[1:]
            assert await tx.batches.abandoned(later, 1) == claims[1:2]

    async def test_batch_without_pending_or_running_phones_is_done(self) -> None:
        await self.add_batch(a_batch(1), 2)
        hold = await self.take()
        assert not await self._finish(hold)
        first, second = await self.claim(hold, 2)
        await self.end(first)
        assert not await self._finish(hold)
        await self.end(second, PhoneState.FAILED)

        assert await self._finish(hold)

        assert not await self._finish(hold)
        assert not await self._any_free()
        assert await self.find_batch(1) == a_batch(
            1, state=BatchState.DONE, ended_at=NOW, phones=Counts(done=1, failed=1, total=2)
        )

    async def test_halted_batch_keeps_its_state_when_it_ends(self) -> None:
        await self.add_batch(a_batch(1), 2)
        hold = await self.take()
        await self.write(lambda tx: halt(tx.batches, identifier(1), BatchState.CANCELLED, None))

        assert await self._keep(hold) is BatchState.CANCELLED
        assert await self._finish(hold)

        ended = existing(await self.find_batch(1))
        assert (ended.state, ended.ended_at) == (BatchState.CANCELLED, moment(50))
        assert await self._keep(hold) is None
