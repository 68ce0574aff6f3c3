"""Accounts, sessions, guesses, the audit trail, and directories."""

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text as sql,
)
from sqlalchemy.schema import SchemaItem

from phoneprov_adapters.sql.tables.columns import (
    WITHOUT_NOTE,
    metadata,
    note_columns,
    only_on,
    owner,
    string,
    table_of,
    text,
    user,
)
from phoneprov_adapters.sql.tables.records import Records
from phoneprov_core.features.identities.model import Identity
from phoneprov_core.people.access import Assignment, Permission
from phoneprov_core.people.audit import AuditEntry
from phoneprov_core.people.auth.model import Session
from phoneprov_core.people.directory.model import (
    CONTACT_FIELDS,
    CompanyContact,
    ContactSearch,
    PersonalContact,
)
from phoneprov_core.people.me import ApiTokenRecord
from phoneprov_core.people.permissions import Right
from phoneprov_core.people.throttle import Attempts
from phoneprov_core.people.users.model import USER_FIELDS, User, UserSearch

users = table_of(
    User,
    "users",
    Column("username_key", text, nullable=False, unique=True),
    Column("email_key", text, nullable=False, unique=True),
    *note_columns(),
    searched=UserSearch,
)
USERS = Records(User, users, one_name="user", search=USER_FIELDS, derived=WITHOUT_NOTE)

passwords = Table(
    "passwords",
    metadata,
    user(primary_key=True),
    Column("hash", Text, nullable=False),
)

username_looks = Table(
    "username_looks",
    metadata,
    Column("look", text, primary_key=True),
    user(),
    Index(None, "user_uuid"),
)

permissions = table_of(Permission, "permissions", UniqueConstraint("level", "name"), name=text)
PERMISSIONS = Records(Permission, permissions, one_name="permission")

assignments = table_of(
    Assignment,
    "assignments",
    owners={"user_uuid": "users"},
    used={"perm_uuid": "permissions"},
    unique="user_uuid",
    without=("level", "perm_name"),
    listed=False,
)

RIGHTS = Records(
    Right,
    table_of(Right, "rights", user(primary_key=True), key="user_uuid"),
    one_name="right",
)
rights = RIGHTS.table

sessions = table_of(
    Session,
    "sessions",
    Index(None, "user_uuid"),
    owners={"user_uuid": "users"},
    listed=False,
    token_id=string(36),
    previous_token_id=string(36),
)

API_TOKENS = Records(
    ApiTokenRecord,
    table_of(
        ApiTokenRecord,
        "api_tokens",
        UniqueConstraint("user_uuid", "name"),
        Index(None, "user_uuid", "created_at", "uuid"),
        owners={"user_uuid": "users"},
        unique="hash",
        listed=False,
        name=text,
        hash=string(81),
    ),
    owner="user_uuid",
    one_name="API token",
)
api_tokens = API_TOKENS.table

IDENTITIES = Records(
    Identity,
    table_of(
        Identity,
        "identities",
        UniqueConstraint("issuer", "subject"),
        UniqueConstraint("user_uuid", "issuer"),
        owners={"user_uuid": "users"},
        listed=False,
        issuer=text,
        subject=text,
    ),
    owner="user_uuid",
    one_name="identity",
)

login_attempts = table_of(
    Attempts,
    "login_attempts",
    Column("account_key", string(64), primary_key=True),
    Index(None, "last_at"),
    key="account_key",
    listed=False,
)

login_addresses = Table(
    "login_addresses",
    metadata,
    user(primary_key=True),
    Column("address", string(45), primary_key=True),
    Column("last_at", BigInteger, nullable=False),
    Index(None, "address", "last_at"),
)

rates = Table(
    "rates",
    metadata,
    Column("subject", string(100), primary_key=True),
    Column("first_at", BigInteger, nullable=False),
    Column("events", Integer, nullable=False),
    Column("items", Text, nullable=False),
    Index(None, "first_at"),
)


def newest_by_kind(owners: int) -> str:
    """The order of entries in the indexes by kind that begin with this number of owners: an actor
    and a resource_id. In PostgreSQL no other index has the same one: it would read the others in
    search of entries that are rarer than it expects."""
    at = "DESC" if owners == 1 else "DESC NULLS LAST"
    return f"at {at}, uuid {'DESC NULLS LAST' if owners else 'DESC'}"


def _by_kind(*owners: str) -> tuple[SchemaItem, SchemaItem]:
    columns = (*owners, "resource", "action")
    name = f"ix_audit_{'_'.join(columns)}"
    newest = map(sql, newest_by_kind(len(owners)).split(", "))
    return (
        only_on("sqlite", Index(name, *columns, "at", "uuid")),
        only_on("postgresql", Index(name, *columns, *newest)),
    )


# It refers to no other table: entries outlive what they name, and adding one waits for no row.
# Each combination of filters is the beginning of an index, once for each kind of entry (resource
# and action).
audit = table_of(
    AuditEntry,
    "audit",
    Column("traceparent", string(55)),
    Index(None, "at", "uuid"),
    *_by_kind(),
    *_by_kind("actor_uuid"),
    *_by_kind("resource_id"),
    *_by_kind("actor_uuid", "resource_id"),
    listed=False,
    request_id=string(64),
    action=string(64),
    resource=string(32),
    resource_id=string(255),
)


# A key names a record of a kind; it may outlive the record.
directory_keys = Table(
    "directory_keys",
    metadata,
    Column("source", string(32), primary_key=True),
    Column("key", text, primary_key=True),
    Column("kind", string(16), primary_key=True),
    Column("record_uuid", string(36), nullable=False),
    UniqueConstraint("kind", "record_uuid"),
)

directory_sources = Table(
    "directory_sources",
    metadata,
    Column("source", string(32), primary_key=True),
    Column("finished_at", BigInteger, nullable=False),
)

company_contacts = table_of(CompanyContact, "company_contacts", searched=ContactSearch)
COMPANY_CONTACTS = Records(
    CompanyContact, company_contacts, one_name="company contact", search=CONTACT_FIELDS
)

# What company contacts are searched by (phoneprov_core.people.directory.model).
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
