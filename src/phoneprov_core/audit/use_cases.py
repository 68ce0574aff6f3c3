"""The audit trail, read by superadmins."""

from __future__ import annotations

from phoneprov_core.access.rules import require_superadmin
from phoneprov_core.audit.model import TracedEntry, WantedEntries
from phoneprov_core.audit.ports import AuditTransaction
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import found
from phoneprov_core.kernel.store import ReadAndWrite


class Audit:
    """Read audit entries; all of it needs level 0."""

    def __init__(self, open_: ReadAndWrite[AuditTransaction]) -> None:
        self._open = open_

    async def newest(
        self, actor: Actor, wanted: WantedEntries, limit: int = 1000
    ) -> list[TracedEntry]:
        """A page of entries, newest first. Raises ``Forbidden``; ``NotFound`` if there is no
        entry ``wanted.before``."""
        require_superadmin(actor)
        async with self._open.read() as tx:
            last = None
            if wanted.before is not None:
                last = found(await tx.audit.find(wanted.before), "audit entry").entry
            return await tx.audit.newest(wanted, limit, before=last)
