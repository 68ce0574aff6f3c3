"""The contract of ``BatchStore``: storing and reading."""

from typing import Any

import msgspec
import pytest

from phoneprov_core.features.batches.commands import WantedPhones
from phoneprov_core.features.batches.model import (
    Batch,
    BatchAction,
    BatchPhone,
    BatchState,
    Counts,
    PhoneState,
)
from phoneprov_core.features.batches.ports import (
    BatchItem,
    BatchLease,
    Claim,
    FirstPhones,
    PlannedVariant,
    claimed,
    ended,
)
from phoneprov_core.features.batches.results import halt, put_back
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.switching.deployments.model import Confirmation
from support.phone_records import CNF_XML, a_batch, a_deployment, a_profile, a_revision
from support.records import a_mac, a_user, identifier, moment
from support.store_tests import DatabaseTests, existing

NOW = moment(50)


class BatchTests(DatabaseTests):
    """Arrangements of batches."""

    async def add_batch(self, batch: Batch, phones: int) -> None:
        """Store a batch with the phones of the numbers from 1."""
        items = [
            BatchItem(batch.uuid, n, a_mac(n), identifier(10_000 + n)) for n in range(1, phones + 1)
        ]
        async with self.database.write() as tx:
            await tx.batches.add(batch)
            await tx.batches.add_phones(items)

    async def find_batch(self, number: int) -> Batch | None:
        """The batch of this number, or None."""
        return await self.read(lambda tx: tx.batches.find(identifier(number)))

    async def batch_phones(self, number: int = 1) -> list[BatchPhone]:
        """Every phone of a batch."""
        return await self.read(
            lambda tx: tx.batches.phones(identifier(number), WantedPhones()).rows(1000)
        )

    async def take(self, holder: str = "me", seconds: int = 60) -> BatchLease:
        """Acquire a batch; there must be a free one."""
        return existing(await self.take_if_any(holder, seconds))

    async def take_if_any(self, holder: str = "me", seconds: int = 60) -> BatchLease | None:
        """Acquire a batch, or None if none is free."""
        return await self.write(lambda tx: tx.batches.take(holder, seconds))

    async def claim(self, hold: BatchLease, most: int) -> list[Claim]:
        """Extend the lease of a batch and claim phones, as a worker does."""
        async with self.database.write() as tx:
            if await tx.batches.keep(hold, 60) is None:
                return []
            return await tx.batches.claim(hold, most, claimed(hold, NOW))

    async def end(self, claim: Claim, state: PhoneState = PhoneState.DONE, **more: Any) -> bool:
        """Record the result of a phone; False if the claim is no longer valid."""
        return await self.write(lambda tx: tx.batches.move(claim, ended(state, moment(51), **more)))


