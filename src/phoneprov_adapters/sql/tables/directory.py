"""Company and personal contacts."""

from sqlalchemy import Column, Index, Table

from phoneprov_adapters.sql.tables.records import Records, metadata, owner, table_of, text
from phoneprov_core.directory.model import (
    CONTACT_FIELDS,
    CompanyContact,
    ContactSearch,
    PersonalContact,
)

company_contacts = table_of(CompanyContact, "company_contacts", searched=ContactSearch)
COMPANY_CONTACTS = Records(
    CompanyContact, company_contacts, one_name="company contact", search=CONTACT_FIELDS
)

# What company contacts are searched by (phoneprov_core.directory.terms).
contact_terms = Table(
    "contact_terms",
    metadata,
    Column("term", text, primary_key=True),
    owner("contact_uuid", "company_contacts", primary_key=True),
    Index(None, "contact_uuid", "term"),
)

PERSONAL_CONTACTS = Records(
    PersonalContact,
    table_of(
        PersonalContact,
        "personal_contacts",
        Index(None, "user_uuid", "created_at", "uuid"),
        owners={"user_uuid": "users"},
        listed=False,
    ),
    owner="user_uuid",
    one_name="personal contact",
)
