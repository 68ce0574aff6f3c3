"""The stores of all features, and the database."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from phoneprov_core.access.model import Permission
from phoneprov_core.access.ports import AssignmentStore
from phoneprov_core.audit.ports import AuditStore
from phoneprov_core.auth.ports import LoginAddressStore, LoginAttemptStore, SessionStore
from phoneprov_core.batches.ports import BatchStore
from phoneprov_core.deployments.ports import DeploymentStore, LeaseStore
from phoneprov_core.desks.ports import DeskStore
from phoneprov_core.directory.model import PersonalContact
from phoneprov_core.directory.ports import CompanyContactStore
from phoneprov_core.extensions import Extension
from phoneprov_core.kems import KemStore
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.rates import RateStore
from phoneprov_core.kernel.store import ReadAndWrite, Rows, SearchedStore, Store
from phoneprov_core.kernel.trail import Notes
from phoneprov_core.links import LinkStore
from phoneprov_core.me import EnrichedPhone
from phoneprov_core.phones.ports import PhoneStore
from phoneprov_core.profiles.model import ProfileRecord
from phoneprov_core.profiles.ports import RevisionStore, WholeProfileStore
from phoneprov_core.provisioning.ports import DiscoveredPhoneStore, FetchStore, ServedFileStore
from phoneprov_core.retention import RetentionStore
from phoneprov_core.statistics import StatisticsStore
from phoneprov_core.users.ports import UserStore
from phoneprov_core.vendor_phones import VendorPhoneStore
from phoneprov_core.vendor_services import VendorService
from phoneprov_core.vendor_users import VendorUserStore


class Stores(Protocol):
    """The stores of one transaction. It satisfies the transaction protocol of every feature."""

    @property
    def users(self) -> UserStore: ...
    @property
    def permissions(self) -> Store[Permission]: ...
    @property
    def assignments(self) -> AssignmentStore: ...
    @property
    def sessions(self) -> SessionStore: ...
    @property
    def attempts(self) -> LoginAttemptStore: ...
    @property
    def login_addresses(self) -> LoginAddressStore: ...
    @property
    def rates(self) -> RateStore: ...
    @property
    def phones(self) -> PhoneStore: ...
    @property
    def kems(self) -> KemStore: ...
    @property
    def vendor_phones(self) -> VendorPhoneStore: ...
    @property
    def enriched_phones(self) -> Rows[EnrichedPhone]: ...
    @property
    def vendor_services(self) -> Store[VendorService]: ...
    @property
    def profiles(self) -> Store[ProfileRecord]: ...
    @property
    def whole_profiles(self) -> WholeProfileStore: ...
    @property
    def revisions(self) -> RevisionStore: ...
    @property
    def deployments(self) -> DeploymentStore: ...
    @property
    def leases(self) -> LeaseStore: ...
    @property
    def desks(self) -> DeskStore: ...
    @property
    def batches(self) -> BatchStore: ...
    @property
    def served_files(self) -> ServedFileStore: ...
    @property
    def fetches(self) -> FetchStore: ...
    @property
    def discovered_phones(self) -> DiscoveredPhoneStore: ...
    @property
    def retention(self) -> RetentionStore: ...
    @property
    def statistics(self) -> StatisticsStore: ...
    @property
    def vendor_users(self) -> VendorUserStore: ...
    @property
    def company_contacts(self) -> CompanyContactStore: ...
    @property
    def personal_contacts(self) -> Store[PersonalContact]: ...
    @property
    def extensions(self) -> SearchedStore[Extension]: ...
    @property
    def links(self) -> LinkStore: ...
    @property
    def audit(self) -> AuditStore: ...
    @property
    def trail(self) -> Notes: ...

    async def flush(self) -> None:
        """Execute the changes that a store has deferred. Raises the errors of ``add`` and ``put``
        that are still to come."""

    async def claim_import(self, kind: str) -> bool:
        """Claim the import of a kind of table for this writing transaction. False, at once, while
        another open transaction has the claim; where writers wait for each other it never is."""


class Database(ReadAndWrite[Stores], Protocol):
    """A database with all stores. It is opened once, before it is used, and may be opened again
    after it was closed."""

    def write(self, *, by: Actor | None = None) -> AbstractAsyncContextManager[Stores]:
        """As in ``ReadAndWrite``. Without an actor nothing is recorded in the audit trail: for
        maintenance that changes no record of a user's."""

    async def open(self) -> None:
        """Open the database for reading and writing. Raises ``Unavailable``."""

    async def close(self) -> None:
        """Release all resources; committed data stay. Later reads and writes raise ``Unavailable``.
        Closing twice has no effect."""