class TestBatches(BatchTests):
    """The contract of ``BatchStore``: storing and reading."""

    async def test_batch_is_found_unchanged(self) -> None:
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
            newest=True,
            code="planner_lost_right",
        )
        await self.add_batch(full, 0)
        await self.add_batch(a_batch(2, action=BatchAction.RESTART), 0)

        assert await self.find_batch(1) == full
        assert await self.find_batch(2) == a_batch(2, action=BatchAction.RESTART)
        assert await self.find_batch(3) is None

    async def test_pinned_phones_have_their_profile_and_its_newest_revision(self) -> None:
        """The profile of the phone is that of the item, of the batch, or of its deployment."""
        owner = a_user(1)
        profiles = [a_profile(n, owner.uuid) for n in (1, 2, 3)]
        async with self.database.write() as tx:
            await tx.users.add(owner)
            for number, profile in enumerate(profiles, 1):
                await tx.profiles.add(profile)
                for revision in range(1, number + 1):
                    new = a_revision(number * 10 + revision, profile, number=revision)
                    await tx.revisions.add(new, CNF_XML)
            on_it = a_deployment(1, a_mac(2), number=1, place="x", profile_uuid=profiles[1].uuid)
            await tx.deployments.add(on_it)
        batch, other = a_batch(1), a_batch(2, profile_uuid=profiles[0].uuid)
        items = [
            BatchItem(batch.uuid, 1, a_mac(1), identifier(501), profile_uuid=profiles[2].uuid),
            BatchItem(batch.uuid, 2, a_mac(2), identifier(502)),
            BatchItem(batch.uuid, 3, a_mac(3), identifier(503)),
            BatchItem(other.uuid, 1, a_mac(2), identifier(504)),
        ]
        variants = [
            PlannedVariant(identifier(70), "office", "7945", None, 3),
            PlannedVariant(identifier(71), "Büro", None, "SIP", 1),
        ]
        async with self.database.write() as tx:
            for one in (batch, other):
                await tx.batches.add(one)
            await tx.batches.add_phones(items[:3])
            await tx.batches.add_phones(items[3:])
            await tx.batches.pin(batch, variants, revisions=True)
            await tx.batches.pin(other, [], revisions=False)

        async with self.database.read() as tx:
            first = await tx.batches.items(batch.uuid, 0, 2)
            rest = await tx.batches.items(batch.uuid, 2, 9)
            others = await tx.batches.items(other.uuid, 0, 9)
            kept = [await tx.batches.pinned(one.uuid) for one in (batch, other)]
        assert [(one.planned_profile, one.planned_revision) for one in [*first, *rest]] == [
            (profiles[2].uuid, 3), (profiles[1].uuid, 2), (None, None)
        ]  # fmt: skip
        assert [(one.planned_profile, one.planned_revision) for one in others] == [
            (profiles[0].uuid, None)
        ]
        assert kept == [variants, []]
        assert await self.read(lambda tx: tx.batches.pinned(identifier(9))) == []

    async def test_batch_read_has_the_numbers_of_its_phones(self) -> None:
        await self.add_batch(a_batch(1), 230)
        await self.add_batch(a_batch(2), 2)
        hold = await self.take()
        claims = await self.claim(hold, 3)
        await self.end(claims[0])
        await self.end(claims[1], PhoneState.FAILED)

        counts = Counts(waiting=227, running=1, done=1, failed=1, total=230)
        assert await self.find_batch(1) == a_batch(1, phones=counts)
        async with self.database.read() as tx:
            assert await tx.batches.counts(identifier(1)) == counts
            assert [batch.phones for batch in await tx.batches.rows(10)] == [
                counts,
                Counts(waiting=2, total=2),
            ]

    async def test_batches_are_listed_oldest_first(self) -> None:
        for number in (3, 1, 4, 2):
            await self.add_batch(a_batch(number, user_uuid=identifier(900 + number % 2)), 0)

        async with self.database.read() as tx:
            everything = await tx.batches.rows(10)
            assert [batch.uuid for batch in everything] == [identifier(n) for n in (1, 2, 3, 4)]
            assert await tx.batches.rows(2, after=everything[0], offset=1) == everything[2:]
            assert await tx.batches.rows(10, owner=identifier(901)) == everything[::2]
            assert await tx.batches.rows(10, after=everything[0], owner=identifier(901)) == [
                everything[2]
            ]
            assert await tx.batches.count() == 4
            assert await tx.batches.count(identifier(900)) == 2

    async def test_newest_batches_are_paged_by_key(self) -> None:
        for number in (3, 1, 2):
            await self.add_batch(a_batch(number, created_at=moment(7)), 0)
        await self.add_batch(a_batch(9, created_at=moment(1)), 2)

        async with self.database.read() as tx:
            first = await tx.batches.newest(2)
            assert [batch.uuid for batch in first] == [identifier(3), identifier(2)]
            rest = await tx.batches.newest(9, before=first[-1])
            assert [batch.uuid for batch in rest] == [identifier(1), identifier(9)]
            assert rest[-1].phones == Counts(waiting=2, total=2)
            assert await tx.batches.newest(9, before=rest[-1]) == []

    async def test_phone_is_in_a_batch_once(self) -> None:
        await self.add_batch(a_batch(1), 1)
        await self.add_batch(a_batch(2), 1)  # the same phone

        with pytest.raises(Conflict):
            await self.write(
                lambda tx: tx.batches.add_phones(
                    [BatchItem(identifier(1), 2, a_mac(1), identifier(700))]
                )
            )
        with pytest.raises(NotFound):
            await self.write(
                lambda tx: tx.batches.add_phones(
                    [BatchItem(identifier(9), 1, a_mac(1), identifier(700))]
                )
            )

    async def test_put_batch_keeps_its_phones_and_its_lease(self) -> None:
        batch = a_batch(1, model="7945", per_minute=3)
        await self.add_batch(batch, 2)
        hold = await self.take()
        changed = msgspec.structs.replace(batch, state=BatchState.STOPPED, message="why")
        async with self.database.write() as tx:
            await tx.batches.put(changed)
            with pytest.raises(NotFound):
                await tx.batches.put(a_batch(2))
            assert await tx.batches.keep(hold, 60) is BatchState.STOPPED
        phones = Counts(waiting=2, total=2)
        assert await self.find_batch(1) == msgspec.structs.replace(changed, phones=phones)
        await self.write(lambda tx: tx.batches.put(msgspec.structs.replace(changed, ended_at=NOW)))
        assert existing(await self.find_batch(1)).ended_at == NOW

    async def test_phones_of_a_batch_are_listed_by_position(self) -> None:
        await self.add_batch(a_batch(1), 5)
        await self.add_batch(a_batch(2), 1)
        hold = await self.take()
        claims = await self.claim(hold, 2)
        await self.end(claims[1], PhoneState.FAILED, message="no", deployment_uuid=identifier(7))

        shown = await self.batch_phones()
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

        async with self.database.read() as tx:
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

    async def test_halted_batch_skips_waiting_phones(self) -> None:
        await self.add_batch(a_batch(1), 3)
        hold = await self.take()
        await self.claim(hold, 1)

        assert await self.write(
            lambda tx: halt(tx.batches, identifier(1), BatchState.STOPPED, "too many")
        )
        async with self.database.write() as tx:
            assert not await halt(tx.batches, identifier(1), BatchState.CANCELLED, None)
            assert not await halt(tx.batches, identifier(2), BatchState.CANCELLED, None)

        assert await self.find_batch(1) == a_batch(
            1,
            state=BatchState.STOPPED,
            message="too many",
            phones=Counts(running=1, left_out=2, total=3),
        )
        assert await self.claim(hold, 3) == []

    async def test_phone_postponed_in_a_halted_batch_is_skipped(self) -> None:
        await self.add_batch(a_batch(1), 1)
        (claim,) = await self.claim(await self.take(), 1)

        await self.write(lambda tx: halt(tx.batches, identifier(1), BatchState.CANCELLED, None))
        assert await self.write(lambda tx: put_back(tx.batches, claim, claim, 0, None))

        assert (await self.batch_phones())[0].state is PhoneState.LEFT_OUT

    async def test_batch_names_the_one_that_undoes_it(self) -> None:
        await self.add_batch(a_batch(1), 1)
        await self.add_batch(a_batch(2, action=BatchAction.UNDO, undo_of=identifier(1)), 1)

        assert existing(await self.find_batch(1)).undone_by == identifier(2)
        listed = await self.read(lambda tx: tx.batches.rows(9))
        assert [batch.undone_by for batch in listed] == [identifier(2), None]
        await self.write(lambda tx: tx.batches.put(listed[0]))
        assert existing(await self.find_batch(1)).undone_by == identifier(2)

    async def test_tried_phones_are_listed_as_claimed_last(self) -> None:
        await self.add_batch(a_batch(1), 6)
        hold = await self.take()
        claims = await self.claim(hold, 4)
        await self.end(claims[0])
        again = claims[1].again(identifier(700))
        await self.write(lambda tx: put_back(tx.batches, claims[1], again, 0, None))

        for number, last in ((1, NOW), (2, None)):
            batch = identifier(number)
            assert await self.read(lambda tx, of=batch: tx.batches.last_start(of)) == last  # type: ignore[misc]
        tried = await self.read(lambda tx: tx.batches.tried(identifier(1), 0, 3))
        assert tried == [claims[0], again, claims[2]]
        assert again.attempts == claims[1].attempt_uuid
        rest = await self.read(lambda tx: tx.batches.tried(identifier(1), 3, 3))
        assert rest == [claims[3]]

    async def test_first_phones_are_grouped_by_state_and_confirmation(self) -> None:
        await self.add_batch(a_batch(1), 12)
        claims = await self.claim(await self.take(), 10)
        watched = {"confirmation": Confirmation.PENDING, "confirmation_by": moment(60)}
        records: dict[int, dict[str, Any]] = {
            2: {"confirmation": Confirmation.CONFIRMED},
            3: {"confirmation": Confirmation.CONFIRMED},
            4: watched,
            5: {**watched, "confirmation_by": moment(40)},
            6: {"confirmation": Confirmation.NOT_CONFIRMED},
            9: {},
        }
        async with self.database.write() as tx:
            for number, fields in records.items():
                fields = {"uuid": claims[number - 1].attempt_uuid, **fields}  # noqa: PLW2901
                await tx.deployments.add(a_deployment(number, a_mac(number), **fields))
            for number in range(2, 8):  # the deployment of number 7 was removed
                uuid, at = claims[number - 1].attempt_uuid, moment(50 + number)
                done = ended(PhoneState.DONE, at, deployment_uuid=uuid)
                await tx.batches.move(claims[number - 1], done)
        await self.end(claims[7])
        await self.end(claims[8], PhoneState.FAILED)

        async with self.database.read() as tx:
            groups = await tx.batches.first_phones(identifier(1), 9, NOW)
            everything = await tx.batches.first_phones(identifier(1), 99, NOW)
            assert await tx.batches.first_phones(identifier(2), 9, NOW) == []

        over, confirmed = PhoneState.DONE, Confirmation.CONFIRMED
        assert sorted(groups, key=lambda group: group.position) == [
            FirstPhones(PhoneState.RUNNING, None, False, 1, None),
            FirstPhones(over, confirmed, False, 2, moment(53)),
            FirstPhones(over, Confirmation.PENDING, False, 4, moment(54)),
            FirstPhones(over, Confirmation.PENDING, True, 5, moment(55)),
            FirstPhones(over, Confirmation.NOT_CONFIRMED, False, 6, moment(56)),
            FirstPhones(over, None, True, 7, moment(57)),
            FirstPhones(over, None, False, 8, moment(51)),
            FirstPhones(PhoneState.FAILED, None, False, 9, moment(51)),
        ]
        assert {group.state for group in everything} - {group.state for group in groups} == {
            PhoneState.WAITING
        }


