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

MOST_OF_ADDRESS = MOST_DISCOVERED // 20
"""Maximum number of them that one client address, or IPv6 network /64, discovered: a client that
makes up phones displaces its own."""

MOST_NAMES = 20
"""Maximum number of different names that are kept of a discovered phone."""

MOST_ADDRESSES = 20
"""Maximum number of addresses that are kept of a discovered phone."""


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
    bytes: (
        Annotated[
            int,
            schema(
                "Bytes sent; a phone may have received fewer if it failed. null without level 0",
                minimum=0,
            ),
        ]
        | None
    )
    duration_ms: DurationMs
    created_at: CreatedAt


class SeenAddress(Struct, frozen=True):
    """An address that asked for the files of a phone."""

    client_ip: Annotated[str, schema("Address of a request")]
    last_seen_at: Annotated[Timestamp, schema("Time of its latest request")]


class DiscoveredPhone(Struct, frozen=True, omit_defaults=True):
    """A phone that requested its files and is not in the inventory."""

    mac: StoredMac
    client_ip: Annotated[str, schema("Address of the latest request")]
    model: Annotated[str, schema("Model that the phone named")] | None
    first_seen_at: Annotated[Timestamp, schema("Time of the first request")]
    last_seen_at: Annotated[Timestamp, schema("Time of the latest request")]
    names: Annotated[tuple[str, ...], schema("Requested names, the latest last")]
    other_addresses: Annotated[
        tuple[SeenAddress, ...],
        schema(
            "Present if other addresses asked for its files, too, the latest first: one of them "
            "may be the phone, and the others not"
        ),
    ] = ()

    def others_than(self, client_ip: str) -> tuple[SeenAddress, ...]:
        """The other addresses after a request from this one."""
        all_ = (SeenAddress(self.client_ip, self.last_seen_at), *self.other_addresses)
        return tuple(one for one in all_ if one.client_ip != client_ip)[:MOST_ADDRESSES]

    def addresses(self, since: str) -> tuple[str, ...]:
        """The address of the latest request, and those that asked at ``since`` or later."""
        others = (one.client_ip for one in self.other_addresses if one.last_seen_at >= since)
        return (self.client_ip, *others)


def phone_seen(
    mac: str, ip: str, model: str | None, now: str, name: str | None = None,
    location: str | None = None, *, address_confirmed: bool = False,
) -> Phone:  # fmt: skip
    """The phone of the inventory that a discovered phone becomes."""
    return filled(
        Phone, mac=mac, model=model, name=name, location=location, phone_ip=ip, is_active=True,
        created_at=now, updated_at=now, address_confirmed=address_confirmed,
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
