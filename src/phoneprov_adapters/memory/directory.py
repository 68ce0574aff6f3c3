"""Contacts in memory."""

from phoneprov_adapters.memory.kinds import COMPANY_CONTACTS
from phoneprov_adapters.memory.store import MemorySearchedStore
from phoneprov_core.directory.model import CompanyContact
from phoneprov_core.directory.ports import CompanyContactStore
from phoneprov_core.directory.terms import FoundContact, TermSearch, first_match, terms_of


class MemoryCompanyContacts(MemorySearchedStore[CompanyContact], CompanyContactStore):
    """Contacts of the company, by uuid. A search looks at each of them."""

    kind = COMPANY_CONTACTS

    async def search(
        self, search: TermSearch, limit: int, *, after: str | None = None
    ) -> list[FoundContact]:
        found = []
        for contact in self._tables.of(COMPANY_CONTACTS).group():
            terms = terms_of(contact)
            firsts = [first_match(terms, prefix) for prefix in search.prefixes]
            if None not in firsts:
                found.append((firsts[0], contact.uuid, contact))
        found.sort(key=lambda one: one[:2])
        if after is not None:
            places = [place for place, one in enumerate(found) if one[1] == after]
            found = found[places[0] + 1 :] if places else []
        return [
            FoundContact(one.uuid, one.name, one.work, one.mobile, one.home)
            for _, _, one in found[:limit]
        ]
