"""The audit trail in SQL. Entries are added and read, and never changed."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec
from sqlalchemy import bindparam, insert, select

from phoneprov_adapters.runtime.system import ordered_id, system_clock
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement, page
from phoneprov_adapters.sql.tables import audit
from phoneprov_core.audit.entries import entries
from phoneprov_core.audit.model import AuditEntry, TracedEntry, WantedEntries
from phoneprov_core.audit.ports import AuditStore
from phoneprov_core.kernel.origin import current_origin
from phoneprov_core.kernel.times import shown

_NAMES = AuditEntry.__struct_fields__
_COLUMNS = [audit.c[name] for name in (*_NAMES, "traceparent")]
_POSITION = (audit.c.at, audit.c.uuid)
_ADD = insert(audit)
_FIND = select(*_COLUMNS).where(audit.c.uuid == bindparam("uuid"))
_CONDITIONS = {
    "since": audit.c.at >= bindparam("since"),
    "until": audit.c.at < bindparam("until"),
    **{
        name: audit.c[name] == bindparam(name)
        for name in ("actor_uuid", "action", "resource", "resource_id")
    },
}


@cache
def _newest(names: frozenset[str], *, after: bool) -> Statement:
    rows = select(*_COLUMNS).where(*(_CONDITIONS[name] for name in sorted(names)))
    return page(rows, _POSITION, after=after, newest_first=True)


class SqlAudit(AuditStore):
    """Audit entries, by uuid."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, entry: TracedEntry) -> None:
        row: dict[str, Any] = {name: getattr(entry.entry, name) for name in _NAMES}
        row["changes"] = msgspec.json.encode(entry.entry.changes).decode()
        row["traceparent"] = entry.traceparent
        await self._connection.soon(_ADD, **row)

    async def add_trail(self) -> None:
        """Add the entries of this transaction: the last step before it commits."""
        trail = self._connection.trail
        if trail.records:
            now, origin = shown(system_clock()), current_origin()
            for entry in entries(trail, new_id=ordered_id, now=now, origin=origin):
                await self.add(entry)

    async def find(self, uuid: str) -> TracedEntry | None:
        row = await self._connection.row(_FIND, uuid=uuid) if uuid else None
        return None if row is None else _entry(row)

    async def newest(
        self, wanted: WantedEntries, limit: int, *, before: AuditEntry | None = None
    ) -> list[TracedEntry]:
        values = {
            name: value for name in _CONDITIONS if (value := getattr(wanted, name)) is not None
        }
        statement = _newest(frozenset(values), after=before is not None)
        values |= {"limit": limit, "offset": 0}
        if before is not None:
            values |= {"after_time": before.at, "after_key": before.uuid}
        return [_entry(row) for row in await self._connection.rows(statement, **values)]


def _entry(row: Row) -> TracedEntry:
    *plain, changes, traceparent = row
    fields = dict(zip(_NAMES, plain, strict=False))
    return TracedEntry(AuditEntry(**fields, changes=msgspec.json.decode(changes)), traceparent)
