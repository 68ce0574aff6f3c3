"""The stores that contacts live in."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.access.ports import KnownUsers
from phoneprov_core.directory.model import CompanyContact, PersonalContact
from phoneprov_core.kernel.store import SearchedStore, Store


class CompanyDirectoryTransaction(Protocol):
    """What the company's contacts are kept in."""

    @property
    def company_contacts(self) -> SearchedStore[CompanyContact]: ...


class PersonalDirectoryTransaction(Protocol):
    """What users' own contacts are kept in. A contact belongs to its user, and goes with
    them."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def personal_contacts(self) -> Store[PersonalContact]: ...
