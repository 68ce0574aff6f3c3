"""Audit entries: one for each change, and for each event of security."""

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Struct

from phoneprov_core.kernel.actor import Origin
from phoneprov_core.kernel.commands import QueryCommand
from phoneprov_core.kernel.fields import AnyLine, Moment, Uuid, schema
from phoneprov_core.kernel.paging import After, Limit
from phoneprov_core.kernel.system import Timestamp

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
    before: After | None = None


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
