"""Whose a number is, in SQL: the user of each phone, and people and numbers of records."""

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    Boolean,
    ColumnElement,
    CompoundSelect,
    Select,
    Text,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    not_,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy.sql import FromClause

from phoneprov_adapters.sql.engines.statements import at_places, json_items, like
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables.columns import json_text
from phoneprov_adapters.sql.tables.inventory import extensions, phones, user_extensions
from phoneprov_adapters.sql.tables.people import users
from phoneprov_adapters.sql.tables.switching import current_deployments, desks, profiles
from phoneprov_core.features.lines.numbers import (
    MOST_PHONES,
    Kind,
    Numbered,
    NumberStore,
    Person,
    UsedAt,
)
from phoneprov_core.inventory.extensions import CHAN_SCCP

_IDS = json_items(bindparam("ids", type_=Text())).table_valued("value")
_AMONG = select(_IDS.c.value)


class Used(NamedTuple):
    """Phones with who uses them: ``source`` is ``phones`` joined with the rest, ``user_uuid`` what
    ``holder_of`` answers, ``own`` the number of the desk while it is that of the phone."""

    source: FromClause
    user_uuid: ColumnElement[Any]
    is_logged_in: ColumnElement[bool]
    own: ColumnElement[Any]


def used(name: str, now: ColumnElement[Any] | None = None) -> Used:
    """``holder_of`` in SQL, so that lists are sorted by it; a contract test compares both. Without
    ``now`` a login whose end has come counts until it is ended. ``name`` begins the names of the
    joined tables, which another part of a statement may have, too."""
    desk, on, own = (
        table.alias(f"{name}_{table.name}") for table in (desks, current_deployments, extensions)
    )
    source = (
        phones.outerjoin(desk, desk.c.mac == phones.c.mac)
        .outerjoin(on, on.c.mac == phones.c.mac)
        .outerjoin(
            own, and_(own.c.uuid == desk.c.extension_uuid, own.c.type == CHAN_SCCP, own.c.is_active)
        )
    )
    is_logged_in: ColumnElement[bool] = desk.c.user_uuid.is_not(None)
    if now is not None:
        is_logged_in = and_(is_logged_in, or_(desk.c.until.is_(None), desk.c.until > now))
    left = func.coalesce(desk.c.user_uuid, desk.c.left_user_uuid, "")
    is_of_owner = and_(on.c.created_at >= phones.c.created_at, on.c.owner_uuid != left)
    user_uuid = case(
        (is_logged_in, desk.c.user_uuid),
        (own.c.uuid.is_not(None), null()),
        (is_of_owner, on.c.owner_uuid),
    )
    is_own = and_(phones.c.is_active, not_(is_logged_in))
    return Used(source, user_uuid, is_logged_in, case((is_own, own.c.extension)))


_family = func.upper(func.trim(func.coalesce(phones.c.software_type, "")))


def _registers(extension: FromClause) -> ColumnElement[bool]:
    """Whether a phone registers an extension of this type, as far as its firmware is known."""
    return case(
        (_family == "SCCP", extension.c.type == CHAN_SCCP),
        (or_(_family == "SIP", _family == "SIPE"), extension.c.type != CHAN_SCCP),
        else_=literal(True, Boolean()),
    )


def _linked(name: str) -> tuple[FromClause, FromClause, FromClause]:
    """Links and active extensions, under names that begin with this one, and both joined."""
    link, extension = user_extensions.alias(f"{name}_links"), extensions.alias(f"{name}_numbers")
    on = and_(extension.c.uuid == link.c.extension_uuid, extension.c.is_active)
    return link, extension, link.join(extension, on)


def _is_active(user: FromClause, uuid: ColumnElement[Any]) -> ColumnElement[bool]:
    return exists(
        select(user.c.uuid).where(user.c.uuid == uuid, user.c.is_active).correlate_except(user)
    )


def first_number(user_uuid: ColumnElement[Any], *, registered: bool = False) -> Any:
    """The first number of a user, by the age of the links; the first that a phone registers."""
    link, extension, both = _linked("first")
    return (
        select(extension.c.extension)
        .select_from(both)
        .where(link.c.user_uuid == user_uuid, *([_registers(extension)] if registered else []))
        # PostgreSQL would walk the index of all links, oldest first, to the first of each user.
        .order_by(func.coalesce(link.c.created_at, ""), link.c.uuid)
        .limit(1)
        .correlate_except(link, extension)
        .scalar_subquery()
    )


