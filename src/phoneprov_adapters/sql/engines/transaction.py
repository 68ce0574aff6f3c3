"""All stores over one connection."""

from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import Protocol

from sqlalchemy import Text, bindparam, select

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import claimed
from phoneprov_adapters.sql.stores.features.batches import BatchStores
from phoneprov_adapters.sql.stores.features.desks import DeskStores
from phoneprov_adapters.sql.stores.features.fleet import FleetStores
from phoneprov_adapters.sql.stores.features.history import HistoryStores
from phoneprov_adapters.sql.stores.features.identities import IdentityStores
from phoneprov_adapters.sql.stores.features.lines import LineStores
from phoneprov_adapters.sql.stores.features.rehearsal import RehearsalStores
from phoneprov_adapters.sql.stores.features.retention import RetentionStores
from phoneprov_adapters.sql.stores.features.serving import ServingStores
from phoneprov_adapters.sql.stores.features.sync import SyncStores
from phoneprov_adapters.sql.stores.features.templates import TemplateStores
from phoneprov_adapters.sql.stores.inventory.extensions import SqlExtensions, SqlLinks
from phoneprov_adapters.sql.stores.inventory.phone_parts import (
    SqlEnrichedPhones,
    SqlKems,
    SqlVendorPhones,
)
from phoneprov_adapters.sql.stores.inventory.phones import (
    SqlLocations,
    SqlNotes,
    SqlPhones,
    SqlReplacements,
)
from phoneprov_adapters.sql.stores.inventory.profiles import (
    SqlProfiles,
    SqlRevisions,
    SqlWholeProfiles,
)
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
from phoneprov_adapters.sql.stores.sealed import SqlSecrets
from phoneprov_adapters.sql.stores.store import SqlStore
from phoneprov_adapters.sql.stores.switching import SwitchingStores
from phoneprov_adapters.sql.tables.inventory import VENDOR_SERVICES
from phoneprov_adapters.sql.tables.people import PERMISSIONS, PERSONAL_CONTACTS, RIGHTS
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.ports import ReadAndWrite

_CLAIM = select(claimed(bindparam("kind", type_=Text())))


class SqlTransaction(
    SwitchingStores,
    DeskStores,
    TemplateStores,
    BatchStores,
    FleetStores,
    HistoryStores,
    IdentityStores,
    LineStores,
    ServingStores,
    RetentionStores,
    SyncStores,
    RehearsalStores,
):
    """The stores of one transaction: the stores of people and inventory are defined here, the
    others in the module of their room. Satisfies the transaction protocol of every feature. Each
    store is created at its first use, because a transaction uses only a few stores."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.trail = connection.trail

    async def flush(self) -> None:
        """Execute the deferred changes of all stores. Raises the errors of deferred calls of
        ``add`` and ``put``."""
        await self._connection.flush()

    async def claim_import(self, kind: str) -> bool:
        """Claim the import of a kind of table for this writing transaction. Returns False, without
        waiting, if another open transaction has the claim. On SQLite always True: there writers
        wait for each other."""
        row = await self._connection.fetch_one(_CLAIM, kind=kind)
        return row is not None and bool(row[0])

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

    phones = cached_property(lambda self: SqlPhones(self._connection))
    replacements = cached_property(lambda self: SqlReplacements(self._connection))
    notes = cached_property(lambda self: SqlNotes(self._connection))
    kems = cached_property(lambda self: SqlKems(self._connection))
    vendor_phones = cached_property(lambda self: SqlVendorPhones(self._connection))
    enriched_phones = cached_property(lambda self: SqlEnrichedPhones(self._connection))
    vendor_services = cached_property(lambda self: SqlStore(self._connection, VENDOR_SERVICES))
    locations = cached_property(lambda self: SqlLocations(self._connection))
    profiles = cached_property(lambda self: SqlProfiles(self._connection))
    whole_profiles = cached_property(lambda self: SqlWholeProfiles(self._connection))
    revisions = cached_property(lambda self: SqlRevisions(self._connection, self.deployments))
    extensions = cached_property(lambda self: SqlExtensions(self._connection))
    links = cached_property(lambda self: SqlLinks(self._connection))

    secrets = cached_property(lambda self: SqlSecrets(self._connection))


class Database(ReadAndWrite[SqlTransaction], Protocol):
    """A database with all stores. It is opened once, before it is used, and may be opened again
    after it was closed."""

    def write(self, *, by: Actor | None = None) -> AbstractAsyncContextManager[SqlTransaction]:
        """As in ``ReadAndWrite``. Without an actor, the audit trail records nothing: for
        maintenance that changes no record of a user."""

    async def open(self) -> None:
        """Open the database for reading and writing. Raises ``Unavailable``."""

    async def close(self) -> None:
        """Release all resources; committed data stay. Later reads and writes raise ``Unavailable``.
        Closing twice has no effect."""
