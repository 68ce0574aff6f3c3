"""Records around an earlier moment in SQL."""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    and_,
    bindparam,
    func,
    literal,
    literal_column,
    select,
)

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import Statement, json_items, like
from phoneprov_adapters.sql.stores.features.desks import DESK
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables.fields import Fields, json_text
from phoneprov_adapters.sql.tables.fleet import phone_state_changes as states
from phoneprov_adapters.sql.tables.inventory import extensions, phones, user_extensions
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
    """Phones around the moment. The uuid of each record that is needed is looked up by an index;
    the records are joined to these."""
    known = (
        [phones.c.mac == bindparam("mac")]
        if one
        else [phones.c.mac > bindparam("after", type_=Text())]
    )
    gone = (
        [audit.c.resource_id == bindparam("mac")]
        if one
        else [audit.c.resource_id > bindparam("after", type_=Text())]
    )
    macs = (
        select(phones.c.mac)
        .where(*known)
        .union(
            select(audit.c.resource_id).where(
                *gone,
                audit.c.resource == literal("phone"),
                audit.c.action == literal("phone.deleted"),
                audit.c.at > _AT,
            )
        )
        .subquery("macs")
    )
    piece = select(macs.c.mac).order_by(macs.c.mac).limit(bindparam("limit")).subquery("piece")
    mac = piece.c.mac
    of_phone = deployments.c.mac == mac
    begun = (
        select(deployments.c.uuid)
        .where(
            of_phone,
            deployments.c.created_at <= _AT,
            deployments.c.outcome != Outcome.FAILED.value,
        )
        .order_by(deployments.c.created_at.desc(), deployments.c.number.desc())
        .limit(1)
    )
    owned = begun.where(deployments.c.place.is_not(None), deployments.c.ended_at <= _AT)
    placed = owned.where(deployments.c.outcome != Outcome.UNKNOWN.value)

    def first(field: str) -> Select[Any]:
        changes = select(audit.c.uuid).where(
            *_changed(mac, "desk", "updated", "deleted"),
            like(audit.c.changes, literal(f'%{field}":%')),
        )
        return changes.order_by(audit.c.at, audit.c.uuid).limit(1)

    state = (
        select(states.c.uuid)
        .where(states.c.mac == mac, states.c.at <= _AT)
        .order_by(states.c.at.desc(), states.c.uuid.desc())
        .limit(1)
    )
    keys = select(
        mac,
        *(
            one.scalar_subquery().label(name)
            for name, one in {
                "begun": begun,
                "placed": placed,
                "owned": owned,
                "used": first("user_uuid"),
                "numbered": first("extension_uuid"),
                "state": state,
            }.items()
        ),
    ).subquery("keys")
    last, had, used, numbered = (
        deployments.alias("last"),
        deployments.alias("had"),
        audit.alias("used"),
        audit.alias("numbered"),
    )
    return (
        select(
            keys.c.mac,
            *_PHONE.columns,
            *DESK.columns,
            *(deployments.c[name] for name in _PLACED),
            *(last.c[name] for name in Begun.__struct_fields__),
            *(had.c.owner_uuid, had.c.created_at),
            *(of.c[name] for of in (used, numbered) for name in _CHANGE),
            states.c.state,
            states.c.at,
        )
        .select_from(
            keys.outerjoin(phones, phones.c.mac == keys.c.mac)
            .outerjoin(desks, desks.c.mac == keys.c.mac)
            .outerjoin(deployments, deployments.c.uuid == keys.c.placed)
            .outerjoin(last, last.c.uuid == keys.c.begun)
            .outerjoin(had, had.c.uuid == keys.c.owned)
            .outerjoin(used, used.c.uuid == keys.c.used)
            .outerjoin(numbered, numbered.c.uuid == keys.c.numbered)
            .outerjoin(states, states.c.uuid == keys.c.state)
        )
        .order_by(keys.c.mac)
    )


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


@cache
def _changes(kind: str, *, given: bool) -> Select[Any]:
    columns = [audit.c[name] for name in _CHANGE]
    order = (audit.c.at.desc(), audit.c.uuid.desc())
    if given:
        of = _GIVEN.join(audit, and_(*_changed(_GIVEN.c.value, kind, *_VERBS)))
        return select(*columns).select_from(of).order_by(*order)
    return (
        select(*columns)
        .where(
            audit.c.resource == literal(kind),
            _is_in(audit.c.action, *(f"{kind}.{verb}" for verb in _VERBS)),
            audit.c.at > _AT,
        )
        .order_by(*order)
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
        box = self._connection.box
        phone, row = _PHONE.first(row, box)
        desk, row = DESK.first(row, box)
        size = len(_PLACED)
        placed, row = _placed(row[:size]), row[size:]
        size = len(Begun.__struct_fields__)
        begun, row = _begun(*row[:size]), row[size:]
        owner, row = None if row[0] is None else (row[0], row[1]), row[2:]
        size = len(_CHANGE)
        used, numbered = _change(*row[:size]), _change(*row[size : 2 * size])
        state, since = row[2 * size :]
        return PastRow(
            mac,
            phone,
            desk,
            placed,
            begun,
            owner,
            used,
            numbered,
            None if state is None else _STATES[state],
            since,
        )

    async def changes(
        self, resource: str, since: str, keys: Sequence[str] | None = None
    ) -> list[PastChange]:
        values = {} if keys is None else {"keys": json_text(list(keys))}
        rows = await self._connection.fetch_all(
            _changes(resource, given=keys is not None), at=since, **values
        )
        return [change for row in rows if (change := _change(*row))]

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


def _placed(row: Sequence[Any]) -> Placed | None:
    if row[0] is None:
        return None
    values = [*row]
    used_by, numbers = values[-2:]
    values[-2] = None if used_by is None else msgspec.json.decode(used_by, type=EarlierUse)
    values[-1] = None if numbers is None else tuple(msgspec.json.decode(numbers))
    return Placed(*values)


def _begun(uuid: str | None, created_at: str, outcome: str, ended_at: str | None) -> Begun | None:
    return None if uuid is None else Begun(uuid, created_at, _OUTCOMES[outcome], ended_at)


def _change(key: str | None, action: str, at: str, changes: str) -> PastChange | None:
    if key is None:
        return None
    return PastChange(key, action.rpartition(".")[2], at, msgspec.json.decode(changes))


class HistoryStores:
    """The store of earlier moments."""

    _connection: Connection

    history = cached_property(lambda self: SqlHistory(self._connection))
