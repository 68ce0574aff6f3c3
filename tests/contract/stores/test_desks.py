"""The contract of ``DeskStore``."""

import asyncio
import contextlib

import msgspec
import pytest

from phoneprov_core.features.desks.model import Desk, ListedDesk, PhoneState
from phoneprov_core.features.desks.records import DeskChanged, DeskRecord, DeskUse, Due, end_uses
from support.phone_records import a_deployment, a_flag, a_phone, a_profile
from support.records import a_mac, a_user, an_extension, identifier, moment
from support.store_tests import DatabaseTests, existing
from support.stores import process_of

PHONE, OTHER_PHONE = a_mac(1), a_mac(2)
ADA, BOB = identifier(31), identifier(32)
PROFILE, DEFAULT = identifier(41), identifier(42)
NOW, LATER = moment(50), moment(60)
CHANGE = identifier(51)
OWN = identifier(61)


class TestDesks(DatabaseTests):
    """The contract of ``DeskStore``."""

    async def the_desk(self, mac: str = PHONE) -> DeskRecord:
        """The record of a phone."""
        return await self.read(lambda tx: tx.desks.find(mac))

    async def store(self, *desks: DeskRecord) -> None:
        async with self.database.write() as tx:
            for desk in desks:
                await tx.desks.put(desk)

    async def test_desk_without_a_row_has_default_values(self) -> None:
        assert await self.the_desk() == DeskRecord(PHONE)
        async with self.database.write() as tx:
            assert await tx.desks.find(PHONE) == DeskRecord(PHONE)
            assert await tx.desks.find(PHONE) == DeskRecord(PHONE)
            assert not await tx.desks.remove(PHONE)
            await tx.desks.put(DeskRecord(PHONE).used(DeskUse(ADA), NOW))
            assert await tx.desks.remove(PHONE)
        assert await self.the_desk() == DeskRecord(PHONE)

    async def test_put_desk_is_found_with_every_field(self) -> None:
        desk = DeskRecord(
            PHONE,
            DEFAULT,
            False,
            3,
            ADA,
            PROFILE,
            NOW,
            LATER,
            Due.EXPIRY,
            CHANGE,
            BOB,
            1000,
            BOB,
            OWN,
        )
        await self.store(desk, DeskRecord(OTHER_PHONE, version=1))
        assert await self.the_desk() == desk
        await self.store(desk.settled())
        assert await self.the_desk() == desk.settled()
        assert await self.the_desk(OTHER_PHONE) == DeskRecord(OTHER_PHONE, version=1)

    @pytest.mark.parametrize(
        ("by", "mine"),
        [
            ("default", [DeskRecord(OTHER_PHONE, OWN), DeskRecord(PHONE, OWN, hotdesk=False)]),
            ("extension", [DeskRecord(mac, extension_uuid=OWN) for mac in (OTHER_PHONE, PHONE)]),
            (
                "user",
                [DeskRecord(OTHER_PHONE, user_uuid=OWN), DeskRecord(PHONE).changing(CHANGE, OWN)],
            ),
        ],
    )
    async def test_of_names_the_desks_with_this_value_in_order(
        self, by: str, mine: list[DeskRecord]
    ) -> None:
        fields = ("default_profile_uuid", "extension_uuid", "user_uuid")
        others = [
            msgspec.structs.replace(DeskRecord(a_mac(number)), **{field: OWN})
            for number, field in enumerate(fields, 3)
            if not field.startswith(by)
        ]
        await self.store(*mine, *others)
        for opened in (self.database.read, self.database.write):
            async with opened() as tx:
                assert await tx.desks.of(**{by: OWN}) == mine[::-1]
                assert await tx.desks.of(**{by: identifier(99)}) == []

    async def test_unused_names_the_desks_whose_phones_have_a_profile_of_this_owner(self) -> None:
        owners = [(ADA, PROFILE), (ADA, DEFAULT), (BOB, PROFILE), (ADA, PROFILE)]
        for number, (owner, profile) in enumerate(owners, 1):
            made = {"number": 1, "place": "p", "owner_uuid": owner, "profile_uuid": profile}
            await self.add(a_deployment(number, a_mac(number), **made))
        # The fourth one is used, the second one of Bob is not the current deployment.
        desks = [DeskRecord(a_mac(number)) for number in range(1, 4)]
        await self.store(*desks, DeskRecord(a_mac(4), user_uuid=BOB))
        older = {"number": 0, "place": "p", "owner_uuid": BOB, "profile_uuid": DEFAULT}
        await self.add(a_deployment(9, a_mac(1), **older))
        for opened in (self.database.read, self.database.write):
            async with opened() as tx:
                assert await tx.desks.unused(ADA) == desks[:2]
                assert await tx.desks.unused(ADA, PROFILE) == desks[:1]
                assert await tx.desks.unused(BOB, DEFAULT) == []

    @pytest.mark.parametrize("is_new", [True, False])
    async def test_desk_is_held_from_its_find_on(self, is_new: bool) -> None:
        """Of concurrent logins at one version one succeeds, also in the first of a phone."""
        if not is_new:
            await self.store(DeskRecord(PHONE))

        async def take(version: int | None) -> bool:
            with contextlib.suppress(DeskChanged):
                async with self.database.write() as tx:
                    desk = await tx.desks.find(PHONE)
                    await asyncio.sleep(0.01)
                    await tx.desks.put(desk.next_version(version))
                    return True
            return False

        assert sorted(await asyncio.gather(*(take(0) for _ in range(5)))) == [False] * 4 + [True]
        assert not await take(0)
        assert await take(1)
        assert await take(None)
        assert (await self.the_desk()).version == 3

    async def test_desks_of_a_user_are_held(self) -> None:
        await self.store(*(DeskRecord(a_mac(number), user_uuid=ADA) for number in range(1, 4)))

        async def add_turn() -> None:
            async with self.database.write() as tx:
                for desk in await tx.desks.of(user=ADA):
                    await asyncio.sleep(0.005)
                    await tx.desks.put(desk.next_version(None))

        await asyncio.gather(*(add_turn() for _ in range(4)))
        async with self.database.read() as tx:
            assert [desk.version for desk in await tx.desks.of(user=ADA)] == [4] * 3

    async def test_desk_change_is_unsettled_without_the_lease_of_its_deployment(self) -> None:
        changing = DeskRecord(PHONE).changing(CHANGE)
        async with self.database.write() as tx:
            await tx.desks.put(changing)
            await tx.leases.take(PHONE, CHANGE, 60)
            assert await tx.desks.unsettled(NOW, 0, 10) == []
        async with self.database.write() as tx:
            await tx.leases.release_of(process_of(self.database))
            assert await tx.desks.unsettled(NOW, 0, 10) == [changing]
            await tx.desks.put(msgspec.structs.replace(changing, not_before=1000))
            assert await tx.desks.unsettled(NOW, 999, 10) == []
            assert len(await tx.desks.unsettled(NOW, 1000, 10)) == 1
            await tx.desks.put(changing.settled())
            assert await tx.desks.unsettled(NOW, 1000, 10) == []

    async def test_desks_with_a_due_logout_and_those_whose_time_is_over_are_unsettled(self) -> None:
        due = [DeskRecord(a_mac(number), due=Due.LOGOUT) for number in range(4, 0, -1)]
        over = DeskRecord(a_mac(5), user_uuid=ADA, until=NOW)
        used = DeskRecord(a_mac(6), user_uuid=ADA, until=LATER)
        await self.store(*due, over, used, DeskRecord(a_mac(7), user_uuid=ADA))
        async with self.database.read() as tx:
            assert await tx.desks.unsettled(NOW, 0, 3) == due[:0:-1]
            assert await tx.desks.unsettled(NOW, 0, 10) == [*due[::-1], over]

    async def test_uses_of_a_user_end_besides_one(self) -> None:
        await self.store(
            *(DeskRecord(a_mac(n)).used(DeskUse(ADA), NOW) for n in range(1, 4)),
            DeskRecord(a_mac(4)).changing(CHANGE, ADA),
            DeskRecord(a_mac(5)).used(DeskUse(BOB), NOW),
        )
        await self.write(lambda tx: end_uses(tx, ADA, besides=PHONE))
        async with self.database.read() as tx:
            assert [one.mac for one in await tx.desks.of(user=ADA)] == [PHONE, a_mac(4)]
            assert await tx.desks.find(OTHER_PHONE) == DeskRecord(
                OTHER_PHONE, version=2, due=Due.LOGOUT, left_user_uuid=ADA
            )
            assert (await tx.desks.find(a_mac(5))).user_uuid == BOB

    async def test_at_contains_desk_phone_and_user(self) -> None:
        async with self.database.write() as tx:
            await tx.users.add(a_user(31))
            await tx.phones.add(a_phone(1))
            await tx.phones.add(a_phone(2))
            await tx.vendor_phones.save(a_flag(1, vendor=False))
            await tx.desks.put(DeskRecord(PHONE).used(DeskUse(ADA, PROFILE), NOW))
            await tx.desks.put(DeskRecord(OTHER_PHONE).used(DeskUse(BOB, PROFILE), NOW))

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
            await tx.profiles.add(a_profile(42, ADA, name="Lobby"))
            await tx.extensions.add(an_extension(51, uuid=OWN, extension="101"))
            for number in (3, 1, 2):
                await tx.phones.add(a_phone(number))
            configured = DeskRecord(a_mac(2), identifier(42), hotdesk=False, extension_uuid=OWN)
            await tx.desks.put(configured.used(DeskUse(ADA, identifier(41), LATER), NOW))
            await tx.desks.put(DeskRecord(a_mac(3)).used(DeskUse(BOB, identifier(99)), NOW))
            await tx.desks.put(DeskRecord(a_mac(9)).used(DeskUse(ADA), NOW))

        used = Desk(a_mac(2), identifier(42), False, OWN, ADA, "ada-31", identifier(41), NOW, LATER)
        free = [Desk(a_mac(n), None, True, None, None, None, None, None, None) for n in (1, 3)]
        listed = [
            ListedDesk(a_phone(n).created_at, a_mac(n), desk, *named)
            for n, desk, *named in (
                (1, free[0]),
                (2, used, "101", "ada-31", "Lobby"),
                (3, free[1]),
            )
        ]
        async with self.database.read() as tx:
            desks = tx.listed_desks
            assert await desks.rows(10) == listed
            assert await desks.count() == 3
            assert await desks.rows(1, after=listed[0]) == listed[1:2]
            assert await desks.rows(2, offset=2) == listed[2:]
            assert await desks.rows(10, owner=ADA) == listed[1:2]
            assert await desks.count(ADA) == 1
            some = await desks.of([a_mac(3), a_mac(2), a_mac(9)])
            assert some == {a_mac(2): listed[1], a_mac(3): listed[2]}
            assert await desks.of([]) == {}
        await self.put(a_phone(3, location="K\u00f6ln"))
        listed[2] = msgspec.structs.replace(listed[2], location="K\u00f6ln")
        async with self.database.read() as tx:
            for places, found in ((("K\u00f6ln", "x"), listed[1:]), ((), listed[1:2])):
                at = tx.listed_desks.at(places)
                assert await at.rows(10, owner=ADA) == found
                assert await at.count(ADA) == len(found)
