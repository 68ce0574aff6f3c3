"""Stores of accounts, sessions, directories and the audit trail."""

from functools import cached_property

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.stores.people.audit import SqlAudit
from phoneprov_adapters.sql.stores.people.auth import (
    SqlLoginAddresses,
    SqlLoginAttempts,
    SqlRates,
    SqlSessions,
)
from phoneprov_adapters.sql.stores.people.directory import SqlCompanyContacts
from phoneprov_adapters.sql.stores.people.users import (
    SqlApiTokens,
    SqlAssignments,
    SqlUsers,
    SqlVendorUsers,
)
from phoneprov_adapters.sql.stores.store import SqlStore
from phoneprov_adapters.sql.tables.people import PERMISSIONS, PERSONAL_CONTACTS, RIGHTS


class PeopleStores:
    """The stores of accounts, sessions, directories and the audit trail."""

    _connection: Connection

    users = cached_property(lambda self: SqlUsers(self._connection))
    permissions = cached_property(lambda self: SqlStore(self._connection, PERMISSIONS))
    assignments = cached_property(lambda self: SqlAssignments(self._connection))
    rights = cached_property(lambda self: SqlStore(self._connection, RIGHTS))
    sessions = cached_property(lambda self: SqlSessions(self._connection))
    api_tokens = cached_property(lambda self: SqlApiTokens(self._connection))
    attempts = cached_property(lambda self: SqlLoginAttempts(self._connection))
    login_addresses = cached_property(lambda self: SqlLoginAddresses(self._connection))
    rates = cached_property(lambda self: SqlRates(self._connection))
    vendor_users = cached_property(lambda self: SqlVendorUsers(self._connection))
    company_contacts = cached_property(lambda self: SqlCompanyContacts(self._connection))
    personal_contacts = cached_property(lambda self: SqlStore(self._connection, PERSONAL_CONTACTS))
    audit = cached_property(lambda self: SqlAudit(self._connection))
