"""All stores over one connection."""

from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import Protocol

from sqlalchemy import Text, bindparam, select

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import claimed
from phoneprov_adapters.sql.stores.features.batches import SqlBatches
from phoneprov_adapters.sql.stores.features.desks import SqlDesks, listed_desks
from phoneprov_adapters.sql.stores.features.fleet import SqlFleet, SqlStatistics
from phoneprov_adapters.sql.stores.features.lines import SqlLines
from phoneprov_adapters.sql.stores.features.retention import SqlRetention
from phoneprov_adapters.sql.stores.features.serving import (
    SqlDiscoveredPhones,
    SqlFetches,
    SqlServedFiles,
)
from phoneprov_adapters.sql.stores.features.templates import SqlRenderings, SqlTemplates
from phoneprov_adapters.sql.stores.inventory.extensions import SqlExtensions, SqlLinks
from phoneprov_adapters.sql.stores.inventory.phones import (
    SqlEnrichedPhones,
    SqlKems,
    SqlPhones,
    SqlReplacements,
    SqlVendorPhones,
)
from phoneprov_adapters.sql.stores.inventory.profiles import (
    SqlProfiles,
    SqlRevisions,
    SqlWholeProfiles,
)
from phoneprov_adapters.sql.stores.people.audit import SqlAudit
from phoneprov_adapters.sql.stores.people.directory import SqlCompanyContacts
from phoneprov_adapters.sql.stores.people.sessions import SqlApiTokens, SqlSessions
from phoneprov_adapters.sql.stores.people.throttle import (
    SqlLoginAddresses,
    SqlLoginAttempts,
    SqlRates,
)
from phoneprov_adapters.sql.stores.people.users import SqlAssignments, SqlUsers, SqlVendorUsers
from phoneprov_adapters.sql.stores.sealed import SqlSecrets
from phoneprov_adapters.sql.stores.store import SqlStore
from phoneprov_adapters.sql.stores.switching import SqlDeployments, SqlLeases
from phoneprov_adapters.sql.tables.inventory import VENDOR_SERVICES
from phoneprov_adapters.sql.tables.people import PERMISSIONS, PERSONAL_CONTACTS
from phoneprov_core.features.desks.records import DeskUses
from phoneprov_core.features.templates.recipes import TemplateUses
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.store import ReadAndWrite

_CLAIM = select(claimed(bindparam("kind", type_=Text())))


class SqlTransaction:
    """The stores of one transaction, listed here alone. It satisfies the transaction protocol of
    every feature. A store is made when it is first used: a transaction uses few of them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.trail = connection.trail

    async def flush(self) -> None:
        """Execute the changes that a store has deferred. Raises the errors of ``add`` and ``put``
        that are still to come."""
        await self._connection.flush()

    async def claim_import(self, kind: str) -> bool:
        """Claim the import of a kind of table for this writing transaction. False, at once, while
        another open transaction has the claim; where writers wait for each other it never is."""
        row = await self._connection.fetch_one(_CLAIM, kind=kind)
        return row is not None and bool(row[0])

    users = cached_property(lambda self: SqlUsers(self._connection))
    permissions = cached_property(lambda self: SqlStore(self._connection, PERMISSIONS))
    assignments = cached_property(lambda self: SqlAssignments(self._connection))
    sessions = cached_property(lambda self: SqlSessions(self._connection))
    api_tokens = cached_property(lambda self: SqlApiTokens(self._connection))
    attempts = cached_property(lambda self: SqlLoginAttempts(self._connection))
    login_addresses = cached_property(lambda self: SqlLoginAddresses(self._connection))
    rates = cached_property(lambda self: SqlRates(self._connection))
    phones = cached_property(lambda self: SqlPhones(self._connection))
    fleet = cached_property(lambda self: SqlFleet(self._connection))
    replacements = cached_property(lambda self: SqlReplacements(self._connection))
    kems = cached_property(lambda self: SqlKems(self._connection))
    vendor_phones = cached_property(lambda self: SqlVendorPhones(self._connection))
    enriched_phones = cached_property(lambda self: SqlEnrichedPhones(self._connection))
    vendor_services = cached_property(lambda self: SqlStore(self._connection, VENDOR_SERVICES))
    templates = cached_property(lambda self: SqlTemplates(self._connection))
    profiles = cached_property(lambda self: SqlProfiles(self._connection))
    whole_profiles = cached_property(lambda self: SqlWholeProfiles(self._connection))
    deployments = cached_property(lambda self: SqlDeployments(self._connection))
    revisions = cached_property(lambda self: SqlRevisions(self._connection, self.deployments))
    renderings = cached_property(lambda self: SqlRenderings(self._connection))
    leases = cached_property(lambda self: SqlLeases(self._connection))
    batches = cached_property(lambda self: SqlBatches(self._connection))
    desks = cached_property(lambda self: SqlDesks(self._connection))
    desk_uses = cached_property(lambda self: DeskUses(self))
    template_uses = cached_property(lambda self: TemplateUses(self))
    listed_desks = cached_property(lambda self: listed_desks(self._connection))
    retention = cached_property(lambda self: SqlRetention(self._connection))
    statistics = cached_property(lambda self: SqlStatistics(self._connection))
    served_files = cached_property(lambda self: SqlServedFiles(self._connection))
    fetches = cached_property(lambda self: SqlFetches(self._connection))
    discovered_phones = cached_property(lambda self: SqlDiscoveredPhones(self._connection))
    vendor_users = cached_property(lambda self: SqlVendorUsers(self._connection))
    extensions = cached_property(lambda self: SqlExtensions(self._connection))
    links = cached_property(lambda self: SqlLinks(self._connection))
    lines = cached_property(lambda self: SqlLines(self._connection))
    company_contacts = cached_property(lambda self: SqlCompanyContacts(self._connection))
    personal_contacts = cached_property(lambda self: SqlStore(self._connection, PERSONAL_CONTACTS))
    audit = cached_property(lambda self: SqlAudit(self._connection))
    secrets = cached_property(lambda self: SqlSecrets(self._connection))


class Database(ReadAndWrite[SqlTransaction], Protocol):
    """A database with all stores. It is opened once, before it is used, and may be opened again
    after it was closed."""

    def write(self, *, by: Actor | None = None) -> AbstractAsyncContextManager[SqlTransaction]:
        """As in ``ReadAndWrite``. Without an actor nothing is recorded in the audit trail: for
        maintenance that changes no record of a user's."""

    async def open(self) -> None:
        """Open the database for reading and writing. Raises ``Unavailable``."""

    async def close(self) -> None:
        """Release all resources; committed data stay. Later reads and writes raise ``Unavailable``.
        Closing twice has no effect."""
