"""Store ports for contacts."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.ports import KnownUsers
from phoneprov_core.directory.model import CompanyContact, PersonalContact
from phoneprov_core.kernel.store import SearchedStore, Store


class CompanyDirectoryTransaction(Protocol):
    """Stores that the use cases of company contacts use."""

    @property
    def company_contacts(self) -> SearchedStore[CompanyContact]: ...


class PersonalDirectoryTransaction(Protocol):
    """Stores that the use cases of personal contacts use. A contact belongs to its user and is
    deleted with them."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def personal_contacts(self) -> Store[PersonalContact]: ...
