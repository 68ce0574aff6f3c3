"""The memory database: every store, with isolated transactions."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
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
from phoneprov_adapters.memory.enriched_phones import MemoryEnrichedPhones
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
from phoneprov_core.access.model import Permission
from phoneprov_core.directory.model import PersonalContact
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
    """Satisfies the transaction protocol of every feature. A store is created when it is first
    used."""

    def __init__(self, tables: Tables, clock: Millis) -> None:
        self._tables = tables
        self._clock = clock

    @cached_property
    def users(self) -> MemoryUsers:
        return MemoryUsers(self._tables)

    @cached_property
    def permissions(self) -> MemoryStore[Permission]:
        return MemoryStore(self._tables, PERMISSIONS)

    @cached_property
    def assignments(self) -> MemoryAssignments:
        return MemoryAssignments(self._tables)

    @cached_property
    def sessions(self) -> MemorySessions:
        return MemorySessions(self._tables)

    @cached_property
    def attempts(self) -> MemoryLoginAttempts:
        return MemoryLoginAttempts(self._tables)

    @cached_property
    def login_addresses(self) -> MemoryLoginAddresses:
        return MemoryLoginAddresses(self._tables)

    @cached_property
    def rates(self) -> MemoryRates:
        return MemoryRates(self._tables)

    @cached_property
    def phones(self) -> MemoryPhones:
        return MemoryPhones(self._tables)

    @cached_property
    def kems(self) -> MemoryKems:
        return MemoryKems(self._tables)

    @cached_property
    def vendor_phones(self) -> MemoryVendorPhones:
        return MemoryVendorPhones(self._tables)

    @cached_property
    def enriched_phones(self) -> MemoryEnrichedPhones:
        return MemoryEnrichedPhones(self._tables)

    @cached_property
    def vendor_services(self) -> MemoryStore[VendorService]:
        return MemoryStore(self._tables, VENDOR_SERVICES)

    @cached_property
    def profiles(self) -> MemoryProfiles:
        return MemoryProfiles(self._tables)

    @cached_property
    def whole_profiles(self) -> MemoryWholeProfiles:
        return MemoryWholeProfiles(self._tables)

    @cached_property
    def revisions(self) -> MemoryRevisions:
        return MemoryRevisions(self._tables)

    @cached_property
    def deployments(self) -> MemoryDeployments:
        return MemoryDeployments(self._tables, self._clock)

    @cached_property
    def leases(self) -> MemoryLeases:
        return MemoryLeases(self._tables, self._clock)

    @cached_property
    def batches(self) -> MemoryBatches:
        return MemoryBatches(self._tables, self._clock)

    @cached_property
    def desks(self) -> MemoryDesks:
        return MemoryDesks(self._tables, self._clock)

    @cached_property
    def served_files(self) -> MemoryServedFiles:
        return MemoryServedFiles(self._tables)

    @cached_property
    def fetches(self) -> MemoryFetches:
        return MemoryFetches(self._tables)

    @cached_property
    def discovered_phones(self) -> MemoryDiscoveredPhones:
        return MemoryDiscoveredPhones(self._tables)

    @cached_property
    def retention(self) -> MemoryRetention:
        return MemoryRetention(self._tables)

    @cached_property
    def statistics(self) -> MemoryStatistics:
        return MemoryStatistics(self._tables)

    @cached_property
    def vendor_users(self) -> MemoryVendorUsers:
        return MemoryVendorUsers(self._tables)

    @cached_property
    def extensions(self) -> MemoryExtensions:
        return MemoryExtensions(self._tables)

    @cached_property
    def links(self) -> MemoryLinks:
        return MemoryLinks(self._tables)

    @cached_property
    def company_contacts(self) -> MemoryCompanyContacts:
        return MemoryCompanyContacts(self._tables)

    @cached_property
    def personal_contacts(self) -> MemoryStore[PersonalContact]:
        return MemoryStore(self._tables, PERSONAL_CONTACTS)

    @cached_property
    def audit(self) -> MemoryAudit:
        return MemoryAudit(self._tables)

    @property
    def trail(self) -> Trail:
        return self._tables.trail


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
