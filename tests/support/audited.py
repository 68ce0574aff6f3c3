"""A memory database that checks that every change of an audited record is in the trail."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import Table

from phoneprov_adapters.memory.database import MemoryDatabase, Millis
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_adapters.sql.stores.inventory.phones import SqlPhones
from phoneprov_adapters.sql.tables import inventory, people, switching
from phoneprov_adapters.sql.tables.records import Records
from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.people.access import Assignment
from phoneprov_core.people.audit_entries import BOOKKEEPING, resource_of

_RECORDS = [
    SqlPhones.records,
    *(
        thing
        for module in (people, inventory, switching)
        for thing in vars(module).values()
        if isinstance(thing, Records) and thing.audited
    ),
]
_AUDITED: dict[Any, tuple[Table, str]] = {
    Assignment: (people.assignments, "user_uuid"),
    DeskRecord: (switching.desks, "mac"),
    **{records.fields.kind: (records.table, records.key) for records in _RECORDS},
}

# Who uses a desk is recorded by events: logins, logouts and switches. A desk that only they made
# has no settings.
_BY_EVENTS = {"desk": {"user_uuid", "profile_uuid", "since", "until", "left_user_uuid"}}
_ADDED = {"desk": "WHEN new.default_profile_uuid IS NOT NULL OR NOT new.hotdesk"}


class AuditedDatabase(MemoryDatabase):
    """``write`` raises ``AssertionError`` if a record was added or changed and the trail has no
    change of it."""

    def __init__(self, clock: Millis) -> None:
        super().__init__(clock)
        self._changed: set[tuple[str, str]] = set()
        connection = self._sqlite._connection
        changed = self._changed
        connection.create_function("changed", 2, lambda *record: changed.add(record))
        for kind, (table, key) in _AUDITED.items():
            name = resource_of(kind)
            fields = set(kind.__struct_fields__) & set(table.c.keys()) - BOOKKEEPING
            fields -= _BY_EVENTS.get(name, set())
            differs = " OR ".join(f"old.{field} IS NOT new.{field}" for field in fields)
            noted = f"BEGIN SELECT changed('{name}', new.{key}); END"
            connection.execute(
                f"CREATE TEMP TRIGGER added_{name} AFTER INSERT ON main.{table.name} "
                f"{_ADDED.get(name, '')} {noted}"
            )
            connection.execute(
                f"CREATE TEMP TRIGGER changed_{name} AFTER UPDATE ON main.{table.name} "
                f"WHEN {differs} {noted}"
            )

    @asynccontextmanager
    async def write(self, *, by: Actor | None = None) -> AsyncIterator[SqlTransaction]:
        async with super().write(by=by) as tx:
            self._changed.clear()
            yield tx
            await tx.flush()
            if tx.trail.active:
                unknown = self._changed - {
                    (resource_of(type(record)), change.key)
                    for change in tx.trail.changes()
                    for record in (change.before, change.after)
                    if record is not None
                }
                assert not unknown, f"not audited: {sorted(unknown)}"
