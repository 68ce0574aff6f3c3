"""Contacts in SQL."""

from __future__ import annotations

from phoneprov_adapters.sql.stores.store import Records, SqlSearchedStore, SqlStore
from phoneprov_adapters.sql.tables import company_contacts, personal_contacts
from phoneprov_core.directory.model import CompanyContact, PersonalContact
from phoneprov_core.directory.search import CONTACT_FIELDS


class SqlCompanyContacts(SqlSearchedStore[CompanyContact]):
    """Contacts of the company, by uuid."""

    records = Records(
        CompanyContact, company_contacts, one_name="company contact", search=CONTACT_FIELDS
    )


class SqlPersonalContacts(SqlStore[PersonalContact]):
    """Personal contacts, by uuid."""

    records = Records(
        PersonalContact, personal_contacts, owner="user_uuid", one_name="personal contact"
    )
