"""The contract of ``DeskStore``."""

import asyncio

from phoneprov_adapters.testing.phone_records import a_flag, a_phone, a_profile
from phoneprov_adapters.testing.records import a_mac, a_user, identifier, moment
from phoneprov_adapters.testing.stores.base import DatabaseTests, existing
from phoneprov_core.deployments.ports import DeskUse
from phoneprov_core.desks.model import Desk, DeskRecord, Due, ListedDesk, PhoneState

PHONE, OTHER_PHONE = a_mac(1), a_mac(2)
ADA, BOB = identifier(31), identifier(32)
PROFILE, DEFAULT = identifier(41), identifier(42)
NOW, LATER = moment(50), moment(60)
CHANGE = identifier(51)


class DesksContract(DatabaseTests):
    """The contract of ``DeskStore``."""

    async def the_desk(self, mac: str = PHONE) -> DeskRecord:
        """The record of a phone."""
        async with self.database.read() as tx:
            return await tx.desks.find(mac)

    async def test_desk_without_a_row_has_default_values(self) -> None:
        assert await self.the_desk() == DeskRecord(PHONE)
        async with self.database.write() as tx:
            assert await tx.desks.find(PHONE) == DeskRecord(PHONE)
            assert await tx.desks.default_profile(PHONE) is None
            assert not await tx.desks.release(PHONE, Due.LOGOUT)
            assert not await tx.desks.take_turn(PHONE, 5)
            await tx.desks.settle(PHONE)
            await tx.desks.postpone(PHONE, 1)
            await tx.desks.end_change(PHONE, CHANGE)
            assert not await tx.desks.remove(PHONE)

    async def test_use_says_who_uses_the_phone_and_begins_a_turn(self) -> None:
        async with self.database.write() as tx:
            await tx.desks.use(PHONE, DeskUse(ADA, PROFILE, LATER), NOW)
            await tx.desks.use(OTHER_PHONE, DeskUse(ADA, PROFILE), NOW)
        ada = await self.the_desk()
        assert ada == DeskRecord(
            PHONE, turn=1, user_uuid=ADA, profile_uuid=PROFILE, since=NOW, until=LATER
        )
        async with self.database.write() as tx:
            await tx.desks.use(PHONE, DeskUse(BOB, DEFAULT), LATER)
            await tx.desks.use(OTHER_PHONE, DeskUse(), LATER)
        assert await self.the_desk() == DeskRecord(
            PHONE, turn=2, user_uuid=BOB, profile_uuid=DEFAULT, since=LATER
        )
        assert await self.the_desk(OTHER_PHONE) == DeskRecord(OTHER_PHONE, turn=2)

    async def test_configure_leaves_the_use_alone(self) -> None:
        async with self.database.write() as tx:
            await tx.desks.configure(OTHER_PHONE, None, hotdesk=False)
            await tx.desks.use(PHONE, DeskUse(ADA), NOW)
            await tx.desks.configure(PHONE, DEFAULT, hotdesk=False)
            assert await tx.desks.default_profile(PHONE) == DEFAULT
            await tx.desks.use(PHONE, DeskUse(), NOW)

        assert await self.the_desk() == DeskRecord(PHONE, DEFAULT, hotdesk=False, turn=2)
        assert await self.the_desk(OTHER_PHONE) == DeskRecord(OTHER_PHONE, hotdesk=False)

    async def test_phone_of_a_batch_is_taken_once(self) -> None:
        async def take(turn: int | None) -> bool:
            async with self.database.write() as tx:
                return await tx.desks.take_turn(PHONE, turn)

        assert sorted(await asyncio.gather(*(take(0) for _ in range(5)))) == [False] * 4 + [True]
        assert not await take(0)
        assert await take(1)
        assert await take(None)
        assert (await self.the_desk()).turn == 3

    async def test_desk_change_is_recorded_until_it_ends(self) -> None:
        async with self.database.write() as tx:
            await tx.desks.begin_change(PHONE, CHANGE, ADA)
            assert await tx.desks.is_elsewhere(ADA, OTHER_PHONE)
            assert not await tx.desks.is_elsewhere(ADA, PHONE)
            await tx.desks.end_change(PHONE, identifier(99))
        assert (await self.the_desk()).change_uuid == CHANGE
        async with self.database.write() as tx:
            await tx.desks.end_change(PHONE, CHANGE)
            assert not await tx.desks.is_elsewhere(ADA, OTHER_PHONE)
        assert await self.the_desk() == DeskRecord(PHONE)

    async def test_desk_change_is_unsettled_without_the_lease_of_its_deployment(self) -> None:
        async with self.database.write() as tx:
            await tx.desks.begin_change(PHONE, CHANGE, None)
            await tx.leases.take(PHONE, CHANGE, 60)
            assert await tx.desks.unsettled(NOW, 0, 10) == []
        async with self.database.write() as tx:
            await tx.leases.release_all()
            assert [one.mac for one in await tx.desks.unsettled(NOW, 0, 10)] == [PHONE]
            await tx.desks.postpone(PHONE, 1000)
            assert await tx.desks.unsettled(NOW, 999, 10) == []
            assert len(await tx.desks.unsettled(NOW, 1000, 10)) == 1
            await tx.desks.settle(PHONE)
            assert await tx.desks.unsettled(NOW, 1000, 10) == []

    async def test_ending_a_use_makes_a_logout_due(self) -> None:
        async with self.database.write() as tx:
            for number in range(1, 4):
                await tx.desks.use(a_mac(number), DeskUse(ADA), NOW)
            await tx.desks.use(a_mac(4), DeskUse(BOB), NOW)
            assert await tx.desks.is_elsewhere(ADA, a_mac(1))
            assert await tx.desks.end_elsewhere(ADA, a_mac(1)) == 2
            assert not await tx.desks.is_elsewhere(ADA, a_mac(1))
            assert await tx.desks.end_user(ADA) == 1
            assert await tx.desks.end_user(ADA) == 0
            assert await tx.desks.release(a_mac(4), Due.EXPIRY)

        async with self.database.read() as tx:
            unsettled = await tx.desks.unsettled(NOW, 0, 3)
            assert unsettled == [
                DeskRecord(a_mac(number), turn=2, due=Due.LOGOUT) for number in range(1, 4)
            ]
            assert (await tx.desks.find(a_mac(4))).due is Due.EXPIRY
        async with self.database.write() as tx:
            await tx.desks.use(a_mac(1), DeskUse(), NOW)
            assert (await tx.desks.find(a_mac(1))).due is None

    async def test_use_of_a_desk_expires(self) -> None:
        async with self.database.write() as tx:
            await tx.desks.use(PHONE, DeskUse(ADA, PROFILE, NOW), moment(1))
            await tx.desks.use(OTHER_PHONE, DeskUse(BOB, None, LATER), moment(1))
            assert [one.mac for one in await tx.desks.unsettled(NOW, 0, 10)] == [PHONE]
            assert await tx.desks.expire(NOW) == 1
            assert await tx.desks.expire(NOW) == 0

        assert await self.the_desk() == DeskRecord(PHONE, turn=2, due=Due.EXPIRY)
        assert (await self.the_desk(OTHER_PHONE)).user_uuid == BOB

    async def test_at_contains_desk_phone_and_user(self) -> None:
        async with self.database.write() as tx:
            await tx.users.add(a_user(31))
            await tx.phones.add(a_phone(1))
            await tx.phones.add(a_phone(2))
            await tx.vendor_phones.save(a_flag(1, vendor=False))
            await tx.desks.use(PHONE, DeskUse(ADA, PROFILE), NOW)
            await tx.desks.use(OTHER_PHONE, DeskUse(BOB, PROFILE), NOW)

        async with self.database.read() as tx:
            desk = await tx.desks.find(PHONE)
            assert await tx.desks.at(PHONE) == PhoneState(a_phone(1), False, desk, a_user(31))
            state = existing(await tx.desks.at(OTHER_PHONE))
            assert (state.vendor, state.user, state.desk.user_uuid) == (None, None, BOB)
            assert await tx.desks.at(a_mac(3)) is None
            assert await tx.desks.at("") is None

    async def test_all_lists_the_desk_of_every_phone(self) -> None:
        async with self.database.write() as tx:
            await tx.users.add(a_user(31))
            await tx.profiles.add(a_profile(41, ADA))
            await tx.profiles.add(a_profile(42, ADA))
            for number in (3, 1, 2):
                await tx.phones.add(a_phone(number))
            await tx.desks.configure(a_mac(2), identifier(42), hotdesk=False)
            await tx.desks.use(a_mac(2), DeskUse(ADA, identifier(41), LATER), NOW)
            await tx.desks.use(a_mac(3), DeskUse(BOB, identifier(99)), NOW)
            await tx.desks.use(a_mac(9), DeskUse(ADA), NOW)

        used = Desk(a_mac(2), identifier(42), False, ADA, "ada-31", identifier(41), NOW, LATER)
        free = [Desk(a_mac(n), None, True, None, None, None, None, None) for n in (1, 3)]
        listed = [
            ListedDesk(a_phone(n).created_at, a_mac(n), desk)
            for n, desk in ((1, free[0]), (2, used), (3, free[1]))
        ]
        async with self.database.read() as tx:
            desks = tx.desks.all
            assert await desks.rows(10) == listed
            assert await desks.count() == 3
            assert await desks.rows(1, after=listed[0]) == listed[1:2]
            assert await desks.rows(2, offset=2) == listed[2:]
            assert await desks.rows(10, owner=ADA) == listed[1:2]
            assert await desks.count(ADA) == 1

    async def test_removed_record_is_not_found(self) -> None:
        async with self.database.write() as tx:
            await tx.desks.use(PHONE, DeskUse(ADA), NOW)
            assert await tx.desks.remove(PHONE)
        assert await self.the_desk() == DeskRecord(PHONE)
