"""Store ports for contacts."""

from typing import Protocol

from phoneprov_core.access.ports import KnownUsers
from phoneprov_core.directory.model import CompanyContact, PersonalContact
from phoneprov_core.directory.terms import FoundContact, TermSearch
from phoneprov_core.kernel.store import SearchedStore, Store


class CompanyContactStore(SearchedStore[CompanyContact], Protocol):
    """Contacts of the company, with an index to search them by."""

    async def search(
        self, search: TermSearch, limit: int, *, after: str | None = None
    ) -> list[FoundContact]:
        """At most ``limit`` active contacts that have a term (``terms_of``) for each prefix of
        the search, each once, by name without case and accents, then by uuid; beginning after
        the contact with the uuid ``after``, none if that one is not active any more. The cost
        follows the number of contacts that match the first prefix, up to 5,000; beyond, the
        number of names up to the last one returned."""


class CompanyDirectoryTransaction(Protocol):
    """Stores that the use cases of company contacts use."""

    @property
    def company_contacts(self) -> CompanyContactStore: ...


class PersonalDirectoryTransaction(Protocol):
    """Stores that the use cases of personal contacts use. A contact belongs to its user and is
    deleted with them."""

    @property
    def users(self) -> KnownUsers: ...
    @property
    def personal_contacts(self) -> Store[PersonalContact]: ...


class LookupTransaction(CompanyDirectoryTransaction, PersonalDirectoryTransaction, Protocol):
    """Stores that a phone's search reads."""
