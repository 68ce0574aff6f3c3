"""Records around an earlier moment in SQL."""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    exists,
    func,
    literal,
    literal_column,
    null,
    select,
    union_all,
)

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import (
    Statement,
    json_items,
    json_list,
    like,
    user_of_change,
)
from phoneprov_adapters.sql.stores.features.desks import DESK
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables.columns import Fields, json_text
from phoneprov_adapters.sql.tables.inventory import (
    extensions,
    phone_state_changes as states,
    phones,
    user_extensions,
)
from phoneprov_adapters.sql.tables.people import audit, users
from phoneprov_adapters.sql.tables.switching import deployments, desks
from phoneprov_core.features.desks.records import EarlierUse
from phoneprov_core.features.fleet.states import FleetState
from phoneprov_core.features.history.model import (
    Begun,
    Fields as RecordFields,
    HistoryStore,
    PastChange,
    PastRow,
    Placed,
)
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.switching.deployments.model import Outcome
from phoneprov_core.switching.deployments.order import OF_DESKS

_AT: ColumnElement[str] = bindparam("at", type_=Text())
_PHONE = Fields(Phone, phones)


def _is_in(column: ColumnElement[Any], *words: str) -> ColumnElement[bool]:
    """Whether the value is one of these words, which an index finds."""
    return column.in_([literal_column(f"'{word}'") for word in words])


def _changed(
    resource: ColumnElement[str], kind: str, *verbs: str
) -> tuple[ColumnElement[bool], ...]:
    """The changes of a record after the moment."""
    return (
        audit.c.resource_id == resource,
        audit.c.resource == literal(kind),
        _is_in(audit.c.action, *(f"{kind}.{verb}" for verb in verbs)),
        audit.c.at > _AT,
    )


@cache
def _rows(*, one: bool) -> Select[Any]:
    """Phones around the moment. Beside each phone are the other records that are needed, each in
    JSON and found by an index: with joins PostgreSQL would read whole tables for each page."""
    limit: ColumnElement[int] = bindparam("limit", type_=BigInteger())
    after = bindparam("after", type_=Text())

    def chosen(key: ColumnElement[str]) -> ColumnElement[bool]:
        return key == bindparam("mac") if one else key > after

    known = select(*_PHONE.columns).where(chosen(phones.c.mac)).order_by(phones.c.mac)
    nothing = [cast(null(), one.type).label(one.name) for one in _PHONE.columns]
    gone = (
        select(audit.c.resource_id.label("key"), *nothing)
        .where(
            chosen(audit.c.resource_id),
            audit.c.resource == literal("phone"),
            audit.c.action == literal("phone.deleted"),
            audit.c.at > _AT,
            ~exists().where(phones.c.mac == audit.c.resource_id),
        )
        .distinct()
        .order_by(audit.c.resource_id)
    )
    of_phones = known.limit(limit).subquery("known")
    both = union_all(
        select(of_phones.c.mac.label("key"), *of_phones.c), select(gone.limit(limit).subquery())
    ).subquery("both")
    piece = select(both).order_by(both.c.key).limit(limit).subquery("piece")
    mac = piece.c.key
    begun = (
        select(json_list(*(deployments.c[name] for name in Begun.__struct_fields__)))
        .where(
            deployments.c.mac == mac,
            deployments.c.created_at <= _AT,
            deployments.c.outcome != Outcome.FAILED.value,
        )
        .order_by(deployments.c.created_at.desc(), deployments.c.number.desc())
        .limit(1)
    )
    in_place = begun.where(deployments.c.place.is_not(None), deployments.c.ended_at <= _AT)

    def of(*columns: ColumnElement[Any]) -> Select[Any]:
        return in_place.with_only_columns(json_list(*columns))

    def first(field: str) -> Select[Any]:
        return (
            select(json_list(*(audit.c[name] for name in _CHANGE)))
            .where(
                *_changed(mac, "desk", "updated", "deleted"),
                like(audit.c.changes, literal(f'%{field}":%')),
            )
            .order_by(audit.c.at, audit.c.uuid)
            .limit(1)
        )

    records = (
        select(json_list(*DESK.columns)).where(desks.c.mac == mac),
        of(*(deployments.c[name] for name in _PLACED)).where(
            deployments.c.outcome != Outcome.UNKNOWN.value
        ),
        begun,
        of(deployments.c.owner_uuid, deployments.c.created_at),
        first("user_uuid"),
        first("extension_uuid"),
        select(json_list(states.c.state, states.c.at))
        .where(states.c.mac == mac, states.c.at <= _AT)
        .order_by(states.c.at.desc(), states.c.uuid.desc())
        .limit(1),
    )
    return select(*piece.c, *(record.scalar_subquery() for record in records)).order_by(mac)


_PLACED = Placed.__struct_fields__
_CHANGE = ("resource_id", "action", "at", "changes")
_GIVEN = json_items(bindparam("keys", type_=Text())).table_valued("value")
_OLDEST: Statement = select(func.min(audit.c.at))
_PRUNED: Statement = select(audit.c.changes).where(
    _is_in(audit.c.resource_id, "deployments", "states"),
    audit.c.resource == literal("retention"),
    audit.c.action == literal("retention.pruned"),
    # What was removed before the moment was older than it.
    audit.c.at > _AT,
)
_CHANGED_HANDS: Statement = (
    select(deployments.c.uuid)
    .where(
        deployments.c.mac == bindparam("mac"),
        deployments.c.number > bindparam("number"),
        deployments.c.place.is_not(None),
        _is_in(deployments.c.action, *(one.value for one in OF_DESKS)),
    )
    .limit(1)
)
# A lookup is faster than the constructor of an enumeration.
_OUTCOMES = {one.value: one for one in Outcome}
_STATES = {one.value: one for one in FleetState}
_VERBS = ("created", "updated", "deleted")


