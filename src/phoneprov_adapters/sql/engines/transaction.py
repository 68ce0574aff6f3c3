"""All stores over one connection."""

from functools import cached_property

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.stores.audit import SqlAudit
from phoneprov_adapters.sql.stores.batches import SqlBatches
from phoneprov_adapters.sql.stores.deployments import SqlDeployments, SqlLeases
from phoneprov_adapters.sql.stores.desks import SqlDesks
from phoneprov_adapters.sql.stores.directory import SqlCompanyContacts
from phoneprov_adapters.sql.stores.extensions import SqlExtensions, SqlLinks
from phoneprov_adapters.sql.stores.phones import (
    SqlEnrichedPhones,
    SqlKems,
    SqlPhones,
    SqlVendorPhones,
)
from phoneprov_adapters.sql.stores.profiles import SqlProfiles, SqlRevisions, SqlWholeProfiles
from phoneprov_adapters.sql.stores.provisioning import (
    SqlDiscoveredPhones,
    SqlFetches,
    SqlServedFiles,
)
from phoneprov_adapters.sql.stores.retention import SqlRetention
from phoneprov_adapters.sql.stores.sealed import SqlSecrets
from phoneprov_adapters.sql.stores.sessions import SqlSessions
from phoneprov_adapters.sql.stores.statistics import SqlStatistics
from phoneprov_adapters.sql.stores.store import Records, SqlStore
from phoneprov_adapters.sql.stores.throttle import SqlLoginAddresses, SqlLoginAttempts, SqlRates
from phoneprov_adapters.sql.stores.users import SqlAssignments, SqlUsers, SqlVendorUsers
from phoneprov_adapters.sql.tables.accounts import permissions
from phoneprov_adapters.sql.tables.directory import personal_contacts
from phoneprov_adapters.sql.tables.inventory import vendor_services
from phoneprov_core.access.model import Permission
from phoneprov_core.directory.model import PersonalContact
from phoneprov_core.vendor_services import VendorService

# Records that need no more than the methods of every store.
_PERMISSIONS = Records(Permission, permissions, one_name="permission")
_VENDOR_SERVICES = Records(VendorService, vendor_services, one_name="service")
_PERSONAL_CONTACTS = Records(
    PersonalContact, personal_contacts, owner="user_uuid", one_name="personal contact"
)


class SqlTransaction:
    """Satisfies the transaction protocol of every feature. A store is made when it is first used:
    a transaction uses few of them."""

    def __init__(self, connection: Connection, box: SecretBox) -> None:
        self._connection = connection
        self._box = box
        self.trail = connection.trail

    async def flush(self) -> None:
        """Execute the deferred statements."""
        await self._connection.flush()

    async def claim_import(self, kind: str) -> bool:
        """See ``Stores``."""
        return await self._connection.claim_import(kind)

    users = cached_property(lambda self: SqlUsers(self._connection))
    permissions = cached_property(lambda self: SqlStore(self._connection, _PERMISSIONS))
    assignments = cached_property(lambda self: SqlAssignments(self._connection))
    sessions = cached_property(lambda self: SqlSessions(self._connection))
    attempts = cached_property(lambda self: SqlLoginAttempts(self._connection))
    login_addresses = cached_property(lambda self: SqlLoginAddresses(self._connection))
    rates = cached_property(lambda self: SqlRates(self._connection))
    phones = cached_property(lambda self: SqlPhones(self._connection))
    kems = cached_property(lambda self: SqlKems(self._connection))
    vendor_phones = cached_property(lambda self: SqlVendorPhones(self._connection))
    enriched_phones = cached_property(lambda self: SqlEnrichedPhones(self._connection))
    vendor_services = cached_property(lambda self: SqlStore(self._connection, _VENDOR_SERVICES))
    profiles = cached_property(lambda self: SqlProfiles(self._connection))
    whole_profiles = cached_property(lambda self: SqlWholeProfiles(self._connection, self._box))
    deployments = cached_property(lambda self: SqlDeployments(self._connection, self._box))
    revisions = cached_property(
        lambda self: SqlRevisions(self._connection, self._box, self.deployments)
    )
    leases = cached_property(lambda self: SqlLeases(self._connection))
    batches = cached_property(lambda self: SqlBatches(self._connection))
    desks = cached_property(lambda self: SqlDesks(self._connection))
    retention = cached_property(lambda self: SqlRetention(self._connection, self.deployments))
    statistics = cached_property(lambda self: SqlStatistics(self._connection))
    served_files = cached_property(lambda self: SqlServedFiles(self._connection, self._box))
    fetches = cached_property(lambda self: SqlFetches(self._connection))
    discovered_phones = cached_property(lambda self: SqlDiscoveredPhones(self._connection))
    vendor_users = cached_property(lambda self: SqlVendorUsers(self._connection))
    extensions = cached_property(lambda self: SqlExtensions(self._connection, self._box))
    links = cached_property(lambda self: SqlLinks(self._connection))
    company_contacts = cached_property(lambda self: SqlCompanyContacts(self._connection))
    personal_contacts = cached_property(lambda self: SqlStore(self._connection, _PERSONAL_CONTACTS))
    audit = cached_property(lambda self: SqlAudit(self._connection))
    secrets = cached_property(lambda self: SqlSecrets(self._connection))
