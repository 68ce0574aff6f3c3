"""The audit trail in SQL. Entries are added and read, and never changed."""

from functools import cache
from typing import Any

import msgspec
from sqlalchemy import (
    ColumnElement,
    Select,
    bindparam,
    insert,
    literal,
    select,
    text,
    tuple_,
    union_all,
)

from phoneprov_adapters.runtime.tasks import ordered_id, system_clock
from phoneprov_adapters.sql.engines.connection import Row
from phoneprov_adapters.sql.engines.statements import Statement, page
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables.people import audit, newest_by_kind
from phoneprov_core.kernel.actor import current_origin
from phoneprov_core.kernel.ports import Clock
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.audit import AuditEntry, AuditStore, TracedEntry, WantedEntries
from phoneprov_core.people.audit_entries import entries

_NAMES = AuditEntry.__struct_fields__
_COLUMNS = [audit.c[name] for name in (*_NAMES, "traceparent")]
ADD_ENTRY = insert(audit).values({c.name: bindparam(f"entry_{c.name}") for c in audit.c})
"""Its parameters begin with ``entry_``. On PostgreSQL it is combined with any other statement,
whose parameters are named like columns."""
_FIND = select(*_COLUMNS).where(audit.c.uuid == bindparam("uuid"))
_PERIOD = {"since": audit.c.at >= bindparam("since"), "until": audit.c.at < bindparam("until")}
_OWNERS = ("actor_uuid", "resource_id")
_KIND = ("resource", "action")
_FILTERS = (*_PERIOD, *_OWNERS, *_KIND)


@cache
def _newest(names: frozenset[str], kinds: int, *, after: bool) -> Select[Any]:
    """A page of the entries of that many kinds; of all kinds if it is 0. Both databases merge lists
    that are in the order of an index, and read no more than a page: PostgreSQL, if each list has
    its limit; SQLite, if none has."""
    owners = [name for name in _OWNERS if name in names]
    place, order = (audit.c.at, audit.c.uuid), (audit.c.at.desc(), audit.c.uuid.desc())
    conditions = [_PERIOD[name] for name in _PERIOD if name in names]
    conditions += [audit.c[name] == bindparam(name) for name in owners]
    if not kinds:
        rows = select(*_COLUMNS).where(*conditions)
        return page(rows, place, after=after, newest_first=True)
    if after:
        conditions.append(tuple_(*place) < tuple_(bindparam("after_time"), bindparam("after_key")))
    limited = text(f"ORDER BY {newest_by_kind(len(owners))} LIMIT :limit")
    lists = (
        select(*place)
        .where(*conditions, *(audit.c[name] == bindparam(f"{name}_{kind}") for name in _KIND))
        .suffix_with(limited, dialect="postgresql")
        .subquery()
        for kind in range(kinds)
    )
    found = (
        select(union_all(*map(select, lists)).subquery())
        .suffix_with(limited, dialect="postgresql")
        .suffix_with(text("ORDER BY at DESC, uuid DESC LIMIT :limit"), dialect="sqlite")
        .subquery()
    )
    return select(*_COLUMNS).join(found, found.c.uuid == audit.c.uuid).order_by(*order)


@cache
def _kinds(names: frozenset[str]) -> Statement:
    """The kinds of entries: resource and action. The index is searched once for each of them."""
    owners = [name for name in _OWNERS if name in names]
    one = audit.alias("one")
    owned = [one.c[name] == bindparam(name) for name in owners]

    def after(*place: ColumnElement[str]) -> Select[Any]:
        # PostgreSQL considers no other index than one in the order of all of these columns.
        order = [audit.c[name] for name in (*owners, *_KIND)]
        place = (*(bindparam(name) for name in owners), *place)
        uuids = select(audit.c.uuid).where(tuple_(*order) > tuple_(*place)).order_by(*order)
        is_first = one.c.uuid == uuids.limit(1).scalar_subquery()
        return select(*(one.c[name] for name in _KIND)).where(is_first, *owned)

    kinds = after(*(literal("", audit.c[name].type) for name in _KIND)).cte("kinds", recursive=True)
    # SQLite finds the place of several texts by an index, but not of several columns, and reads on
    # from entries of the same place: "!" is before all characters of an action.
    later = after(kinds.c.resource + "", kinds.c.action + "!").select_from(kinds)
    return select(kinds.union_all(later))


class SqlAudit(SqlQueries, AuditStore):
    """Audit entries, by uuid."""

    async def add(self, entry: TracedEntry) -> None:
        await self._connection.execute(ADD_ENTRY, **_row_of(entry))

    def of_trail(self, clock: Clock | None = None) -> list[dict[str, Any]]:
        """The entries of this transaction, as parameters of ``ADD_ENTRY``; at the time of the
        system without a ``clock``."""
        trail = self._connection.trail
        if not trail.records:
            return []
        now, origin = timestamp((clock or system_clock)()), current_origin()
        made = entries(trail, new_id=ordered_id, now=now, origin=origin)
        return [_row_of(entry) for entry in made]

    async def find(self, uuid: str) -> TracedEntry | None:
        return await self._one(_entry, _FIND, uuid=uuid) if uuid else None

    async def newest(
        self, wanted: WantedEntries, limit: int, *, before: AuditEntry | None = None
    ) -> list[TracedEntry]:
        values = {name: value for name in _FILTERS if (value := getattr(wanted, name)) is not None}
        kinds = await self._kinds_of(values)
        if kinds == []:
            return []
        kinds = kinds or []
        if kinds:  # Few statements: for 1, 2, 4, 8... kinds, of which some do not exist.
            kinds += [("", "")] * ((1 << (len(kinds) - 1).bit_length()) - len(kinds))
        statement = _newest(frozenset(values), len(kinds), after=before is not None)
        for number, kind in enumerate(kinds):
            values |= {f"{name}_{number}": one for name, one in zip(_KIND, kind, strict=True)}
        if before is not None:
            values |= {"after_time": before.at, "after_key": before.uuid}
        return await self._all(_entry, statement, **values, limit=limit, offset=0)

    async def _kinds_of(self, values: dict[str, Any]) -> list[Row] | None:
        """The kinds of the entries that these filters can match; None for all."""
        owners = {name: values[name] for name in _OWNERS if name in values}
        kind = [values.pop(name, None) for name in _KIND]
        if not owners and not any(kind):
            return None
        if None not in kind:
            return [kind]
        kinds = await self._connection.fetch_all(_kinds(frozenset(owners)), **owners)
        return [
            one
            for one in kinds
            if all(part in {None, wanted} for part, wanted in zip(kind, one, strict=True))
        ]


# By hand, because every change writes an entry.
def _row_of(entry: TracedEntry) -> dict[str, Any]:
    row: dict[str, Any] = {f"entry_{name}": getattr(entry.entry, name) for name in _NAMES}
    row["entry_changes"] = msgspec.json.encode(entry.entry.changes).decode()
    row["entry_traceparent"] = entry.traceparent
    return row


def _entry(*row: Any) -> TracedEntry:
    *plain, changes, traceparent = row
    fields = dict(zip(_NAMES, plain, strict=False))
    return TracedEntry(AuditEntry(**fields, changes=msgspec.json.decode(changes)), traceparent)