def users_with_number() -> Select[Any]:
    """The users with the active extension ``only_number``."""
    link, extension, both = _linked("only")
    is_it = extension.c.extension == bindparam("only_number")
    return select(link.c.user_uuid).select_from(both).where(is_it)


def named(table: FromClause, first: Any, line: Any) -> ColumnElement[bool]:
    """Whether the searched text of a row has a line like these patterns."""
    text = table.c.search
    return or_(like(text, first), like(text, line))


def users_with_numbers(first: Any, line: Any) -> Select[Any]:
    """The users who have an extension like this."""
    linked = user_extensions.join(extensions, extensions.c.uuid == user_extensions.c.extension_uuid)
    its = select(user_extensions.c.user_uuid).select_from(linked)
    return its.where(named(extensions, first, line))


def named_users(first: Any, line: Any) -> CompoundSelect[Any]:
    """The users who are named like this, or have an extension like this."""
    its_name = select(users.c.uuid).where(named(users, first, line))
    return union_all(its_name, users_with_numbers(first, line))


def profiles_of_users(first: Any, line: Any) -> Select[Any]:
    """The profiles of the users who are named like this, or have an extension like this."""
    who = named_users(first, line).subquery()
    return select(profiles.c.uuid).where(profiles.c.user_uuid.in_(select(who)))


def extensions_of_users(first: Any, line: Any) -> Select[Any]:
    """The extensions of the users who are named like this."""
    linked = user_extensions.join(users, users.c.uuid == user_extensions.c.user_uuid)
    its = select(user_extensions.c.extension_uuid).select_from(linked)
    return its.where(named(users, first, line))


def phones_with_number() -> Select[Any]:
    """The phones whose numbers include ``only_number``."""
    holders, at = users_with_number(), used("only")
    is_it: ColumnElement[str] = bindparam("only_number")
    own = select(extensions.c.uuid).where(extensions.c.extension == is_it)
    candidates = union_all(
        select(desks.c.mac).where(
            or_(desks.c.user_uuid.in_(holders), desks.c.extension_uuid.in_(own))
        ),
        select(current_deployments.c.mac).where(current_deployments.c.owner_uuid.in_(holders)),
    ).subquery("candidates")
    link, extension, both = _linked("held")
    has_it = exists(
        select(link.c.uuid)
        .select_from(both)
        .where(
            link.c.user_uuid == at.user_uuid,
            extension.c.extension == is_it,
            _registers(extension),
        )
        .correlate_except(link, extension)
    )
    is_used = and_(phones.c.is_active, _is_active(users.alias("held_by"), at.user_uuid), has_it)
    return (
        select(phones.c.mac)
        .select_from(at.source)
        .where(phones.c.mac.in_(select(candidates.c.mac)), or_(at.own == is_it, is_used))
        .correlate(None)
    )


def number_of_phone() -> tuple[ColumnElement[Any], FromClause]:
    """The first number of a phone, for a sorted list, and what is joined for it."""
    at, holder = used("sort_number"), users.alias("sort_number_holder")
    is_in_use = and_(phones.c.is_active, _is_active(holder, at.user_uuid))
    first = case((is_in_use, first_number(at.user_uuid, registered=True)))
    return func.coalesce(first, at.own), at.source


_PERSON = (users.c.uuid, users.c.first_name, users.c.last_name, users.c.username, users.c.is_active)
_LINK, _NUMBER, _LINKED = _linked("its")
_ORDER = (_LINK.c.created_at, _LINK.c.uuid)


def _of_phones() -> Select[Any]:
    at = used("at", bindparam("now"))
    is_its = and_(
        _LINK.c.user_uuid == users.c.uuid,
        users.c.is_active,
        phones.c.is_active,
        _registers(_NUMBER),
    )
    joined = at.source.outerjoin(users, users.c.uuid == at.user_uuid).outerjoin(_LINKED, is_its)
    number = func.coalesce(_NUMBER.c.extension, at.own)
    rows = select(phones.c.mac, phones.c.name, *_PERSON, number).select_from(joined)
    return rows.where(phones.c.mac.in_(_AMONG)).order_by(phones.c.mac, *_ORDER)


