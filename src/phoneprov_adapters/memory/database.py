"""The memory database: every store, with isolated transactions."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from phoneprov_adapters.memory.audit import MemoryAudit
from phoneprov_adapters.memory.batches import MemoryBatches
from phoneprov_adapters.memory.deployments import MemoryDeployments, MemoryLeases
from phoneprov_adapters.memory.desks import MemoryDesks
from phoneprov_adapters.memory.directory import MemoryCompanyContacts
from phoneprov_adapters.memory.kinds import EXTENSIONS, OF_USER, PERMISSIONS, PROFILES
from phoneprov_adapters.memory.logins import (
    MemoryLoginAddresses,
    MemoryLoginAttempts,
    MemoryRates,
    MemorySessions,
)
from phoneprov_adapters.memory.phones import (
    MemoryDiscoveredPhones,
    MemoryFetches,
    MemoryKems,
    MemoryPhones,
    MemoryServedFiles,
    MemoryStatistics,
    MemoryVendorPhones,
    enriched_phones,
)
from phoneprov_adapters.memory.profiles import MemoryRetention, MemoryRevisions, MemoryWholeProfiles
from phoneprov_adapters.memory.records import Kind, Records
from phoneprov_adapters.memory.store import MemorySearchedStore, MemoryStore
from phoneprov_adapters.memory.tables import Millis, Tables
from phoneprov_adapters.memory.users import (
    MemoryAssignments,
    MemoryLinks,
    MemoryUsers,
    MemoryVendorUsers,
)
from phoneprov_core.directory.model import PersonalContact
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.trail import Trail
from phoneprov_core.vendor_services import VendorService

# Records that need no more than the methods of every store.
VENDOR_SERVICES: Kind[VendorService] = Kind("service")
PERSONAL_CONTACTS: Kind[PersonalContact] = Kind(
    "personal contact", owner="user_uuid", references=(OF_USER,)
)


class MemoryTransaction:
    """Satisfies the transaction protocol of every feature."""

    def __init__(self, tables: Tables) -> None:
        self.users = MemoryUsers(tables)
        self.permissions = MemoryStore(tables, PERMISSIONS)
        self.assignments = MemoryAssignments(tables)
        self.sessions = MemorySessions(tables)
        self.attempts = MemoryLoginAttempts(tables)
        self.login_addresses = MemoryLoginAddresses(tables)
        self.rates = MemoryRates(tables)
        self.phones = MemoryPhones(tables)
        self.kems = MemoryKems(tables)
        self.vendor_phones = MemoryVendorPhones(tables)
        self.enriched_phones = enriched_phones(tables)
        self.vendor_services = MemoryStore(tables, VENDOR_SERVICES)
        self.profiles = MemoryStore(tables, PROFILES)
        self.whole_profiles = MemoryWholeProfiles(tables)
        self.revisions = MemoryRevisions(tables)
        self.deployments = MemoryDeployments(tables)
        self.leases = MemoryLeases(tables)
        self.batches = MemoryBatches(tables)
        self.desks = MemoryDesks(tables)
        self.served_files = MemoryServedFiles(tables)
        self.fetches = MemoryFetches(tables)
        self.discovered_phones = MemoryDiscoveredPhones(tables)
        self.retention = MemoryRetention(tables)
        self.statistics = MemoryStatistics(tables)
        self.vendor_users = MemoryVendorUsers(tables)
        self.extensions = MemorySearchedStore(tables, EXTENSIONS)
        self.links = MemoryLinks(tables)
        self.company_contacts = MemoryCompanyContacts(tables)
        self.personal_contacts = MemoryStore(tables, PERSONAL_CONTACTS)
        self.audit = MemoryAudit(tables)
        self.trail = tables.trail

    async def flush(self) -> None:
        """Nothing is deferred."""

    async def claim_import(self, kind: str) -> bool:  # noqa: ARG002 - one writer at a time
        """See ``Stores``."""
        return True


def _monotonic_millis() -> int:
    return time.monotonic_ns() // 1_000_000


class MemoryDatabase(ReadAndWrite[MemoryTransaction]):
    """A database that ends with the process, for tests and trials.

    Writing transactions run one after the other; the changes of one are visible to others after it
    was committed, all at once, and never if it raised or was cancelled. ``clock`` is the clock of
    the database, in milliseconds; only leases use it.
    """

    def __init__(self, clock: Millis = _monotonic_millis) -> None:
        self._clock = clock
        self._committed: dict[Kind[Any], Records[Any]] = {}
        self._one_writer = asyncio.Lock()
        self._away = False

    async def open(self) -> None:
        """Open; a new database is open already."""
        self._away = False

    async def close(self) -> None:
        """Close; it can be opened again, and keeps its records."""
        self._away = True

    @asynccontextmanager
    async def read(self) -> AsyncIterator[MemoryTransaction]:
        # A real database waits for IO here; races must occur in memory as well.
        await asyncio.sleep(0)
        self._require_open()
        yield MemoryTransaction(Tables(self._committed, self._clock, writing=False))

    @asynccontextmanager
    async def write(self, *, by: Actor | None = None) -> AsyncIterator[MemoryTransaction]:
        async with self._one_writer:
            await asyncio.sleep(0)
            self._require_open()
            tables = Tables(self._committed, self._clock, Trail(by), writing=True)
            transaction = MemoryTransaction(tables)
            yield transaction
            await transaction.audit.add_trail()
            tables.commit()

    def _require_open(self) -> None:
        if self._away:
            raise Unavailable("The database is not open.")
