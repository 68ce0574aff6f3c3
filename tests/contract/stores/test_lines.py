"""The contracts of ``LineStore`` and ``LocationStore``."""

import msgspec
import pytest

from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.features.lines.model import Number, PhoneNumbers, UsedPhone
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.people.access import beginnings, location_key
from support.phone_records import a_deployment, a_location, a_phone
from support.records import (
    a_link,
    a_mac,
    a_user,
    an_extension,
    identifier,
    moment,
)
from support.store_tests import DatabaseTests

ADA, BOB, CARLA = identifier(31), identifier(32), identifier(33)
PHONE, OTHER = a_phone(1), a_phone(2)
NOW = moment(50)
DESK = DeskRecord(PHONE.mac, extension_uuid=identifier(204)).used(DeskUse(ADA), NOW)


class TestLines(DatabaseTests):
    """The contract of ``LineStore``."""

    async def arrange(self) -> None:
        await self.add(
            a_user(31),
            a_user(32),
            a_user(33, is_active=False),
            PHONE,
            OTHER,
            *(an_extension(200 + n, extension=f"{n}") for n in range(1, 6)),
            an_extension(206, extension="6", type="chan_pjsip"),
            an_extension(207, extension="7", is_active=False),
            an_extension(208, extension="a", name="Ä", voicemail=True),
            # The older link is that of the newer extension.
            a_link(303, ADA, identifier(202)),
            a_link(301, ADA, identifier(205)),
            a_link(302, BOB, identifier(201)),
            *(a_link(303 + n, ADA, identifier(205 + n)) for n in (1, 2)),
            a_link(310, CARLA, identifier(203)),
        )

    async def deployed(self, mac: str, owner: str, number: int = 401) -> None:
        async with self.database.write() as tx:
            made = a_deployment(number, mac, owner_uuid=owner, place="p")
            await tx.deployments.add(made)

    async def at(self, mac: str) -> PhoneNumbers | None:
        async with self.database.read() as tx:
            return await tx.lines.at(mac)

    async def test_phone_without_anything_has_no_numbers(self) -> None:
        assert await self.at(PHONE.mac) == PhoneNumbers(UsedPhone(PHONE, DeskRecord(PHONE.mac)))
        assert await self.at(a_mac(9)) is None
        assert await self.at("") is None

    async def test_numbers_are_those_of_desk_and_deployment_by_the_age_of_their_links(self) -> None:
        async with self.database.write() as tx:
            await tx.desks.put(DESK)
        await self.deployed(PHONE.mac, BOB)

        own = Number("4", "Desk 204", voicemail=False)
        numbers = tuple(
            (user, Number(text, f"Desk 20{text}", voicemail=False))
            for user, text in ((ADA, "5"), (BOB, "1"), (ADA, "2"))
        )
        used = UsedPhone(PHONE, DESK, BOB, moment(401), own)
        assert await self.at(PHONE.mac) == PhoneNumbers(used, numbers)

    async def test_inactive_user_has_no_numbers(self) -> None:
        await self.deployed(PHONE.mac, CARLA)
        found = await self.at(PHONE.mac)
        assert found is not None
        assert found.numbers == ()
        assert found.used.deployed_owner == CARLA

    async def test_numbers_of_a_user_are_those_of_the_active_lines(self) -> None:
        async with self.database.read() as tx:
            assert [one.number for one in await tx.lines.of_user(ADA)] == ["5", "2"]
            assert await tx.lines.of_user(CARLA) == []

    async def test_own_number_must_be_an_active_line(self) -> None:
        for number in (206, 207, 999):
            desk = DeskRecord(PHONE.mac, extension_uuid=identifier(number))
            async with self.database.write() as tx:
                await tx.desks.put(desk)
            assert await self.at(PHONE.mac) == PhoneNumbers(UsedPhone(PHONE, desk))

    async def test_find_answers_exactly_this_number_of_an_active_line(self) -> None:
        async with self.database.read() as tx:
            assert await tx.lines.find("a") == Number("a", "Ä", voicemail=True)
            assert await tx.lines.find("3") == Number("3", "Desk 203", voicemail=False)
            for unknown in ("6", "7", "A", "", "9", "%"):
                assert await tx.lines.find(unknown) is None

    async def test_held_finds_an_extension_of_an_active_user_or_of_none(self) -> None:
        async with self.database.read() as tx:
            for number, kind in (("a", "chan_sccp"), ("1", "chan_sccp"), ("6", "chan_pjsip")):
                found = await tx.lines.held(number, kind)
                assert found is not None
                assert found[0] == await tx.lines.find(number, kind)
                assert found[1] == await tx.lines.uuid_of(number, kind)
            assert await tx.lines.held("9", "chan_pjsip") is None
        for user in (ADA, BOB, CARLA):
            async with self.database.write() as tx:
                account = await tx.users.find(user)
                assert account is not None
                await tx.users.put(msgspec.structs.replace(account, is_active=False))
        async with self.database.read() as tx:
            assert await tx.lines.held("6", "chan_pjsip") is None

    async def test_languages_are_those_of_the_active_users_of_an_active_line(self) -> None:
        await self.add(
            a_user(34, lang="fr"),
            a_user(35, lang="fr"),
            a_user(36, lang="de-CH"),
            *(a_link(320 + n, identifier(33 + n), identifier(204)) for n in (1, 2, 3)),
            a_link(330, identifier(36), identifier(206)),
            a_link(331, identifier(36), identifier(207)),
        )
        async with self.database.read() as tx:
            assert sorted(await tx.lines.languages("4", "chan_sccp")) == ["de-CH", "fr"]
            assert await tx.lines.languages("1", "chan_sccp") == ["en"]
            assert sorted(await tx.lines.languages("6", "chan_pjsip")) == ["de-CH", "en"]
            # A line of an inactive user, an inactive line, one of another kind, none.
            for number in ("3", "7", "6", "a", "9", "%", ""):
                assert await tx.lines.languages(number, "chan_sccp") == []

    async def test_earlier_numbers_are_those_of_the_last_owners_of_the_phone(self) -> None:
        for number, owner in enumerate((ADA, BOB, CARLA, BOB, BOB, BOB), 401):
            await self.deployed(PHONE.mac, owner, number)
        await self.deployed(OTHER.mac, ADA, 407)
        async with self.database.write() as tx:
            await tx.deployments.add(a_deployment(408, PHONE.mac, owner_uuid=ADA))  # no file
        async with self.database.read() as tx:
            found = await tx.lines.earlier_numbers(PHONE.mac, "chan_sccp")
            assert found == ["1", "1", "1", "3", "1"]
            assert await tx.lines.earlier_numbers(OTHER.mac, "chan_pjsip") == ["6"]
            assert await tx.lines.earlier_numbers(a_mac(9), "chan_pjsip") == []

    async def test_phones_of_leavers_are_active_ones_with_the_text_of_no_active_user(self) -> None:
        async with self.database.read() as tx:
            assert await tx.lines.phones_of_leavers() == []
        await self.deployed(PHONE.mac, CARLA)
        await self.deployed(OTHER.mac, BOB, 402)
        async with self.database.read() as tx:
            assert await tx.lines.phones_of_leavers() == [PHONE]
        async with self.database.write() as tx:
            await tx.users.remove(BOB)
        async with self.database.read() as tx:
            assert await tx.lines.phones_of_leavers() == [PHONE, OTHER]
        async with self.database.write() as tx:
            await tx.phones.put(msgspec.structs.replace(PHONE, is_active=False))
        async with self.database.read() as tx:
            assert await tx.lines.phones_of_leavers() == [OTHER]

    async def test_phones_of_a_user_are_those_of_desks_and_deployments(self) -> None:
        async with self.database.write() as tx:
            await tx.desks.put(DeskRecord(OTHER.mac).used(DeskUse(BOB), NOW))
            await tx.desks.put(DeskRecord(a_mac(9)).used(DeskUse(BOB), NOW))
        await self.deployed(PHONE.mac, BOB)
        await self.deployed(OTHER.mac, BOB, 402)
        async with self.database.read() as tx:
            found = await tx.lines.phones_of(BOB)
            assert [one.phone for one in found] == [PHONE, OTHER]
            assert [one.desk.user_uuid for one in found] == [None, BOB]
            assert [one.deployed_owner for one in found] == [BOB, BOB]
            assert await tx.lines.phones_of(ADA) == []

    async def test_phones_with_a_number_are_those_of_its_active_users(self) -> None:
        async with self.database.read() as tx:
            assert await tx.lines.phones_with("6", "chan_pjsip") == []
        # Ada and Bob have the number, and Carla, who is inactive.
        await self.add(
            a_link(320, BOB, identifier(206)),
            a_link(321, CARLA, identifier(206)),
            a_phone(3, is_active=False),
            a_phone(4),
        )
        async with self.database.write() as tx:
            await tx.desks.put(DESK)
            await tx.desks.put(DeskRecord(a_mac(3)).used(DeskUse(CARLA), NOW))
            await tx.desks.put(DeskRecord(a_mac(9)).used(DeskUse(ADA), NOW))  # no phone
        await self.deployed(PHONE.mac, BOB)
        await self.deployed(OTHER.mac, CARLA, 402)
        await self.deployed(a_mac(3), ADA, 403)
        async with self.database.read() as tx:
            found = await tx.lines.phones_with("6", "chan_pjsip")
            # Inactive phones too, by MAC.
            assert [(user, one.phone.mac) for user, one in found] == [
                (ADA, PHONE.mac), (BOB, PHONE.mac), (ADA, a_mac(3)),
            ]  # fmt: skip
            assert [one.desk.user_uuid for _, one in found] == [ADA, ADA, CARLA]
            assert [one.deployed_owner for _, one in found] == [BOB, BOB, ADA]
            assert [one.deployed_at for _, one in found] == [moment(401)] * 2 + [moment(403)]
            # Of another kind, inactive, of an inactive user, none.
            for number in ("7", "3", "9", "%", ""):
                assert await tx.lines.phones_with(number, "chan_pjsip") == []
            assert await tx.lines.phones_with("6", "chan_sccp") == []

    async def test_phones_with_logins_are_active_and_not_closed_by_their_desk(self) -> None:
        async with self.database.read() as tx:
            assert await tx.lines.phones_with_logins() == [PHONE, OTHER]  # without a record
        await self.add(a_phone(3, is_active=False))
        async with self.database.write() as tx:
            await tx.desks.put(DESK)
            await tx.desks.put(DeskRecord(OTHER.mac, hotdesk=False))
            await tx.desks.put(DeskRecord(a_mac(9)))  # no phone
        async with self.database.read() as tx:
            assert await tx.lines.phones_with_logins() == [PHONE]


