"""Contacts in memory."""

from __future__ import annotations

from phoneprov_adapters.memory.records import Kind, OnRemove, Reference
from phoneprov_adapters.memory.store import MemorySearchedStore, MemoryStore
from phoneprov_adapters.memory.users import USERS
from phoneprov_core.directory.model import CompanyContact, PersonalContact
from phoneprov_core.directory.search import CONTACT_FIELDS

COMPANY_CONTACTS: Kind[CompanyContact] = Kind("company contact", search=CONTACT_FIELDS)
PERSONAL_CONTACTS: Kind[PersonalContact] = Kind(
    "personal contact",
    owner="user_uuid",
    references=(Reference("user_uuid", USERS, OnRemove.GO_ALONG),),
)


class MemoryCompanyContacts(MemorySearchedStore[CompanyContact]):
    """Contacts of the company, by uuid."""

    kind = COMPANY_CONTACTS


class MemoryPersonalContacts(MemoryStore[PersonalContact]):
    """Personal contacts, by uuid."""

    kind = PERSONAL_CONTACTS
