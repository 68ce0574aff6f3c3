"""Contacts in SQL."""

from __future__ import annotations

from phoneprov_adapters.sql.stores.store import Records, SqlStore
from phoneprov_adapters.sql.tables import company_contacts, personal_contacts
from phoneprov_core.directory.model import CompanyContact, PersonalContact


class SqlCompanyContacts(SqlStore[CompanyContact]):
    """Contacts of the company, by uuid."""

    records = Records(CompanyContact, company_contacts, one_name="company contact")


class SqlPersonalContacts(SqlStore[PersonalContact]):
    """Users' own contacts, by uuid."""

    records = Records(
        PersonalContact, personal_contacts, owner="user_uuid", one_name="personal contact"
    )
