"""Reading the audit trail, and recording what callers were refused."""

from contextlib import suppress
from dataclasses import dataclass

from msgspec.structs import replace

from phoneprov_core.access.rules import require_superadmin
from phoneprov_core.audit.model import (
    AuditEntry,
    EntriesQuery,
    FoundEntries,
    TracedEntry,
    WantedEntries,
    contains,
)
from phoneprov_core.audit.ports import AuditTransaction
from phoneprov_core.kernel.actor import Actor, Event
from phoneprov_core.kernel.errors import Unavailable, found
from phoneprov_core.kernel.rates import Rate
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, millis

MOST_COMPARED = 5_000
"""Maximum number of entries that one search for words reads."""
_PIECE = 250
REFUSALS = Rate(60, 15 * 60 * 1000)
"""Maximum number of refusals that are recorded for one account: it must not fill the disk."""


@dataclass(frozen=True)
class Audit:
    """The audit trail. Reading it needs level 0."""

    database: ReadAndWrite[AuditTransaction]
    clock: Clock

    async def refused(self, actor: Actor, request: str) -> None:
        """Record that the caller was refused something for a missing level, or because it
        belongs to another user. ``request`` says what, such as ``GET /api/v1/users``. The
        response does not depend on the database."""
        by = replace(actor, read_only=False)
        with suppress(Unavailable):
            async with self.database.write(by=by) as tx:
                now = millis(self.clock())
                if not await tx.rates.add(f"refusals {actor.user_uuid}", REFUSALS, now):
                    tx.trail.note(Event("access.refused", "request", request))

    async def newest(
        self, actor: Actor, wanted: WantedEntries, limit: int = 1000
    ) -> list[TracedEntry]:
        """A page, newest first. Raises ``Forbidden``; ``NotFound`` without the entry ``before``."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            return await tx.audit.newest(wanted, limit, before=await _before(tx, wanted))

    async def search(self, actor: Actor, wanted: EntriesQuery) -> FoundEntries:
        """Entries that contain all words of ``wanted.q``, newest first. Compares 5,000 entries at
        most. Raises ``Forbidden``; ``NotFound`` as ``newest``."""
        require_superadmin(actor)
        words, rows, compared = (wanted.q or "").casefold().split(), list[TracedEntry](), 0
        async with self.database.read() as tx:
            last = await _before(tx, wanted)
            while compared < MOST_COMPARED:
                piece = await tx.audit.newest(wanted, _PIECE, before=last)
                for one in piece:
                    last = one.entry
                    if contains(one.entry, words):
                        rows.append(one)
                        if len(rows) == wanted.limit:
                            return FoundEntries(rows, last.uuid)
                if len(piece) < _PIECE:
                    return FoundEntries(rows, None)
                compared += _PIECE
            return FoundEntries(rows, last.uuid if last else None)


async def _before(tx: AuditTransaction, wanted: WantedEntries) -> AuditEntry | None:
    if wanted.before is None:
        return None
    return found(await tx.audit.find(wanted.before), "audit entry").entry
