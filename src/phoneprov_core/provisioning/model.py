"""Requests of phones for files, and discovered phones that are not in the inventory."""

from enum import Enum
from typing import Annotated

from msgspec import Struct

from phoneprov_core.kernel.commands import filled
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.kernel.fields import CreatedAt, DurationMs, RecordUuid, StoredMac, schema
from phoneprov_core.kernel.system import Timestamp
from phoneprov_core.phones.model import Phone

MOST_DISCOVERED = 1000
"""Maximum number of discovered phones that are kept."""

MOST_NAMES = 20
"""Maximum number of different names that are kept of a discovered phone."""


class Transport(Enum):
    """Protocol of a request."""

    HTTP = "http"
    TFTP = "tftp"


class FetchResult(Enum):
    """Result of a request."""

    SERVED = "served"
    """The phone received the whole file."""
    NOT_FOUND = "not_found"
    REFUSED = "refused"
    """The client address may not read the file, or the name leads outside the folder."""
    FAILED = "failed"
    """The transfer ended before the phone had the whole file."""


class Fetch(Struct, frozen=True):
    """One request for a file."""

    uuid: RecordUuid
    mac: StoredMac | None
    name: Annotated[str, schema("Requested name", examples=["SEP001BD4123456.cnf.xml"])]
    transport: Annotated[Transport, schema("Protocol of the request")]
    client_ip: Annotated[str, schema("Address that the request came from")]
    result: Annotated[FetchResult, schema("Result of the request")]
    bytes: Annotated[
        int, schema("Bytes sent; a phone may have received fewer if it failed", minimum=0)
    ]
    duration_ms: DurationMs
    created_at: CreatedAt


class DiscoveredPhone(Struct, frozen=True):
    """A phone that requested its files and is not in the inventory."""

    mac: StoredMac
    client_ip: Annotated[str, schema("Address of the latest request")]
    model: Annotated[str, schema("Model that the phone named")] | None
    first_seen_at: Annotated[Timestamp, schema("Time of the first request")]
    last_seen_at: Annotated[Timestamp, schema("Time of the latest request")]
    names: Annotated[tuple[str, ...], schema("Requested names, the latest last")]


def phone_seen(
    mac: str, ip: str, model: str | None, now: str, name: str | None = None,
    location: str | None = None,
) -> Phone:  # fmt: skip
    """The phone of the inventory that a discovered phone becomes."""
    return filled(
        Phone, mac=mac, model=model, name=name, location=location, phone_ip=ip, is_active=True,
        created_at=now, updated_at=now,
    )  # fmt: skip


def with_name(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The names with one more as the latest, at most ``MOST_NAMES`` different ones."""
    others = [each for each in names if each != name]
    return (*others, name)[-MOST_NAMES:]


class ServedFile(Redacted, frozen=True):
    """The configuration that a phone gets under a name, upper and lower case ignored.
    ``attempt`` is the upload it came from: the uuid of its deployment."""

    name: str
    content: Annotated[bytes, SECRET]
    attempt: str

    @property
    def key(self) -> str:
        """The name as it is compared."""
        return self.name.lower()
