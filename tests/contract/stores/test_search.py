"""The contract of ``SearchedRows.matching``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args, get_type_hints

import pytest
import pytest_asyncio
from msgspec import Struct

from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_core.inventory.extensions import ExtensionSearch
from phoneprov_core.inventory.phones.model import Phone, PhoneSearch
from phoneprov_core.inventory.profiles.use_cases import ProfileSearch
from phoneprov_core.kernel.ports import Rows, SearchedStore, Window, listing, selected
from phoneprov_core.kernel.search import Search
from phoneprov_core.people.directory.model import ContactSearch
from phoneprov_core.people.users.model import UserSearch
from support import kinds
from support.kinds import OTHER_OWNER, OWNERS, Kind
from support.phone_records import CNF_XML, a_phone, a_profile, a_revision
from support.records import OWNER, a_company_contact, identifier, moment
from support.store_tests import DatabaseTests


@dataclass(frozen=True)
class _Case:
    """One kind of record: the fields in which words are found and those that filter."""

    kind: Kind
    command: Callable[..., Struct]
    fields: Sequence[str]
    filters: dict[str, tuple[Any, Any]]


_USERS = _Case(
    kinds.USERS,
    UserSearch,
    ("first_name", "last_name", "username", "email", "phone"),
    {
        "lang": ("en", "de"),
        "location": (None, "Paris"),
        "nationality": (None, "FR"),
        "timezone": ("UTC", "Europe/Paris"),
        "is_active": (True, False),
    },
)
_EXTENSIONS = _Case(
    kinds.EXTENSIONS,
    ExtensionSearch,
    ("extension", "name"),
    {"type": ("chan_sccp", "custom"), "voicemail": (True, False), "is_active": (False, True)},
)
PHONES = _Case(
    kinds.PHONES,
    PhoneSearch,
    ("name", "hostname", "phone_ip"),
    {
        "brand": ("Cisco", "snom"),
        "model": (None, "CP-7945G"),
        "location": (None, "2nd floor"),
        "phone_vlan": (None, "12"),
        "software_version": (None, "9.4"),
        "software_type": ("SCCP", "SIP"),
        "is_active": (True, False),
    },
)
_CONTACTS = _Case(
    kinds.COMPANY_CONTACTS,
    ContactSearch,
    ("name", "work", "mobile", "home", "email"),
    {
        "department": (None, "Engines"),
        "company": (None, "Acme"),
        "location": ("Paris", "Rome"),
        "building": ("A", "B"),
        "is_active": (True, False),
    },
)
_CASES = [_USERS, _EXTENSIONS, PHONES, _CONTACTS]


async def moments_of(tx: SqlTransaction, case: _Case, **wanted: Any) -> list[str]:
    """When the records that a search finds were created; count and pages agree with them."""
    store: SearchedStore[Any] = getattr(tx, case.kind.name)
    rows = selected(store, case.command(**wanted))
    found = await rows.rows(1000)
    assert await rows.count() == len(found)
    await _pages_agree(rows)
    return [record.created_at for record in found]


def _phones(model: str, tx: SqlTransaction) -> Rows[Phone]:
    return selected(tx.phones, PhoneSearch(model=model))


async def _pages_agree(rows: Rows[Any], owner: str | None = None) -> None:
    """The contract of ``Rows.page``."""
    count = await rows.count(owner)
    for limit, offset in (1, 0), (2, 0), (2, 1), (1000, 0), (1000, 1), (1, 2**62):
        page, total = await rows.page(limit, offset=offset, owner=owner)
        assert page == await rows.rows(limit, offset=offset, owner=owner)
        assert total in {count, None}


class TestSearch(DatabaseTests):
    """The contract of ``SearchedRows.matching`` and of ``Rows.page``."""

    @pytest.fixture(params=_CASES, ids=lambda case: case.kind.name)
    def case(self, request: pytest.FixtureRequest) -> _Case:
        """A kind of record that can be searched."""
        case: _Case = request.param
        return case

    async def test_words_are_found_in_every_searched_field(self, case: _Case) -> None:
        async with self.database.write() as tx:
            for number, name in enumerate(case.fields, 1):
                value = f"Zoë{number}%_/\\'"
                await case.kind.store(tx).add(case.kind.make(number, **{name: value}))
        async with self.database.read() as tx:
            everything = [moment(number) for number, _ in enumerate(case.fields, 1)]
            assert await moments_of(tx, case, q="zoe") == everything
            assert await moments_of(tx, case, q="  ZOË   %_/\\'  ") == everything
            for number, moment_ in enumerate(everything, 1):
                assert await moments_of(tx, case, q=f"Oë{number}%") == [moment_]
            assert await moments_of(tx, case, q="zoe1 zoe2") == []
            assert await moments_of(tx, case, q="z%e") == []
            assert await moments_of(tx, case, q="o_") == []

    async def test_filters_select_equal_fields(self, case: _Case) -> None:
        async with self.database.write() as tx:
            store: Any = case.kind.store(tx)
            number = 0
            for name, values in case.filters.items():
                for value in values:
                    number += 1
                    plain = {other: one[0] for other, one in case.filters.items()}
                    await store.add(case.kind.make(number, **{**plain, name: value}))
            everything = await store.rows(1000)
            for name, (_, value) in case.filters.items():
                wanted = [one.created_at for one in everything if getattr(one, name) == value]
                assert await moments_of(tx, case, **{name: value}) == wanted
                assert len(wanted) == 1
            both = {name: value for name, (_, value) in list(case.filters.items())[:2]}
            assert await moments_of(tx, case, **both) == []

    async def test_sorted_list_ignores_case_and_has_each_record_once(self, case: _Case) -> None:
        key = case.kind.key
        order = get_args(get_args(get_type_hints(case.command)["sort"])[0])
        own = {*case.kind.make(1).__struct_fields__} - {key}
        for field in {one.removeprefix("-") for one in order} & own:
            async with self.database.write() as tx:
                store: Any = case.kind.store(tx)
                for number, value in enumerate(("b", "A", "É", "a1", "B2", "Z"), 1):
                    await store.add(case.kind.make(number, **{field: value}))
                for sort, is_backwards in ((field, False), (f"-{field}", True)):
                    rows = selected(store, case.command(sort=sort))
                    everything = await rows.rows(1000)
                    values = [getattr(one, field) for one in everything]
                    assert values == ["A", "a1", "b", "B2", "Z", "É"][:: -1 if is_backwards else 1]
                    assert await rows.rows(9, after=everything[2]) == everything[3:]
                    await _pages_agree(rows)
                for one in everything:
                    await store.remove(getattr(one, key))

    async def test_search_follows_changes_of_the_transaction(self, case: _Case) -> None:
        one, two = case.kind.make(1), case.kind.make(2)
        name = case.fields[0]
        async with self.database.write() as tx:
            await case.kind.store(tx).add(one)
            await case.kind.store(tx).add(two)
        async with self.database.write() as tx:
            await case.kind.store(tx).put(case.kind.make(2, **{name: "Zacharias"}))
            assert await moments_of(tx, case, q="zacharias") == [moment(2)]
        async with self.database.read() as tx:
            assert await moments_of(tx, case, q="zacharias") == [moment(2)]
            assert await moments_of(tx, case, q="nothing-like-it") == []

    async def test_telephone_number_is_found_in_any_notation(self) -> None:
        await self.add(
            a_company_contact(1, work="+1 (202) 555-0143"), a_company_contact(2, work="2025550144")
        )
        async with self.database.read() as tx:
            for number in ("+1 202", "+12025550143", "(202) 555-0143", "202-555-0143", "555.0143"):
                assert await moments_of(tx, _CONTACTS, q=number) == [moment(1)]
            assert await moments_of(tx, _CONTACTS, q="202-555") == [moment(2), moment(1)]

    @pytest_asyncio.fixture(loop_scope="session")
    async def contacts(self) -> Sequence[Any]:
        """Four contacts that match and others between them, oldest first."""
        made = [
            a_company_contact(number, name="Ada", created_at=moment(number // 2))
            for number in (2, 3, 6, 9)
        ]
        others = [a_company_contact(number, name="Bo", email=None) for number in (1, 4, 5, 8)]
        await self.add(*(*reversed(made), *others))
        return made

    async def test_pages_of_a_search_follow_the_order_of_the_list(
        self, contacts: Sequence[Any]
    ) -> None:
        async with self.database.read() as tx:
            rows = tx.company_contacts.matching(Search((("ada",),), (("is_active", True),)))
            assert await rows.rows(1000) == contacts
            assert await rows.rows(2) == contacts[:2]
            assert await rows.rows(2, offset=1) == contacts[1:3]
            assert await rows.rows(2, after=contacts[0]) == contacts[1:3]
            assert await rows.rows(9, after=contacts[0], offset=1) == contacts[2:]
            assert await rows.rows(9, offset=2**62) == []
            assert await rows.count() == 4

    async def test_rare_and_frequent_matches_have_the_same_pages(self) -> None:
        await self.add(
            *(
                a_phone(number, model=f"1 in {50 if number % 50 == 0 else 1}")
                for number in range(1, 101)
            )
        )
        async with self.database.read() as tx:
            for model, expected in ("1 in 50", [50, 100]), ("1 in 1", [1, 2]):
                rows = _phones(model, tx)
                found = await listing(self.database.read, partial(_phones, model), Window(limit=2))
                assert [one.created_at for one in found.first] == [moment(n) for n in expected]
                assert found.total == await rows.count()
                await _pages_agree(rows)

    async def test_profiles_are_found_by_name_and_owner(self) -> None:
        made = [
            a_profile(1, OWNER, name="Émilie at home"),
            a_profile(2, OTHER_OWNER, name="Emilie's desk", software_type="SIP"),
            a_profile(3, OWNER, name="Front desk", software_type="SIP"),
        ]
        async with self.database.write() as tx:
            for owner in OWNERS:
                await tx.users.add(owner)
            for number, profile in enumerate(made, 100):
                await tx.profiles.add(profile)
                await tx.revisions.add(a_revision(number, profile), CNF_XML)

        async def uuids(owner: str | None = None, **wanted: Any) -> list[str]:
            async with self.database.read() as tx:
                rows = selected(tx.whole_profiles, ProfileSearch(**wanted))
                found = await rows.rows(10, owner=owner)
                assert await rows.count(owner) == len(found)
                await _pages_agree(rows, owner)
                assert {profile.cnf_xml for profile in found} <= {CNF_XML}
            return [profile.uuid for profile in found]

        assert await uuids(q="emilie") == [identifier(1), identifier(2)]
        assert await uuids(sort="-name") == [identifier(number) for number in (1, 3, 2)]
        assert await uuids(q="desk", software_type="SIP") == [identifier(2), identifier(3)]
        assert await uuids(user_uuid=OTHER_OWNER) == [identifier(2)]
        assert await uuids(OWNER, q="emilie") == [identifier(1)]
        assert await uuids(OWNER, user_uuid=OTHER_OWNER) == []