class TestOpenBatches(BatchTests):
    async def test_open_batches_are_found_by_a_waiting_phone_and_by_a_profile(self) -> None:
        mine, other = a_profile(1).uuid, a_profile(2).uuid
        fields: dict[str, Any] = {"profile_uuid": None, "profile_name": None}
        await self.add_batch(a_batch(1, **fields), 1)
        await self.add_batch(a_batch(2, profile_uuid=mine), 0)
        await self.add_batch(a_batch(3, **fields, ended_at=moment(60)), 1)
        await self.add_batch(a_batch(4, **{**fields, "profile_uuid": other}), 0)
        rows = [
            BatchItem(a_batch(2).uuid, 1, a_mac(7), identifier(801)),
            BatchItem(a_batch(4).uuid, 1, a_mac(8), identifier(802), profile_uuid=mine),
            BatchItem(a_batch(4).uuid, 2, a_mac(1), identifier(803), state=PhoneState.DONE),
        ]
        await self.write(lambda tx: tx.batches.add_phones(rows))

        async def found(macs: list[str], profiles: list[str]) -> list[str]:
            batches = await self.read(lambda tx: tx.batches.open_with(macs, profiles))
            return [one.uuid for one in batches]

        assert await found([a_mac(1)], []) == [a_batch(1).uuid]
        assert await found([], [mine]) == [a_batch(2).uuid, a_batch(4).uuid]
        assert await found([a_mac(9)], [other]) == [a_batch(4).uuid]
        assert await found([], []) == []
