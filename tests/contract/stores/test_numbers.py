"""The contract of ``NumberStore``, and lists that are searched, filtered and sorted by number."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.desks.records import DeskRecord, DeskUse
from phoneprov_core.features.lines.model import holder_of, numbers_of
from phoneprov_core.features.lines.numbers import MOST_PHONES, Kind, Numbered, Person, UsedAt
from phoneprov_core.inventory.extensions import ExtensionSearch
from phoneprov_core.inventory.phones.model import SummarySearch
from phoneprov_core.inventory.profiles.use_cases import ProfileSearch
from phoneprov_core.kernel.ports import selected
from phoneprov_core.people.users.model import UserSearch
from support.phone_records import CNF_XML, a_deployment, a_phone, a_profile, a_revision
from support.records import a_link, a_mac, a_user, an_extension, identifier, moment
from support.store_tests import DatabaseTests

STORES: dict[Any, str] = {
    UserSearch: "users",
    ProfileSearch: "whole_profiles",
    ExtensionSearch: "extensions",
    SummarySearch: "phones",
}
NOW = moment(500)
ADA, BOB, EVA = (identifier(number) for number in (31, 32, 33))
FRONT, LAB = a_mac(1), a_mac(2)


class TestNumbers(DatabaseTests):
    """The contract of ``NumberStore``."""

    async def arrange(self) -> None:
        await self.add(
            a_user(31, first_name="Zoë", last_name="Müller", username="zoe", email="z@example.com"),
            a_user(32, first_name="Bob", last_name="Doe", username="bob", email="b@example.com"),
            a_user(33, username="eva", email="e@example.com", is_active=False),
            a_phone(1, name="Front", location="Bonn", software_type="SCCP"),
            a_phone(2, name="Lab", location="Berlin", software_type=None),
            an_extension(201, extension="101", name="Line one"),
            an_extension(202, extension="99", name="Line two", type="chan_pjsip"),
            an_extension(203, extension="103", name="Line three", is_active=False),
            an_extension(204, extension="200", name="Lobby"),
            a_link(301, ADA, identifier(202)),
            a_link(302, ADA, identifier(201)),
            a_link(303, ADA, identifier(203)),
            a_link(304, EVA, identifier(201)),
            a_profile(1, ADA, name="Desk"),
            a_profile(2, BOB, name="Desk"),
        )
        async with self.database.write() as tx:
            for number, owner in ((1, ADA), (2, BOB)):
                await tx.revisions.add(a_revision(10 + number, a_profile(number, owner)), CNF_XML)

    async def of(
        self, kind: Kind, *ids: str, places: Sequence[str] | None = None
    ) -> dict[str, Numbered]:
        async with self.database.read() as tx:
            found = await tx.numbers.of(kind, ids, NOW, places)
        return {one.id: one for one in found}

    async def desk(self, desk: DeskRecord) -> None:
        async with self.database.write() as tx:
            await tx.desks.put(desk)

    async def deployed(self, mac: str, owner: str, number: int = 401) -> None:
        async with self.database.write() as tx:
            made = a_deployment(number, mac, owner_uuid=owner, place="p")
            await tx.deployments.add(made)

    async def found(self, command: Callable[..., Struct], **fields: str) -> list[Any]:
        """What a search finds, as the caller may see people."""
        store, wanted = STORES[command], command(**fields)
        async with self.database.read() as tx:
            rows: Any = selected(getattr(tx, store), wanted, people=True)
            found: list[Any] = await rows.rows(10)
            assert await rows.count() == len(found)
        return found

    async def test_numbers_of_a_user_are_active_extensions_by_the_age_of_their_links(self) -> None:
        found = await self.of("users", ADA, BOB, identifier(99))
        zoe = Person(ADA, "Zoë Müller", "zoe", is_active=True)
        assert found[ADA] == Numbered(ADA, "Zoë Müller", (zoe,), ("99", "101"))
        assert found[BOB].numbers == ()
        assert list(found) == [ADA, BOB]

    async def test_profiles_of_namesakes_have_their_owners_and_numbers(self) -> None:
        found = await self.of("profiles", identifier(1), identifier(2))
        assert [one.name for one in found.values()] == ["Desk", "Desk"]
        assert [one.people[0].username for one in found.values()] == ["zoe", "bob"]
        assert [one.numbers for one in found.values()] == [("99", "101"), ()]

    async def test_extension_has_its_users_and_the_desks_whose_number_it_is(self) -> None:
        await self.desk(DeskRecord(FRONT, extension_uuid=identifier(204)))
        found = await self.of("extensions", *(identifier(number) for number in (201, 203, 204)))
        shared, inactive, lobby = found.values()
        assert [one.username for one in shared.people] == ["zoe", "eva"]
        assert [one.is_active for one in shared.people] == [True, False]
        assert (shared.numbers, inactive.numbers) == (("101",), ())
        at = UsedAt(FRONT, "Front", "Bonn", is_logged_in=False)
        assert (lobby.people, lobby.phones, lobby.phones_total) == ((), (at,), 1)
        hidden = await self.of("extensions", identifier(204), places=["Berlin"])
        assert hidden[identifier(204)].phones_total == 0

    async def test_phone_has_the_numbers_that_its_firmware_registers(self) -> None:
        for mac in FRONT, LAB:
            await self.desk(DeskRecord(mac).used(DeskUse(ADA), NOW))
        found = await self.of("phones", FRONT, LAB, a_mac(9))
        assert (found[FRONT].numbers, found[LAB].numbers) == (("101",), ("99", "101"))
        assert found[FRONT].people[0].username == "zoe"
        assert len(found) == 2
        assert list(await self.of("phones", FRONT, LAB, places=["Bonn"])) == [FRONT]

    async def test_user_is_where_they_are_logged_in_else_at_the_phones_with_their_profile(
        self,
    ) -> None:
        await self.deployed(FRONT, ADA)
        front = UsedAt(FRONT, "Front", "Bonn", is_logged_in=False)
        assert (await self.of("users", ADA))[ADA].phones == (front,)
        await self.desk(DeskRecord(LAB).used(DeskUse(ADA), NOW))
        lab = UsedAt(LAB, "Lab", "Berlin", is_logged_in=True)
        assert (await self.of("users", ADA))[ADA].phones == (lab,)
        assert (await self.of("users", ADA, places=["Rome"]))[ADA].phones == ()

    async def test_many_phones_of_a_user_are_counted_and_the_first_ones_named(self) -> None:
        await self.add(*(a_phone(number) for number in range(3, 12)))
        for number in range(1, 12):
            await self.deployed(a_mac(number), ADA, 400 + number)
        found = (await self.of("users", ADA))[ADA]
        assert found.phones_total == 11
        assert [one.mac for one in found.phones] == [a_mac(n + 1) for n in range(MOST_PHONES)]

    async def test_user_of_a_phone_is_the_one_of_the_lines_in_every_state(self) -> None:
        chance, people = Random(7), [ADA, BOB, EVA]
        uses = [None, *people]
        for step in range(150):
            desk = DeskRecord(
                FRONT,
                user_uuid=(user := chance.choice(uses)),
                since=moment(1) if user else None,
                until=chance.choice([None, moment(499), NOW, moment(501)]),
                left_user_uuid=chance.choice(uses),
                extension_uuid=chance.choice([None, *map(identifier, (204, 202))]),
            )
            await self.desk(desk)
            phone = a_phone(
                1,
                software_type="SCCP",
                is_active=chance.random() < 0.8,
                created_at=moment(chance.choice([1, 9999])),
            )
            async with self.database.write() as tx:
                await tx.phones.put(phone)
            if step % 5 == 1:
                await self.deployed(FRONT, chance.choice(people), 401 + step)
            async with self.database.read() as tx:
                lines = await tx.lines.at(FRONT)
            assert lines is not None
            holder = holder_of(lines.used, NOW)
            found = (await self.of("phones", FRONT))[FRONT]
            assert [one.uuid for one in found.people] == ([holder] if holder else [])
            assert found.numbers == tuple(one.number for one in numbers_of(lines, NOW))
            # A list does not know the time: a login counts until it is ended.
            stored = replace(desk, until=None)
            async with self.database.read() as tx:
                shown = numbers_of(replace(lines, used=replace(lines.used, desk=stored)), NOW)
                sccp = [one.number for one in shown]
                for number in ("101", "99", "200"):
                    rows = selected(tx.phones, SummarySearch(number=number))
                    assert (await rows.rows(9) != []) == (number in sccp)

    async def test_users_are_found_and_sorted_by_number(self) -> None:
        for wanted in ({"q": "101"}, {"number": "101"}):
            assert {one.uuid for one in await self.found(UserSearch, **wanted)} == {ADA, EVA}
        assert [one.uuid for one in await self.found(UserSearch, q="muller 99")] == [ADA]
        assert await self.found(UserSearch, number="103") == []
        for sort, first in (("number", [EVA, ADA]), ("-number", [ADA, EVA])):
            order = [one.uuid for one in await self.found(UserSearch, sort=sort)]
            assert order == [*first, BOB]

    async def test_profiles_are_found_by_owner_and_number(self) -> None:
        for wanted in ({"q": "mueller"}, {"q": "101"}, {"number": "99"}):
            found = await self.found(ProfileSearch, **wanted)
            assert [one.user_uuid for one in found] == [ADA]
        for sort, owners in (("username", [BOB, ADA]), ("number", [ADA, BOB])):
            found = await self.found(ProfileSearch, sort=sort)
            assert [one.user_uuid for one in found] == owners

    async def test_extensions_are_found_by_the_names_of_their_users(self) -> None:
        found = await self.found(ExtensionSearch, q="Müller")
        assert {one.extension for one in found} == {"99", "101", "103"}

    async def test_phones_are_found_and_sorted_by_number(self) -> None:
        await self.desk(DeskRecord(FRONT, extension_uuid=identifier(204)))
        await self.desk(DeskRecord(LAB).used(DeskUse(ADA), NOW))
        for wanted in ({"q": "200"}, {"number": "200"}):
            found = await self.found(SummarySearch, **wanted)
            assert [one.mac for one in found] == [FRONT]
        for sort, macs in (("number", [FRONT, LAB]), ("-number", [LAB, FRONT])):
            found = await self.found(SummarySearch, sort=sort)
            assert [one.mac for one in found] == macs
