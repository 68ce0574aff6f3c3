"""All stores over one connection."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from functools import cached_property

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.stores.audit import SqlAudit
from phoneprov_adapters.sql.stores.batches import SqlBatches
from phoneprov_adapters.sql.stores.deployments import SqlDeployments
from phoneprov_adapters.sql.stores.desks import SqlDesks
from phoneprov_adapters.sql.stores.directory import SqlCompanyContacts
from phoneprov_adapters.sql.stores.extensions import SqlExtensions, SqlLinks
from phoneprov_adapters.sql.stores.leases import SqlLeases
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
from phoneprov_adapters.sql.stores.throttle import (
    SqlLoginAddresses,
    SqlLoginAttempts,
    SqlRates,
)
from phoneprov_adapters.sql.stores.users import SqlAssignments, SqlUsers, SqlVendorUsers
from phoneprov_adapters.sql.tables import permissions, personal_contacts
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

    @cached_property
    def users(self) -> SqlUsers:
        return SqlUsers(self._connection)

    @cached_property
    def permissions(self) -> SqlStore[Permission]:
        return SqlStore(self._connection, _PERMISSIONS)

    @cached_property
    def assignments(self) -> SqlAssignments:
        return SqlAssignments(self._connection)

    @cached_property
    def sessions(self) -> SqlSessions:
        return SqlSessions(self._connection)

    @cached_property
    def attempts(self) -> SqlLoginAttempts:
        return SqlLoginAttempts(self._connection)

    @cached_property
    def login_addresses(self) -> SqlLoginAddresses:
        return SqlLoginAddresses(self._connection)

    @cached_property
    def rates(self) -> SqlRates:
        return SqlRates(self._connection)

    @cached_property
    def phones(self) -> SqlPhones:
        return SqlPhones(self._connection)

    @cached_property
    def kems(self) -> SqlKems:
        return SqlKems(self._connection)

    @cached_property
    def vendor_phones(self) -> SqlVendorPhones:
        return SqlVendorPhones(self._connection)

    @cached_property
    def enriched_phones(self) -> SqlEnrichedPhones:
        return SqlEnrichedPhones(self._connection)

    @cached_property
    def vendor_services(self) -> SqlStore[VendorService]:
        return SqlStore(self._connection, _VENDOR_SERVICES)

    @cached_property
    def profiles(self) -> SqlProfiles:
        return SqlProfiles(self._connection)

    @cached_property
    def whole_profiles(self) -> SqlWholeProfiles:
        return SqlWholeProfiles(self._connection, self._box)

    @cached_property
    def deployments(self) -> SqlDeployments:
        return SqlDeployments(self._connection, self._box)

    @cached_property
    def revisions(self) -> SqlRevisions:
        return SqlRevisions(self._connection, self._box, self.deployments)

    @cached_property
    def leases(self) -> SqlLeases:
        return SqlLeases(self._connection)

    @cached_property
    def batches(self) -> SqlBatches:
        return SqlBatches(self._connection)

    @cached_property
    def desks(self) -> SqlDesks:
        return SqlDesks(self._connection)

    @cached_property
    def retention(self) -> SqlRetention:
        return SqlRetention(self._connection, self.deployments)

    @cached_property
    def statistics(self) -> SqlStatistics:
        return SqlStatistics(self._connection)

    @cached_property
    def served_files(self) -> SqlServedFiles:
        return SqlServedFiles(self._connection, self._box)

    @cached_property
    def fetches(self) -> SqlFetches:
        return SqlFetches(self._connection)

    @cached_property
    def discovered_phones(self) -> SqlDiscoveredPhones:
        return SqlDiscoveredPhones(self._connection)

    @cached_property
    def vendor_users(self) -> SqlVendorUsers:
        return SqlVendorUsers(self._connection)

    @cached_property
    def extensions(self) -> SqlExtensions:
        return SqlExtensions(self._connection, self._box)

    @cached_property
    def links(self) -> SqlLinks:
        return SqlLinks(self._connection)

    @cached_property
    def company_contacts(self) -> SqlCompanyContacts:
        return SqlCompanyContacts(self._connection)

    @cached_property
    def personal_contacts(self) -> SqlStore[PersonalContact]:
        return SqlStore(self._connection, _PERSONAL_CONTACTS)

    @cached_property
    def audit(self) -> SqlAudit:
        return SqlAudit(self._connection)

    @cached_property
    def secrets(self) -> SqlSecrets:
        return SqlSecrets(self._connection)


class Shared(AbstractAsyncContextManager[SqlTransaction]):
    """Stores that all callers may read from at any time, without a transaction."""

    def __init__(self, stores: SqlTransaction) -> None:
        self._stores = stores

    async def __aenter__(self) -> SqlTransaction:
        return self._stores

    async def __aexit__(self, *_: object) -> None:
        pass
