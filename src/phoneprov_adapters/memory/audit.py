"""The audit trail in memory."""

from itertools import islice

import msgspec

from phoneprov_adapters.memory.kinds import AUDIT
from phoneprov_adapters.memory.records import EVERY
from phoneprov_adapters.memory.store import MemoryQueries
from phoneprov_adapters.runtime.system import ordered_id, system_clock
from phoneprov_core.audit.entries import RESOURCES, entries
from phoneprov_core.audit.model import AuditEntry, TracedEntry, WantedEntries
from phoneprov_core.audit.ports import AuditStore
from phoneprov_core.kernel.origin import current_origin
from phoneprov_core.kernel.system import shown


class MemoryAudit(MemoryQueries, AuditStore):
    """Audit entries, by uuid."""

    async def add(self, entry: TracedEntry) -> None:
        # As a database keeps it: what is JSON there must be JSON here.
        changes = msgspec.json.decode(msgspec.json.encode(entry.entry.changes))
        kept = msgspec.structs.replace(entry.entry, changes=changes)
        self._tables.add(AUDIT, TracedEntry(kept, entry.traceparent))

    async def add_trail(self) -> None:
        """Add the entries of this transaction: the last step before it commits.

        Raises ``AssertionError`` if a record changed that the trail does not know.
        """
        trail = self._tables.trail
        if not trail.active:
            return
        self._require_complete()
        now, origin = shown(system_clock()), current_origin()
        for entry in entries(trail, new_id=ordered_id, now=now, origin=origin):
            await self.add(entry)

    def _require_complete(self) -> None:
        recorded = {
            (type(after), str(getattr(after, RESOURCES[type(after)].key)))
            for change in self._tables.trail.changes()
            if (after := change.after) is not None and type(after) in RESOURCES
        }
        for entity in self._tables.changed():
            resource = RESOURCES.get(type(entity))
            if resource is not None:
                key = str(getattr(entity, resource.key))
                assert (type(entity), key) in recorded, f"not audited: {resource.name} {key}"

    async def find(self, uuid: str) -> TracedEntry | None:
        return self._tables.of(AUDIT).get(uuid)

    async def newest(
        self, wanted: WantedEntries, limit: int, *, before: AuditEntry | None = None
    ) -> list[TracedEntry]:
        found = (
            one
            for one in reversed(list(self._tables.of(AUDIT).group(EVERY)))
            if (before is None or AUDIT.position(one) < (before.at, before.uuid))
            and _agrees(one.entry, wanted)
        )
        return list(islice(found, limit))


def _agrees(entry: AuditEntry, wanted: WantedEntries) -> bool:
    return (
        (wanted.since is None or entry.at >= wanted.since)
        and (wanted.until is None or entry.at < wanted.until)
        and all(
            getattr(wanted, name) in {None, getattr(entry, name)}
            for name in ("actor_uuid", "action", "resource", "resource_id")
        )
    )
