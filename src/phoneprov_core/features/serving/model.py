"""Requests of phones for files, discovered phones, and the stores that keep them."""

from collections import Counter
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.phones.use_cases import SignsOfLife
from phoneprov_core.kernel.commands import filled
from phoneprov_core.kernel.fields import (
    SECRET,
    CreatedAt,
    DurationMs,
    RecordUuid,
    Redacted,
    StoredMac,
    schema,
)
from phoneprov_core.kernel.ports import Rows, Store
from phoneprov_core.kernel.values import Timestamp, address_key
from phoneprov_core.switching.deployments.ports import DeploymentStore

MOST_DISCOVERED = 1000
"""Maximum number of discovered phones that are kept."""

MOST_OF_ADDRESS = MOST_DISCOVERED // 20
"""Maximum number of phones that a client address, or IPv6 network /64, discovered: a client that
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
        """The address of the latest request, and the addresses with a request at ``since`` or
        later."""
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


class ServedFileStore(Protocol):
    """Configurations that phones fetch from this service, by name. Upper and lower case of
    ASCII letters is ignored. The content is encrypted at rest."""

    async def put(self, file: ServedFile) -> None:
        """Replace the file of this name, or add it, in one statement."""

    async def find(self, name: str) -> ServedFile | None:
        """The file, or None."""

    async def attempts(self) -> Mapping[str, str]:
        """The upload that each file came from, by name in lower case."""

    async def remove_of(self, mac: str) -> bool:
        """Remove the files whose names contain the digits of this MAC; False if there are none."""


class FetchStore(Protocol):
    """The record of requests for files."""

    async def add(self, fetch: Fetch) -> None:
        """Keep a new record."""

    async def newest(self, mac: str, limit: int, *, before: str | None = None) -> list[Fetch]:
        """At most ``limit`` requests of a phone, newest first (by creation, then uuid),
        beginning after the uuid ``before``. Empty if ``before`` does not exist."""


class DiscoveredPhoneStore(Rows[DiscoveredPhone], Protocol):
    """Phones that requested files and are not in the inventory, by canonical MAC; the first seen is
    listed first. They have no owner."""

    async def find(self, mac: str) -> DiscoveredPhone | None:
        """The phone, if it is not in the inventory; else None."""

    async def see(self, mac: str, client_ip: str, model: str | None, name: str, now: str) -> None:
        """Add a phone, or note another request of it: the address, the model if it is given, the
        time, and the name as the latest of at most 20 different ones. The address before it becomes
        the first of at most 20 further addresses. At most 1,000 phones are kept, and at most 50
        that one address (see ``address_key``) was the first to ask for: the phone of these that was
        seen longest ago is removed first."""


class ProvisioningTransaction(Protocol):
    """Stores that serving a file reads and writes."""

    @property
    def phones(self) -> Store[Phone]: ...
    @property
    def deployments(self) -> DeploymentStore: ...
    @property
    def served_files(self) -> ServedFileStore: ...
    @property
    def fetches(self) -> FetchStore: ...
    @property
    def discovered_phones(self) -> DiscoveredPhoneStore: ...
    @property
    def fleet(self) -> SignsOfLife: ...


class SharedFile(Protocol):
    """A file of the read-only folder, open for one transfer."""

    @property
    def size(self) -> int:
        """Bytes in all."""

    def loaded(self, offset: int, size: int) -> bytes | None:
        """The bytes from ``offset`` on, fewer at the end; None while they are not in memory."""

    async def load(self, offset: int) -> None:
        """Load the bytes from ``offset`` on into memory, a bounded number of them. Raises
        ``OSError`` if the file cannot be read."""

    def close(self) -> None:
        """Release the file."""


class SharedFiles(Protocol):
    """The read-only folder of firmware, ring lists and locales."""

    async def open(self, name: str) -> SharedFile | None:
        """Open the regular file of this plain name, upper and lower case ignored; None if there
        is none. Links that lead outside the folder are treated as missing."""


FetchObserver = Callable[[Fetch], None]
"""Port: called with each request once it was recorded."""

WINDOW_MS = 60_000
SERVED = 30
"""Rows for one file that an address fetched, in a window."""
UNSERVED = 200
"""Rows for different requests of an address that were not served, in a window, one for each."""
MOST = 10_000
"""Rows of requests that were served, and as many of others, in a window: addresses of requests that
were not served may be forged, and take no rows from the others."""

NEW_PHONES = 250
"""Different phones that an address can be, in an hour: the phones of an office with one address. A
client that makes up phones must not displace the others."""
_HOUR_MS = 3_600_000


class Repeats:
    """Counts the rows of the current window in memory: each process has bounds of its own."""

    def __init__(self) -> None:
        self._ends_at = 0
        self._rows = Counter[tuple[str, ...]]()
        self._hour_ends_at = 0
        self._phones: dict[str, set[str]] = {}

    def is_noticed(self, client_ip: str, mac: str, now: int) -> bool:
        """Whether a request at ``now`` of a phone that is not in the inventory counts: it is listed
        as discovered, and may get the bootstrap configuration."""
        if not 0 < self._hour_ends_at - now <= _HOUR_MS or len(self._phones) >= MOST:
            self._hour_ends_at, self._phones = now + _HOUR_MS, {}
        phones = self._phones.setdefault(address_key(client_ip), set())
        if len(phones) < NEW_PHONES:
            phones.add(mac)
        return mac in phones

    def has_row(self, fetch: Fetch, now: int) -> bool:
        """Whether a request at ``now``, in milliseconds, gets a row."""
        if not 0 < self._ends_at - now <= WINDOW_MS:
            self._ends_at, self._rows = now + WINDOW_MS, Counter()
        address = address_key(fetch.client_ip)
        limits: dict[tuple[str, ...], int]
        if fetch.result is FetchResult.SERVED:
            limits = {("served",): MOST, (address, fetch.name.lower()): SERVED}
        else:
            request = (address, fetch.name, fetch.transport.value, fetch.result.value)
            limits = {("others",): MOST, (address,): UNSERVED, request: 1}
        if any(self._rows[key] >= most for key, most in limits.items()):
            return False
        self._rows.update(limits.keys())
        return True