_NEWEST_FIRST = (audit.c.at.desc(), audit.c.uuid.desc())


@cache
def _changes(kind: str) -> Select[Any]:
    of = _GIVEN.join(audit, and_(*_changed(_GIVEN.c.value, kind, *_VERBS)))
    columns = [audit.c[name] for name in _CHANGE]
    return select(*columns).select_from(of).order_by(*_NEWEST_FIRST)


_LINK_CHANGES: Statement = (
    select(*(audit.c[name] for name in _CHANGE))
    .where(
        audit.c.resource == literal("link"),
        _is_in(audit.c.action, "link.created", "link.deleted"),
        audit.c.at > _AT,
        user_of_change(audit.c.changes).in_(select(_GIVEN.c.value)),
    )
    .order_by(*_NEWEST_FIRST)
)


def _named(key: ColumnElement[str], *columns: ColumnElement[Any]) -> Select[Any]:
    given = select(_GIVEN.c.value)
    return select(key.table.c.uuid, *columns).where(key.in_(given))


_USERS = _named(users.c.uuid, users.c.username, users.c.is_active)
_EXTENSIONS = _named(
    extensions.c.uuid, extensions.c.extension, extensions.c.type, extensions.c.is_active
)
_LINKS = _named(
    user_extensions.c.user_uuid,
    user_extensions.c.user_uuid,
    user_extensions.c.extension_uuid,
    user_extensions.c.created_at,
)


class SqlHistory(SqlQueries, HistoryStore):
    """Records around an earlier moment."""

    async def oldest(self, at: str) -> str | None:
        (row,) = await self._connection.fetch_all(_OLDEST)
        moments = [row[0]] if row[0] else []
        for (changes,) in await self._connection.fetch_all(_PRUNED, at=at):
            moments.append(msgspec.json.decode(changes)["before"]["new"])
        return max(moments, default=None)

    async def phones(
        self, at: str, *, after: str = "", limit: int = 1, mac: str | None = None
    ) -> list[PastRow]:
        values = {"after": after} if mac is None else {"mac": mac}
        statement = _rows(one=mac is not None)
        rows = await self._connection.fetch_all(statement, at=at, limit=limit, **values)
        return [self._row(*row) for row in rows]

    def _row(self, mac: str, *row: Any) -> PastRow:
        phone, texts = _PHONE.first(row, self._connection.box)
        desk, placed, begun, owner, used, numbered, state = map(_values, texts)
        return PastRow(
            mac,
            phone,
            None if desk is None else DESK.read(desk, self._connection.box),
            _placed(placed),
            None if begun is None else _begun(*begun),
            None if owner is None else (owner[0], owner[1]),
            None if used is None else _change(*used),
            None if numbered is None else _change(*numbered),
            *((_STATES[state[0]], state[1]) if state else ()),
        )

    async def changes(self, resource: str, since: str, keys: Sequence[str]) -> list[PastChange]:
        return await self._changes(_changes(resource), since, keys)

    async def link_changes(self, since: str, users: Sequence[str]) -> list[PastChange]:
        return await self._changes(_LINK_CHANGES, since, users)

    async def _changes(
        self, statement: Statement, since: str, keys: Sequence[str]
    ) -> list[PastChange]:
        rows = await self._connection.fetch_all(statement, at=since, keys=json_text(list(keys)))
        return [_change(*row) for row in rows]

    async def changed_hands(self, mac: str, number: int) -> bool:
        values = {"mac": mac, "number": number}
        return await self._connection.fetch_one(_CHANGED_HANDS, **values) is not None

    async def users(self, uuids: Sequence[str]) -> dict[str, RecordFields]:
        return await self._fields(_USERS, ("username", "is_active"), uuids)

    async def extensions(self, uuids: Sequence[str]) -> dict[str, RecordFields]:
        return await self._fields(_EXTENSIONS, ("extension", "type", "is_active"), uuids)

    async def links(self, users: Sequence[str]) -> dict[str, RecordFields]:
        return await self._fields(_LINKS, ("user_uuid", "extension_uuid", "created_at"), users)

    async def _fields(
        self, statement: Statement, names: Sequence[str], keys: Sequence[str]
    ) -> dict[str, RecordFields]:
        rows = await self._connection.fetch_all(statement, keys=json_text(list(keys)))
        return {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}


def _values(text: str | None) -> list[Any] | None:
    return None if text is None else msgspec.json.decode(text)


def _placed(values: list[Any] | None) -> Placed | None:
    if values is None:
        return None
    *plain, used_by, numbers = values
    fields: list[Any] = [
        *plain,
        None if used_by is None else msgspec.json.decode(used_by, type=EarlierUse),
        None if numbers is None else tuple(msgspec.json.decode(numbers)),
    ]
    return Placed(*fields)


def _begun(uuid: str, created_at: str, outcome: str, ended_at: str | None) -> Begun:
    return Begun(uuid, created_at, _OUTCOMES[outcome], ended_at)


def _change(key: str, action: str, at: str, changes: str) -> PastChange:
    return PastChange(key, action.rpartition(".")[2], at, msgspec.json.decode(changes))


class HistoryStores:
    """The store of earlier moments."""

    _connection: Connection

    history = cached_property(lambda self: SqlHistory(self._connection))
