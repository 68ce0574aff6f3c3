"""All stores over one connection."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.stores.access import SqlAssignments
from phoneprov_adapters.sql.stores.audit import SqlAudit
from phoneprov_adapters.sql.stores.auth import SqlLoginAttempts, SqlSessions
from phoneprov_adapters.sql.stores.batches import SqlBatches
from phoneprov_adapters.sql.stores.deployments import SqlDeployments, SqlLeases
from phoneprov_adapters.sql.stores.desks import SqlDesks
from phoneprov_adapters.sql.stores.directory import SqlCompanyContacts
from phoneprov_adapters.sql.stores.enriched_phones import SqlEnrichedPhones
from phoneprov_adapters.sql.stores.extensions import SqlExtensions
from phoneprov_adapters.sql.stores.kems import SqlKems
from phoneprov_adapters.sql.stores.links import SqlLinks
from phoneprov_adapters.sql.stores.login_addresses import SqlLoginAddresses
from phoneprov_adapters.sql.stores.phones import SqlPhones
from phoneprov_adapters.sql.stores.profiles import SqlProfiles, SqlWholeProfiles
from phoneprov_adapters.sql.stores.provisioning import (
    SqlDiscoveredPhones,
    SqlFetches,
    SqlServedFiles,
)
from phoneprov_adapters.sql.stores.rates import SqlRates
from phoneprov_adapters.sql.stores.retention import SqlRetention
from phoneprov_adapters.sql.stores.revisions import SqlRevisions
from phoneprov_adapters.sql.stores.sealed import SqlSecrets
from phoneprov_adapters.sql.stores.statistics import SqlStatistics
from phoneprov_adapters.sql.stores.store import Records, SqlStore
from phoneprov_adapters.sql.stores.users import SqlUsers
from phoneprov_adapters.sql.stores.vendor_phones import SqlVendorPhones
from phoneprov_adapters.sql.stores.vendor_users import SqlVendorUsers
from phoneprov_adapters.sql.tables import permissions, personal_contacts
from phoneprov_adapters.sql.tables.inventory import vendor_services
from phoneprov_core.access.model import Permission
from phoneprov_core.directory.model import PersonalContact
from phoneprov_core.vendor_services.model import VendorService

# Records that need no more than the methods of every store.
_PERMISSIONS = Records(Permission, permissions, one_name="permission")
_VENDOR_SERVICES = Records(VendorService, vendor_services, one_name="service")
_PERSONAL_CONTACTS = Records(
    PersonalContact, personal_contacts, owner="user_uuid", one_name="personal contact"
)


class SqlTransaction:
    """Satisfies the transaction protocol of every feature."""

    def __init__(self, connection: Connection, box: SecretBox) -> None:
        self.trail = connection.trail
        self.flush = connection.flush
        self.users = SqlUsers(connection)
        self.permissions = SqlStore(connection, _PERMISSIONS)
        self.assignments = SqlAssignments(connection)
        self.sessions = SqlSessions(connection)
        self.attempts = SqlLoginAttempts(connection)
        self.login_addresses = SqlLoginAddresses(connection)
        self.rates = SqlRates(connection)
        self.phones = SqlPhones(connection)
        self.kems = SqlKems(connection)
        self.vendor_phones = SqlVendorPhones(connection)
        self.enriched_phones = SqlEnrichedPhones(connection)
        self.vendor_services = SqlStore(connection, _VENDOR_SERVICES)
        self.profiles = SqlProfiles(connection)
        self.whole_profiles = SqlWholeProfiles(connection, box)
        self.deployments = SqlDeployments(connection, box)
        self.revisions = SqlRevisions(connection, box, self.deployments)
        self.leases = SqlLeases(connection)
        self.batches = SqlBatches(connection)
        self.desks = SqlDesks(connection)
        self.retention = SqlRetention(connection, self.deployments)
        self.statistics = SqlStatistics(connection)
        self.served_files = SqlServedFiles(connection, box)
        self.fetches = SqlFetches(connection)
        self.discovered_phones = SqlDiscoveredPhones(connection)
        self.vendor_users = SqlVendorUsers(connection)
        self.extensions = SqlExtensions(connection, box)
        self.links = SqlLinks(connection)
        self.company_contacts = SqlCompanyContacts(connection)
        self.personal_contacts = SqlStore(connection, _PERSONAL_CONTACTS)
        self.audit = SqlAudit(connection)
        self.secrets = SqlSecrets(connection)


class Shared(AbstractAsyncContextManager[SqlTransaction]):
    """Stores that all callers may read from at any time, without a transaction."""

    def __init__(self, stores: SqlTransaction) -> None:
        self._stores = stores

    async def __aenter__(self) -> SqlTransaction:
        return self._stores

    async def __aexit__(self, *_: object) -> None:
        pass
