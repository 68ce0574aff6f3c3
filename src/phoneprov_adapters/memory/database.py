"""The memory database: every store, with isolated transactions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from phoneprov_adapters.memory.access import (
    ASSIGNMENTS,
    PERMISSIONS,
    MemoryAssignments,
)
from phoneprov_adapters.memory.audit import AUDIT, MemoryAudit
from phoneprov_adapters.memory.auth import (
    COUNTED,
    LOGIN_ADDRESSES,
    RATES,
    SESSIONS,
    MemoryLoginAddresses,
    MemoryLoginAttempts,
    MemoryRates,
    MemorySessions,
)
from phoneprov_adapters.memory.batches import BATCH_PHONES, BATCHES, MemoryBatches
from phoneprov_adapters.memory.deployments import (
    DEPLOYMENTS,
    LEASES,
    MemoryDeployments,
    MemoryLeases,
    Millis,
)
from phoneprov_adapters.memory.desks import MemoryDesks
from phoneprov_adapters.memory.directory import (
    COMPANY_CONTACTS,
    PERSONAL_CONTACTS,
    MemoryCompanyContacts,
)
from phoneprov_adapters.memory.enriched_phones import enriched_phones
from phoneprov_adapters.memory.extensions import EXTENSIONS, MemoryExtensions
from phoneprov_adapters.memory.kems import KEMS, MemoryKems
from phoneprov_adapters.memory.kept_desks import DESKS
from phoneprov_adapters.memory.links import LINKS, MemoryLinks
from phoneprov_adapters.memory.phones import PHONES, MemoryPhones
from phoneprov_adapters.memory.profiles import PROFILES, MemoryProfiles
from phoneprov_adapters.memory.provisioning import (
    DISCOVERED_PHONES,
    FETCHES,
    SERVED_FILES,
    MemoryDiscoveredPhones,
    MemoryFetches,
    MemoryServedFiles,
)
from phoneprov_adapters.memory.records import Kind, Records
from phoneprov_adapters.memory.retention import MemoryRetention
from phoneprov_adapters.memory.revisions import REVISIONS, MemoryRevisions, MemoryWholeProfiles
from phoneprov_adapters.memory.statistics import MemoryStatistics
from phoneprov_adapters.memory.store import MemoryStore
from phoneprov_adapters.memory.tables import Schema, Tables
from phoneprov_adapters.memory.users import LOOKS, PASSWORDS, USERS, MemoryUsers
from phoneprov_adapters.memory.vendor_phones import VENDOR_PHONES, MemoryVendorPhones
from phoneprov_adapters.memory.vendor_users import VENDOR_USERS, MemoryVendorUsers
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.trail import Trail
from phoneprov_core.vendor_services.model import VendorService

VENDOR_SERVICES: Kind[VendorService] = Kind("service")

SCHEMA = Schema(
    USERS,
    PASSWORDS,
    LOOKS,
    PERMISSIONS,
    ASSIGNMENTS,
    SESSIONS,
    COUNTED,
    LOGIN_ADDRESSES,
    RATES,
    PHONES,
    KEMS,
    VENDOR_PHONES,
    VENDOR_SERVICES,
    PROFILES,
    REVISIONS,
    DEPLOYMENTS,
    LEASES,
    DESKS,
    BATCHES,
    BATCH_PHONES,
    SERVED_FILES,
    FETCHES,
    DISCOVERED_PHONES,
    VENDOR_USERS,
    EXTENSIONS,
    LINKS,
    COMPANY_CONTACTS,
    PERSONAL_CONTACTS,
    AUDIT,
)


class MemoryTransaction:
    """Satisfies the transaction protocol of every feature."""

    def __init__(self, tables: Tables, clock: Millis) -> None:
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
        self.profiles = MemoryProfiles(tables)
        self.whole_profiles = MemoryWholeProfiles(tables)
        self.revisions = MemoryRevisions(tables)
        self.deployments = MemoryDeployments(tables, clock)
        self.leases = MemoryLeases(tables, clock)
        self.batches = MemoryBatches(tables, clock)
        self.desks = MemoryDesks(tables, clock)
        self.served_files = MemoryServedFiles(tables)
        self.fetches = MemoryFetches(tables)
        self.discovered_phones = MemoryDiscoveredPhones(tables)
        self.retention = MemoryRetention(tables)
        self.statistics = MemoryStatistics(tables)
        self.vendor_users = MemoryVendorUsers(tables)
        self.extensions = MemoryExtensions(tables)
        self.links = MemoryLinks(tables)
        self.company_contacts = MemoryCompanyContacts(tables)
        self.personal_contacts = MemoryStore(tables, PERSONAL_CONTACTS)
        self.audit = MemoryAudit(tables)
        self.trail = tables.trail

    async def flush(self) -> None:
        """Nothing is deferred."""


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
        self._committed: dict[Kind[Any], Records[Any]] = {
            kind: Records(kind) for kind in SCHEMA.kinds
        }
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
        yield MemoryTransaction(Tables(SCHEMA, self._committed, writing=False), self._clock)

    @asynccontextmanager
    async def write(self, *, by: Actor | None = None) -> AsyncIterator[MemoryTransaction]:
        async with self._one_writer:
            await asyncio.sleep(0)
            self._require_open()
            tables = Tables(SCHEMA, self._committed, Trail(by), writing=True)
            transaction = MemoryTransaction(tables, self._clock)
            yield transaction
            await transaction.audit.add_trail()
            tables.commit()

    def _require_open(self) -> None:
        if self._away:
            raise Unavailable("The database is not open.")
