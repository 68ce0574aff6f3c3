"""Phones, notes on them, which phone replaced which, and locations in SQL."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
from sqlalchemy import (
    Boolean,
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    or_,
    select,
    true,
    union_all,
    update,
)

from phoneprov_adapters.sql.engines.statements import json_items, upsert
from phoneprov_adapters.sql.stores.features.numbers import (
    named,
    named_users,
    number_of_phone,
    phones_with_number,
)
from phoneprov_adapters.sql.stores.store import SqlQueries, SqlSearchedStore, SqlStore
from phoneprov_adapters.sql.tables.columns import NOTED, WITHOUT_NOTE, json_text
from phoneprov_adapters.sql.tables.inventory import (
    LOCATIONS,
    drills,
    extensions,
    locations,
    phone_states,
    phones,
    replacements,
)
from phoneprov_adapters.sql.tables.people import users
from phoneprov_adapters.sql.tables.records import Records
from phoneprov_adapters.sql.tables.switching import (
    current_deployments,
    deployments,
    desks,
    profiles,
)
from phoneprov_core.features.fleet.model import Replacement, ReplacementStore
from phoneprov_core.features.fleet.states import FleetState
from phoneprov_core.features.lines.drills import KNOWN
from phoneprov_core.features.templates.model import EMPTY
from phoneprov_core.inventory.locations import Location, LocationStore
from phoneprov_core.inventory.notes import NOTE_FIELDS, Kind, Note, NoteStore
from phoneprov_core.inventory.phones.model import PHONE_FIELDS, Phone, PhoneUse
from phoneprov_core.inventory.phones.use_cases import PhoneStore
from phoneprov_core.people.access import location_key

_MACS = json_items(bindparam("macs", type_=Text())).table_valued("value")
_UNKNOWN = select(_MACS.c.value).where(~exists().where(phones.c.mac == _MACS.c.value))


_OF_PHONE = deployments.c.mac == bindparam("mac")
_LAST = {
    "last_outcome": func.coalesce(
        select(deployments.c.outcome)
        .where(_OF_PHONE)
        .order_by(deployments.c.number.desc())
        .limit(1)
        .scalar_subquery(),
        "none",
    ),
    "last_number": select(func.max(deployments.c.number)).where(_OF_PHONE).scalar_subquery(),
    "last_drill": func.coalesce(
        select(drills.c.result)
        .where(
            drills.c.mac == bindparam("mac"), or_(*(drills.c.result == one.value for one in KNOWN))
        )
        .order_by(drills.c.created_at.desc(), drills.c.uuid.desc())
        .limit(1)
        .scalar_subquery(),
        "none",
    ),
}
"""A MAC may have deployments and drills before it is in the inventory: from a phone that was
deleted."""

_states = func.coalesce(
    select(phone_states.c.states).where(phone_states.c.mac == phones.c.mac).scalar_subquery(),
    '["never_seen"]',
)
_left_on, _left_user = current_deployments.alias("left_on"), users.alias("left_user")
HAS_USER = exists().where(
    _left_user.c.uuid == _left_on.c.owner_uuid, _left_user.c.is_active.is_(True)
)
LEFT_ON = _left_on
"""The current deployment of a phone, of which ``HAS_USER`` says whether its account is active."""
_left_desk, _emptied = desks.alias("left_desk"), deployments.alias("emptied")
_still_runs = exists().where(
    _left_desk.c.mac == _left_on.c.mac,
    _left_desk.c.left_user_uuid.is_not(None),
    ~exists().where(_left_user.c.uuid == _left_desk.c.left_user_uuid, _left_user.c.is_active),
)
_is_emptied = exists().where(_emptied.c.uuid == _left_on.c.uuid, _emptied.c.template_name == EMPTY)
HAS_LEFT = or_(_still_runs, and_(~HAS_USER, ~_is_emptied))
"""That account is not active, or the phone was not restarted since it had the configuration of such
an account. An empty configuration has nothing of its account."""
IS_LEFT = and_(
    phones.c.is_active.is_(True),
    exists().where(
        _left_on.c.mac == phones.c.mac, _left_on.c.created_at >= phones.c.created_at, HAS_LEFT
    ),
)
"""The phone has the configuration of an account that is inactive or was deleted."""
_CHANGED = (FleetState.USER_INACTIVE.value, FleetState.FINE.value)
_only_state = bindparam("only_state", type_=Text())
_HAS_STATE = case(
    (and_(or_(*(_only_state == one for one in _CHANGED)), IS_LEFT), _only_state == _CHANGED[0]),
    else_=_states.like(literal('%"') + _only_state + literal('"%')),
)


def _worst(state: ColumnElement[Any]) -> ColumnElement[Any]:
    """The worst state of a phone whose worst observed state this is."""
    less = [FleetState.UNREGISTERED, FleetState.FILE_CHANGED, FleetState.FINE]
    is_less = or_(state.is_(None), *(state == one.value for one in less))
    return case((and_(is_less, IS_LEFT), FleetState.USER_INACTIVE.value), else_=state)


_USED = select(desks.c.mac).where(desks.c.user_uuid == bindparam("only_user_uuid"))
_IN_USE = select(desks.c.mac).where(desks.c.user_uuid.is_not(None))


def _people(first: ColumnElement[Any], line: ColumnElement[Any]) -> Select[Any]:
    """The phones of the users who are named like this or have an extension like this, and of the
    desks with such a number."""

    who = named_users(first, line).subquery()
    return select(
        union_all(
            select(desks.c.mac).where(desks.c.user_uuid.in_(select(who))),
            select(current_deployments.c.mac).where(
                current_deployments.c.owner_uuid.in_(select(who))
            ),
            select(desks.c.mac).where(
                desks.c.extension_uuid.in_(
                    select(extensions.c.uuid).where(named(extensions, first, line))
                )
            ),
        ).subquery()
    )


_newest, _current = deployments.alias("newest"), deployments.alias("current")
_default = profiles.alias("default_profile")
_SUMMARY = (
    select(
        phones.c.mac,
        phones.c.last_outcome,
        _newest.c.created_at,
        _newest.c.confirmation,
        _current.c.profile_uuid,
        _current.c.profile_name,
        desks.c.user_uuid,
        users.c.username,
        desks.c.since,
        func.coalesce(desks.c.hotdesk, true()),
        desks.c.default_profile_uuid,
        _default.c.name,
        _worst(phone_states.c.state),
        phone_states.c.seen_at,
    )
    .select_from(
        phones.outerjoin(
            _newest, and_(_newest.c.mac == phones.c.mac, _newest.c.number == phones.c.last_number)
        )
        .outerjoin(current_deployments, current_deployments.c.mac == phones.c.mac)
        .outerjoin(_current, _current.c.uuid == current_deployments.c.uuid)
        .outerjoin(desks, desks.c.mac == phones.c.mac)
        .outerjoin(users, users.c.uuid == desks.c.user_uuid)
        .outerjoin(_default, _default.c.uuid == desks.c.default_profile_uuid)
        .outerjoin(phone_states, phone_states.c.mac == phones.c.mac)
    )
    .where(phones.c.mac.in_(select(_MACS.c.value)))
)


# Names of their own: the subquery of a filter would take the joined table for its own.
_on, _desk, _there, _seen = (
    table.alias(f"sort_{table.name}") for table in (current_deployments, desks, users, phone_states)
)
_on_phones = phones.outerjoin(_on, _on.c.mac == phones.c.mac)
_at_phones = phones.outerjoin(_desk, _desk.c.mac == phones.c.mac).outerjoin(
    _there, _there.c.uuid == _desk.c.user_uuid
)
_observed = phones.outerjoin(_seen, _seen.c.mac == phones.c.mac)
_ORDERS = {
    "username": (_there.c.username, _at_phones),
    "profile_name": (_on.c.profile_name, _on_phones),
    "state": (_worst(_seen.c.state), _observed),
    "seen_at": (_seen.c.seen_at, _observed),
    "number": number_of_phone(),
}


@cache
def _counts(field: str, *, active_only: bool) -> Select[Any]:
    column = phones.c[field]
    counts = select(column, func.count()).group_by(column)
    return counts.where(phones.c.is_active.is_(True)) if active_only else counts


class SqlPhones(SqlSearchedStore[Phone], PhoneStore):
    """Phones, by MAC."""

    records = Records(
        Phone,
        phones,
        one_name="phone",
        search=PHONE_FIELDS,
        conditions={
            "user_uuid": phones.c.mac.in_(_USED),
            "state": and_(phones.c.is_active.is_(True), _HAS_STATE),
            "in_use": phones.c.mac.in_(_IN_USE) == bindparam("only_in_use", type_=Boolean()),
            "number": phones.c.mac.in_(phones_with_number()),
        },
        derived={**_LAST, **WITHOUT_NOTE},
        people=_people,
        orders=_ORDERS,
    )

    async def unknown(self, macs: Sequence[str]) -> list[str]:
        unknown = set(await self._all(str, _UNKNOWN, macs=json_text(macs)))
        return [mac for mac in macs if mac in unknown]

    async def counts(self, field: str, *, active_only: bool = False) -> dict[str | None, int]:
        rows = await self._connection.fetch_all(_counts(field, active_only=active_only))
        return {row[0]: row[1] for row in rows}

    async def uses(self, macs: Sequence[str]) -> dict[str, PhoneUse]:
        found = await self._connection.fetch_all(_SUMMARY, macs=json_text(macs))
        return {row[0]: PhoneUse(*row[1:]) for row in found}


_TABLES = {"phone": (phones, phones.c.mac), "user": (users, users.c.uuid)}
_NOTE = {
    kind: select(table.c.note).where(key == bindparam("key"))
    for kind, (table, key) in _TABLES.items()
}
_PUT_NOTE = {
    kind: update(table)
    .where(key == bindparam("the_key"))
    .values({"note": bindparam("the_note"), NOTED: bindparam("the_text")})
    for kind, (table, key) in _TABLES.items()
}


class SqlNotes(SqlQueries, NoteStore):
    """Notes, in a column of the table of their record."""

    async def of(self, kind: Kind, key: str) -> str | None:
        return await self._one(lambda note: note, _NOTE[kind], key=key)

    async def put(self, kind: Kind, key: str, note: str | None) -> None:
        values = {"the_note": note, "the_text": NOTE_FIELDS.text(Note(note))}
        await self._connection.execute(_PUT_NOTE[kind], the_key=key, **values)


_PUT_REPLACEMENT = upsert(replacements, ["mac"], "earlier", "created_at")
_SUCCESSOR = (
    select(replacements.c.mac)
    .join(phones, phones.c.mac == replacements.c.mac)
    .where(replacements.c.earlier == bindparam("earlier"))
    .order_by(replacements.c.created_at.desc())
    .limit(1)
)
_first = select(replacements.c.earlier).where(replacements.c.mac == bindparam("mac"))
_chain = _first.cte("chain", recursive=True)
# ``UNION`` adds no row twice: a chain may be a circle.
_chain = _chain.union(select(replacements.c.earlier).where(replacements.c.mac == _chain.c.earlier))
_EARLIER = select(_chain.c.earlier).where(_chain.c.earlier != bindparam("mac")).order_by("earlier")


class SqlReplacements(SqlQueries, ReplacementStore):
    """Which phone took the place of which."""

    async def put(self, replacement: Replacement) -> None:
        await self._connection.execute(_PUT_REPLACEMENT, **msgspec.structs.asdict(replacement))

    async def successor(self, mac: str) -> str | None:
        return await self._one(str, _SUCCESSOR, earlier=mac)

    async def earlier(self, mac: str) -> list[str]:
        return await self._all(str, _EARLIER, mac=mac)


_KEYS = json_items(bindparam("keys", type_=Text())).table_valued("value")
_NAMED = select(*LOCATIONS.fields.columns).where(locations.c.name_key.in_(select(_KEYS.c.value)))


class SqlLocations(SqlStore[Location], LocationStore):
    """Locations, with the comparable forms of their names."""

    records = LOCATIONS

    def _row_of(self, entity: Location) -> dict[str, Any]:
        return {**super()._row_of(entity), "name_key": location_key(entity.name)}

    async def named(self, keys: Sequence[str]) -> list[Location]:
        rows = await self._connection.fetch_all(_NAMED, keys=json_text(keys))
        return [self._entity_of(row) for row in rows]
