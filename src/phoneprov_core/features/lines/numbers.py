"""Whose a number is: the people and numbers of phones, accounts, profiles and extensions, for a
page of a list, and a search that finds people and phones by name and number."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.inventory.phones.model import PHONE_FIELDS
from phoneprov_core.inventory.phones.use_cases import PhoneStore
from phoneprov_core.kernel import values
from phoneprov_core.kernel.actor import Actor, may_see_people
from phoneprov_core.kernel.commands import Command, QueryCommand
from phoneprov_core.kernel.fields import Check, Location, StoredMac, Uuid, each, schema, within
from phoneprov_core.kernel.ports import Clock, ReadAndWrite, SearchedStore
from phoneprov_core.kernel.search import Query, Search, joined, search_for
from phoneprov_core.kernel.values import known_id, known_mac, timestamp
from phoneprov_core.people.access import places_of
from phoneprov_core.people.users.model import USER_FIELDS
from phoneprov_core.people.users.use_cases import UserStore

E = TypeVar("E")

MOST_RECORDS = 1000
MOST_PHONES = 4
"""Phones of a person, or desks of an extension, that are named."""

Kind = Literal["phones", "users", "profiles", "extensions"]


class Person(Struct, frozen=True):
    """An account, as lists and choices name it."""

    uuid: Annotated[Uuid, schema("UUID of the account")]
    name: Annotated[str, schema("First and last name", examples=["Ada Lovelace"])]
    username: Annotated[str, schema("Username", examples=["ada"])]
    is_active: Annotated[bool, schema("Whether the account is active")]


class UsedAt(Struct, frozen=True):
    """A phone of a person, or a desk with a number of its own."""

    mac: StoredMac
    name: Annotated[str, schema("Name of the phone", examples=["Front desk"])] | None
    location: Location | None
    is_logged_in: Annotated[
        bool, schema("Whether the person is logged in there; else the phone has their profile")
    ]


class Numbered(Struct, frozen=True):
    """A record with the people and the numbers that belong to it.

    A phone has the user who is logged in and their numbers there; while no user is, the number of
    the desk, else the owner of the profile that is on it. A profile has its owner, and an extension
    its users and, as phones, the desks whose number it is. The phones of a person are phones where
    the person is logged in, else phones with their profile without another user or number."""

    id: Annotated[str, schema("MAC address of a phone, else UUID", examples=["00:1B:D4:12:34:56"])]
    name: Annotated[str, schema("Name of the record", examples=["Front desk"])] | None
    people: Annotated[tuple[Person, ...], schema("Accounts that it belongs to")] = ()
    numbers: Annotated[
        tuple[str, ...],
        schema("Active extensions, the oldest link first", examples=[["101"]]),
    ] = ()
    phones: Annotated[
        tuple[UsedAt, ...],
        schema(f"Phones of the person or of the extension, at most {MOST_PHONES}"),
    ] = ()
    phones_total: Annotated[int, schema("Number of these phones", minimum=0)] = 0


class NumbersOf(Command, frozen=True, kw_only=True):
    """The records of a page whose people and numbers are read."""

    of: Annotated[Kind, schema("Kind of the records")]
    ids: Annotated[
        tuple[Annotated[str, schema(maxLength=255)], ...],
        Check(each(values.text, most=MOST_RECORDS)),
        schema(
            "UUIDs of the records; MAC addresses of phones",
            maxItems=MOST_RECORDS,
            examples=[["00:1B:D4:12:34:56"]],
        ),
    ]


class FindQuery(QueryCommand, frozen=True, kw_only=True):
    """What was typed into a search field so far."""

    q: Query | None = None
    most: Annotated[int, within(1, 20, "Maximum number of rows of each kind")] = 6


class Found(Struct, frozen=True):
    """What a text finds."""

    people: Annotated[tuple[Numbered, ...], schema("Accounts, the best match first")]
    phones: Annotated[tuple[Numbered, ...], schema("Phones, the best match first")]
    best: Annotated[Literal["people", "phones"] | None, schema("The kind that has the best match")]
    q: Annotated[str, schema("The text that finds them in lists: a number in groups as a whole")]


class NumberStore(Protocol):
    """People and numbers of records, each kind with the same number of queries for any page."""

    async def of(
        self, kind: Kind, ids: Sequence[str], now: str, places: Sequence[str] | None = None
    ) -> list[Numbered]:
        """The records with these keys that exist, in any order, at this shown moment. With
        ``places`` only phones at these locations, also of people and extensions.

        The user of a phone is that of ``holder_of``. Numbers are active extensions, the oldest link
        first; a phone has only numbers that its firmware registers, none while it or its user is
        inactive, and without a user the number of its desk."""


class NumbersTransaction(Protocol):
    """Stores that name people and numbers."""

    @property
    def users(self) -> UserStore: ...
    @property
    def phones(self) -> PhoneStore: ...
    @property
    def numbers(self) -> NumberStore: ...


@dataclass(frozen=True)
class Numbers:
    """People and numbers. Level 0 sees all records; a right all people, and the phones in its
    scope; every other account its own records."""

    database: ReadAndWrite[NumbersTransaction]
    clock: Clock

    async def of(self, actor: Actor, wanted: NumbersOf) -> list[Numbered]:
        """The records of a page, in the order in which they were named, without records that do not
        exist or that the caller may not see."""
        known = known_mac if wanted.of == "phones" else known_id
        ids = list(dict.fromkeys(key for key in map(known, wanted.ids) if key))
        async with self.database.read() as tx:
            places = await places_of(actor, tx.phones) if may_see_people(actor) else None
            return await self._shown(tx, actor, wanted.of, ids, places)

    async def find(self, actor: Actor, wanted: FindQuery) -> Found:
        """People and phones that match, with a right phones in its scope; records with exactly this
        number come first. A number in groups is found as a whole if no record has the groups.
        Without level 0 and a right only phones are found, by what every account reads of them."""
        found = await self._found(actor, wanted)
        whole = joined(wanted.q or "")
        if found.best is None and whole:
            return await self._found(actor, replace(wanted, q=whole))
        return found

    async def _found(self, actor: Actor, wanted: FindQuery) -> Found:
        search = search_for(FindQuery(q=wanted.q)) if wanted.q else None
        if search is None or not search.words:
            return Found((), (), None, wanted.q or "")
        sees, most = may_see_people(actor), wanted.most
        async with self.database.read() as tx:
            places = await places_of(actor, tx.phones) if sees else None
            there = () if places is None else (("location", places),)
            users = await _matching(tx.users, search, most) if sees else []
            phones = await _matching(tx.phones, search, most, there, has_numbers=sees)
            of_users = [one.uuid for one in users]
            people = await self._shown(tx, actor, "users", of_users, places)
            owned = await self._shown(tx, actor, "phones", [one.mac for one in phones], places)
        known = {one.id: one for one in owned}
        at = [known.get(one.mac, Numbered(one.mac, one.name)) for one in phones]
        best: Literal["people", "phones"] | None = None
        if people and at:
            person = _rank(search, USER_FIELDS.text(users[0]), people[0])
            phone = _rank(search, PHONE_FIELDS.text(phones[0]), at[0])
            best = "phones" if phone < person else "people"
        elif people or at:
            best = "people" if people else "phones"
        return Found(tuple(people), tuple(at), best, wanted.q or "")

    async def _shown(
        self,
        tx: NumbersTransaction,
        actor: Actor,
        kind: Kind,
        ids: Sequence[str],
        places: Sequence[str] | None,
    ) -> list[Numbered]:
        if not ids:
            return []
        found = await tx.numbers.of(kind, ids, timestamp(self.clock()), places)
        if not may_see_people(actor):
            found = [one for row in found for one in _own(actor, kind, row)]
        by_id = {one.id: one for one in found}
        return [by_id[key] for key in ids if key in by_id]


def _own(actor: Actor, kind: Kind, row: Numbered) -> Iterable[Numbered]:
    """The record as an account without level 0 sees it, if it is the account's own."""
    people = tuple(one for one in row.people if one.uuid == actor.user_uuid)
    if people and kind == "extensions":
        row = replace(row, phones=(), phones_total=0)
    if people:
        yield replace(row, people=people)


async def _matching(
    store: SearchedStore[E],
    search: Search,
    most: int,
    filters: tuple[tuple[str, Any], ...] = (),
    *,
    has_numbers: bool = True,
) -> list[E]:
    """The best matches, first the records with exactly this number."""
    found: list[E] = []
    if has_numbers and len(search.words) == 1:
        exact = Search(filters=tuple(sorted((*filters, ("number", search.words[0][0])))))
        found = await store.matching(exact).rows(most)
    others = replace(search, filters=filters, people=has_numbers)
    found += [one for one in await store.matching(others).rows(most) if one not in found]
    return found[:most]


def _rank(search: Search, text: str, row: Numbered) -> int:
    """``Search.rank`` of a record with this text; one whose number is the text is as good as one
    with that name."""
    is_number = len(search.words) == 1 and search.words[0][0] in row.numbers
    return 0 if is_number else search.rank(text)
