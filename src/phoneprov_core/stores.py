"""Every store of every feature: what a database has to offer."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.model import Permission
from phoneprov_core.access.ports import Assignments
from phoneprov_core.auth.ports import LoginAttempts, Sessions
from phoneprov_core.batches.ports import Batches
from phoneprov_core.deployments.ports import Deployments, Leases, ServiceSessions
from phoneprov_core.directory.model import CompanyContact, PersonalContact
from phoneprov_core.extensions.model import Extension
from phoneprov_core.kems.ports import Kems
from phoneprov_core.kernel.store import ReadAndWrite, Store
from phoneprov_core.links.ports import Links
from phoneprov_core.me.ports import EnrichedPhones
from phoneprov_core.phones.model import Phone
from phoneprov_core.profiles.model import Profile
from phoneprov_core.profiles.ports import Revisions
from phoneprov_core.users.ports import Users
from phoneprov_core.vendor_phones.ports import VendorPhones
from phoneprov_core.vendor_services.model import VendorService
from phoneprov_core.vendor_users.ports import VendorUsers


class Stores(Protocol):
    """The stores of one transaction. It satisfies the slice of every feature."""

    @property
    def users(self) -> Users: ...
    @property
    def permissions(self) -> Store[Permission]: ...
    @property
    def assignments(self) -> Assignments: ...
    @property
    def sessions(self) -> Sessions: ...
    @property
    def attempts(self) -> LoginAttempts: ...
    @property
    def phones(self) -> Store[Phone]: ...
    @property
    def kems(self) -> Kems: ...
    @property
    def vendor_phones(self) -> VendorPhones: ...
    @property
    def enriched_phones(self) -> EnrichedPhones: ...
    @property
    def vendor_services(self) -> Store[VendorService]: ...
    @property
    def profiles(self) -> Store[Profile]: ...
    @property
    def revisions(self) -> Revisions: ...
    @property
    def deployments(self) -> Deployments: ...
    @property
    def leases(self) -> Leases: ...
    @property
    def service_sessions(self) -> ServiceSessions: ...
    @property
    def batches(self) -> Batches: ...
    @property
    def vendor_users(self) -> VendorUsers: ...
    @property
    def company_contacts(self) -> Store[CompanyContact]: ...
    @property
    def personal_contacts(self) -> Store[PersonalContact]: ...
    @property
    def extensions(self) -> Store[Extension]: ...
    @property
    def links(self) -> Links: ...


class Database(ReadAndWrite[Stores], Protocol):
    """A database with every store in it. It is opened once, before anything is read, and may
    be opened again after it was closed."""

    async def open(self) -> None:
        """Be ready to be read and written. Raises ``Unavailable``."""
        ...

    async def close(self) -> None:
        """Let go of what was opened; what was committed stays. Whoever reads or writes from now
        on is told ``Unavailable``. Closing what is closed does nothing."""
        ...