class TestLocations(DatabaseTests):
    """The contract of ``LocationStore``, beyond that of every store."""

    async def arrange(self) -> None:
        names = ("Berlin", "Berlin/3", "Straße / \u00dc", "Zürich")
        await self.add(*(a_location(number, name=name) for number, name in enumerate(names, 1)))

    async def test_named_finds_the_locations_of_these_keys(self) -> None:
        async with self.database.read() as tx:

            async def named(*keys: str) -> list[str]:
                return sorted(one.name for one in await tx.locations.named(keys))

            assert await named("berlin/3", "berlin", "paris") == ["Berlin", "Berlin/3"]
            assert await named(location_key("STRASSE/ü")) == ["Straße / \u00dc"]
            for key in ("Berlin", "ber", "berlin/", "%", ""):
                assert await named(key) == []
            assert await named() == []
            assert await named(*beginnings("/".join(["zürich", *"x" * 120]))) == ["Zürich"]

    async def test_name_of_an_equal_key_is_a_conflict_that_changes_nothing(self) -> None:
        with pytest.raises(Conflict):
            await self.add(a_location(5, name="STRASSE/u\u0308"))
        async with self.database.read() as tx:
            [kept] = await tx.locations.named([location_key("STRASSE/ü")])
        with pytest.raises(Conflict):
            await self.put(msgspec.structs.replace(kept, name="zÜrich"))
        await self.put(msgspec.structs.replace(kept, name="STRASSE/Ü"))  # its own name
        async with self.database.read() as tx:
            assert [one.name for one in await tx.locations.named([location_key("STRASSE/ü")])] == [
                "STRASSE/Ü"
            ]