def _of_people(key: Any, name: Any, source: FromClause) -> Select[Any]:
    joined = source.outerjoin(_LINKED, _LINK.c.user_uuid == users.c.uuid)
    rows = select(key, name, *_PERSON, _NUMBER.c.extension).select_from(joined)
    return rows.where(key.in_(_AMONG)).order_by(key, *_ORDER)


def _of_extensions() -> Select[Any]:
    link = user_extensions
    joined = extensions.outerjoin(link, link.c.extension_uuid == extensions.c.uuid).outerjoin(
        users, users.c.uuid == link.c.user_uuid
    )
    number = case((extensions.c.is_active, extensions.c.extension))
    rows = select(extensions.c.uuid, extensions.c.name, *_PERSON, number).select_from(joined)
    among = extensions.c.uuid.in_(_AMONG)
    return rows.where(among).order_by(extensions.c.uuid, link.c.created_at, link.c.uuid)


@cache
def _records(kind: str, *, placed: bool) -> Select[Any]:
    if kind == "phones":
        return _of_phones().where(at_places(phones)) if placed else _of_phones()
    if kind == "extensions":
        return _of_extensions()
    if kind == "users":
        return _of_people(users.c.uuid, users.c.username, users)
    owned = profiles.join(users, users.c.uuid == profiles.c.user_uuid)
    return _of_people(profiles.c.uuid, profiles.c.name, owned)


@cache
def _phones_of(kind: str, *, placed: bool) -> Select[Any]:
    """The first phones of each person or extension, where the person is logged in before others,
    and their number."""
    if kind == "users":
        at = used("of", bindparam("now"))
        source, key, is_logged_in = at.source, at.user_uuid, at.is_logged_in
        candidates = union_all(
            select(desks.c.mac).where(desks.c.user_uuid.in_(_AMONG)),
            select(current_deployments.c.mac).where(current_deployments.c.owner_uuid.in_(_AMONG)),
        ).subquery("candidates")
        its = and_(phones.c.mac.in_(select(candidates.c.mac)), phones.c.is_active)
    else:
        source = phones.join(desks, desks.c.mac == phones.c.mac)
        key, is_logged_in = desks.c.extension_uuid, literal(False, Boolean())
        its = phones.c.is_active
    group = (key, is_logged_in)
    found = select(
        key.label("key"),
        phones.c.mac,
        phones.c.name,
        phones.c.location,
        is_logged_in.label("logged_in"),
        func.row_number().over(partition_by=group, order_by=phones.c.mac).label("place"),
        func.count().over(partition_by=group).label("total"),
    ).select_from(source)
    found = found.where(its, key.in_(_AMONG), *([at_places(phones)] if placed else []))
    some = found.subquery("some")
    return (
        select(some)
        .where(some.c.place <= MOST_PHONES)
        .order_by(some.c.key, some.c.logged_in.desc(), some.c.place)
    )


class SqlNumbers(SqlQueries, NumberStore):
    """People and numbers of records."""

    async def of(
        self, kind: Kind, ids: Sequence[str], now: str, places: Sequence[str] | None = None
    ) -> list[Numbered]:
        placed = places is not None
        values = {"ids": json_text(list(ids)), "now": now, "places": json_text(places)}
        at: dict[str, tuple[list[UsedAt], int]] = {}
        if kind in {"users", "extensions"}:
            statement = _phones_of(kind, placed=placed)
            for row in await self._connection.fetch_all(statement, **values):
                key, *phone, _, total = row
                first = UsedAt(*phone)
                some, _ = at.setdefault(key, ([], total))
                if not some or some[0].is_logged_in == first.is_logged_in:
                    some.append(first)
        made: dict[str, tuple[str | None, dict[str, Person], dict[str, None]]] = {}
        statement = _records(kind, placed=placed and kind == "phones")
        for row in await self._connection.fetch_all(statement, **values):
            key, name, uuid, first_name, last_name, username, is_active, number = row
            _, people, numbers = made.setdefault(key, (name, {}, {}))
            if uuid is not None:
                people[uuid] = Person(uuid, f"{first_name} {last_name}", username, is_active)
            if number is not None:
                numbers[number] = None
        return [
            Numbered(
                key,
                people[key].name if kind == "users" else name,
                tuple(people.values()),
                tuple(numbers),
                *((tuple(at[key][0]), at[key][1]) if key in at else ()),
            )
            for key, (name, people, numbers) in made.items()
        ]
