"""Company and personal contacts."""

from sqlalchemy import Boolean, Column, Index, Table, Text

from phoneprov_adapters.sql.tables.columns import (
    listed,
    metadata,
    moment,
    owner,
    search,
    text,
    user,
    uuid,
)

company_contacts = Table(
    "company_contacts",
    metadata,
    uuid(),
    Column("name", Text, nullable=False),
    Column("work", Text),
    Column("mobile", Text),
    Column("home", Text),
    Column("email", Text),
    Column("ringtone", Text),
    Column("department", Text),
    Column("company", Text),
    Column("location", Text),
    Column("building", Text),
    Column("is_active", Boolean, nullable=False),
    moment("created_at"),
    search(),
    *listed(
        "company_contacts", "uuid", "department", "company", "location", "building", "is_active"
    ),
)

# What company contacts are searched by (phoneprov_core.directory.terms).
contact_terms = Table(
    "contact_terms",
    metadata,
    Column("term", text, primary_key=True),
    owner("contact_uuid", "company_contacts", primary_key=True),
    Index(None, "contact_uuid", "term"),
)

personal_contacts = Table(
    "personal_contacts",
    metadata,
    uuid(),
    user(),
    Column("name", Text, nullable=False),
    Column("work", Text),
    Column("mobile", Text),
    Column("home", Text),
    Column("email", Text),
    Column("ringtone", Text),
    moment("created_at"),
    Index(None, "user_uuid", "created_at", "uuid"),
)
