"""What provisioning needs from outside: its stores, the folder of other files, the networks."""

from collections.abc import Callable, Mapping
from typing import Protocol

from phoneprov_core.deployments.ports import DeploymentStore
from phoneprov_core.kernel.store import Rows, Store
from phoneprov_core.phones.model import Phone
from phoneprov_core.phones.ports import SignsOfLife
from phoneprov_core.provisioning.model import DiscoveredPhone, Fetch, ServedFile


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
        beginning after the one whose uuid is ``before``. Empty if that one does not exist."""


class DiscoveredPhoneStore(Rows[DiscoveredPhone], Protocol):
    """Phones that requested files and are not in the inventory, by canonical MAC; the first seen is
    listed first. They have no owner."""

    async def find(self, mac: str) -> DiscoveredPhone | None:
        """The phone, if it is not in the inventory; else None."""

    async def see(self, mac: str, client_ip: str, model: str | None, name: str, now: str) -> None:
        """Add a phone, or note another request of it: the address, the model if it is given,
        the time, and the name as the latest of at most 20 different ones. The address before it
        becomes the first of at most 20 other ones. At most 1,000 phones are kept, and at most 50
        that one address (see ``address_key``) was the first to ask for: of these the one that was
        seen longest ago goes first."""


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
