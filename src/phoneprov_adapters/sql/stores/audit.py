"""The audit trail in SQL. Entries are added and read, and never changed."""

from functools import cache
from typing import Any

import msgspec
from sqlalchemy import bindparam, insert, select

from phoneprov_adapters.runtime.system import ordered_id, system_clock
from phoneprov_adapters.sql.engines.connection import Row
from phoneprov_adapters.sql.engines.statements import Query
from phoneprov_adapters.sql.stores.store import SqlNewestRows, SqlQueries
from phoneprov_adapters.sql.tables.accounts import audit
from phoneprov_core.audit.entries import entries
from phoneprov_core.audit.model import AuditEntry, TracedEntry, WantedEntries
from phoneprov_core.audit.ports import AuditStore
from phoneprov_core.kernel.actor import current_origin
from phoneprov_core.kernel.system import shown

_NAMES = AuditEntry.__struct_fields__
_COLUMNS = [audit.c[name] for name in (*_NAMES, "traceparent")]
ADD_ENTRY = insert(audit).values({c.name: bindparam(f"entry_{c.name}") for c in audit.c})
"""Its parameters are those of no other statement."""
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
def _matching(names: frozenset[str]) -> Query:
    rows = select(*_COLUMNS).where(*(_CONDITIONS[name] for name in sorted(names)))
    return Query(rows, (audit.c.at, audit.c.uuid))


class SqlAudit(SqlQueries, AuditStore):
    """Audit entries, by uuid."""

    async def add(self, entry: TracedEntry) -> None:
        await self._connection.execute(ADD_ENTRY, **_row_of(entry))

    def of_trail(self) -> list[dict[str, Any]]:
        """The entries of this transaction, as parameters of ``ADD_ENTRY``."""
        trail = self._connection.trail
        if not trail.records:
            return []
        now, origin = shown(system_clock()), current_origin()
        made = entries(trail, new_id=ordered_id, now=now, origin=origin)
        return [_row_of(entry) for entry in made]

    async def find(self, uuid: str) -> TracedEntry | None:
        row = await self._connection.fetch_one(_FIND, uuid=uuid) if uuid else None
        return None if row is None else _entry(row)

    async def newest(
        self, wanted: WantedEntries, limit: int, *, before: AuditEntry | None = None
    ) -> list[TracedEntry]:
        values = {
            name: value for name in _CONDITIONS if (value := getattr(wanted, name)) is not None
        }
        found: SqlNewestRows[Any] = SqlNewestRows(
            self._connection, _matching(frozenset(values)), _entry, **values
        )
        return await found.newest(limit, before=before)


def _row_of(entry: TracedEntry) -> dict[str, Any]:
    row: dict[str, Any] = {f"entry_{name}": getattr(entry.entry, name) for name in _NAMES}
    row["entry_changes"] = msgspec.json.encode(entry.entry.changes).decode()
    row["entry_traceparent"] = entry.traceparent
    return row


def _entry(row: Row) -> TracedEntry:
    *plain, changes, traceparent = row
    fields = dict(zip(_NAMES, plain, strict=False))
    return TracedEntry(AuditEntry(**fields, changes=msgspec.json.decode(changes)), traceparent)
