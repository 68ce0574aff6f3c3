"""The audit trail: its entries, their query, and the use case that reads them."""

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.kernel.actor import Actor, Event, Origin, UseCaseTrail, require_superadmin
from phoneprov_core.kernel.commands import QueryCommand
from phoneprov_core.kernel.errors import Unavailable, require
from phoneprov_core.kernel.fields import AnyLine, Moment, Uuid, schema
from phoneprov_core.kernel.ports import (
    AfterRow,
    Clock,
    Limit,
    Listing,
    Rate,
    RateStore,
    ReadAndWrite,
)
from phoneprov_core.kernel.values import Timestamp, millis

CHANGED = "changed"
"""Replaces a secret in ``changes``: neither its old nor its new value is kept."""


class AuditEntry(Struct, frozen=True):
    """One change or event. An entry is never changed."""

    uuid: Annotated[Uuid, schema("The entry")]
    at: Timestamp
    actor_uuid: (
        Annotated[Uuid, schema("The account; all zeros for the command line and background work")]
        | None
    )
    actor: Annotated[str, schema("The username at that time, or `system`")] | None
    token: Annotated[str, schema("The name of the API token; null for a login")] | None
    client_ip: Annotated[str, schema("The address of the client")] | None
    request_id: Annotated[str, schema("The `X-Request-ID` of the request")] | None
    action: Annotated[str, schema("What happened", examples=["phone.updated", "login.failed"])]
    resource: Annotated[str, schema("The kind of resource", examples=["phone", "profile", "user"])]
    resource_id: Annotated[str, schema("Its identifier", examples=["00:1B:D4:12:34:56"])] | None
    changes: Annotated[
        dict[str, Any],
        schema(
            'Field to `{"old": ..., "new": ...}`, or to `"changed"` for a secret',
            examples=[{"location": {"old": None, "new": "2nd floor"}}],
        ),
    ]


class TracedEntry(Struct, frozen=True):
    """An entry with the ``traceparent`` of its request."""

    entry: AuditEntry
    traceparent: str | None = None

    @property
    def origin(self) -> Origin:
        """The request that the entry belongs to."""
        return Origin(self.entry.request_id, self.traceparent, self.entry.client_ip)


_ACTOR = "Only entries of this account; all zeros for the service and its command line"
_RESOURCE_ID = "Only the resource with this identifier: a UUID, or the MAC address of a phone"


class WantedEntries(QueryCommand, frozen=True, kw_only=True):
    """Which entries a list shows; None of a field means all."""

    since: Annotated[Moment, schema("Only entries of this moment or later")] | None = None
    until: Annotated[Moment, schema("Only entries before this moment")] | None = None
    actor_uuid: Annotated[Uuid, schema(_ACTOR)] | None = None
    action: Annotated[AnyLine, schema("Only this action", examples=["phone.updated"])] | None = None
    resource: (
        Annotated[AnyLine, schema("Only this kind of resource", examples=["phone"])] | None
    ) = None
    resource_id: Annotated[AnyLine, schema(_RESOURCE_ID)] | None = None
    before: AfterRow | None = None


_WORDS = (
    "Only entries that contain every word: in actor, action, resource, address or changes. "
    "A request compares the newest 5000 entries that the other fields allow"
)


class EntriesQuery(WantedEntries, frozen=True, kw_only=True):
    """Which entries a page shows, and at most how many."""

    q: Annotated[AnyLine, schema(_WORDS, examples=["ada 2nd floor"])] | None = None
    limit: Limit = 1000


class FoundEntries(Struct, frozen=True):
    """Entries that were found, and the last entry that was compared, None if no entry was left."""

    entries: list[TracedEntry]
    searched_to: str | None


def contains(entry: AuditEntry, words: list[str]) -> bool:
    """Whether the texts of an entry contain every word, which is in its case-folded form."""
    texts = [entry.actor, entry.token, entry.action, entry.resource, entry.resource_id]
    texts += [entry.client_ip, *_texts(entry.changes)]
    text = "\n".join(filter(None, texts)).casefold()
    return all(word in text for word in words)


def _texts(value: Any) -> Iterator[str]:
    """The names and values of changes, which are plain JSON of two levels."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        yield from map(str, value)
    elif value is not None:
        yield str(value)


class AuditStore(Protocol):
    """Audit entries, by uuid. Entries are added and read; no method changes one."""

    async def add(self, entry: TracedEntry) -> None:
        """Keep an entry. What it names need not exist. Waits for no other transaction."""

    async def find(self, uuid: str) -> TracedEntry | None:
        """The entry, or None."""

    async def newest(
        self, wanted: WantedEntries, limit: int, *, before: AuditEntry | None = None
    ) -> list[TracedEntry]:
        """At most ``limit`` entries that agree with every field of ``wanted`` that is set,
        newest first (by ``at``, then uuid), beginning after ``before``. ``wanted.before`` is
        ignored. The cost does not depend on the number of entries."""


class AuditTransaction(Protocol):
    """The store of audit entries."""

    @property
    def audit(self) -> AuditStore: ...
    @property
    def rates(self) -> RateStore: ...
    @property
    def trail(self) -> UseCaseTrail: ...


MOST_COMPARED = 5_000
"""Maximum number of entries that a search for words reads."""
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

    async def every(self, actor: Actor, wanted: EntriesQuery) -> Listing[AuditEntry]:
        """All entries that match, newest first, without a limit. Raises as ``newest``."""
        require_superadmin(actor)
        words = (wanted.q or "").casefold().split()

        async def piece_after(last: AuditEntry | None) -> list[AuditEntry]:
            async with self.database.read() as tx:
                found = await tx.audit.newest(wanted, _PIECE, before=last)
            return [one.entry for one in found]

        async def rest() -> AsyncIterator[list[AuditEntry]]:
            piece = first
            while piece:
                yield [entry for entry in piece if contains(entry, words)]
                piece = await piece_after(piece[-1]) if len(piece) == _PIECE else []

        async with self.database.read() as tx:
            before = await _before(tx, wanted)
        first = await piece_after(before)
        return Listing([], rest)

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
    return require(await tx.audit.find(wanted.before), "audit entry").entry
