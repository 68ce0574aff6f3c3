"""Accounts, passwords, levels, sessions, counted guesses and the audit trail."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from phoneprov_adapters.sql.tables.columns import (
    listed,
    metadata,
    moment,
    search,
    string,
    text,
    user,
    uuid,
)

users = Table(
    "users",
    metadata,
    uuid(),
    Column("first_name", Text, nullable=False),
    Column("last_name", Text, nullable=False),
    Column("username", Text, nullable=False),
    Column("email", Text, nullable=False),
    Column("phone", Text),
    Column("lang", Text, nullable=False),
    Column("location", Text),
    Column("nationality", Text),
    Column("timezone", Text, nullable=False),
    Column("is_active", Boolean, nullable=False),
    Column("last_uuid", string(36)),
    Column("last_login_ip", string(45)),
    Column("last_logout_ip", string(45)),
    moment("last_login_at", nullable=True),
    moment("created_at"),
    moment("updated_at"),
    Column("created_by", string(36)),
    Column("created_ip", string(45), nullable=False),
    Column("updated_ip", string(45), nullable=False),
    Column("username_key", text, nullable=False, unique=True),
    Column("email_key", text, nullable=False, unique=True),
    search(),
    *listed("users", "uuid", "lang", "location", "nationality", "timezone", "is_active"),
)

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

permissions = Table(
    "permissions",
    metadata,
    uuid(),
    Column("level", BigInteger, nullable=False),
    Column("name", text, nullable=False),
    Column("description", Text),
    moment("created_at"),
    UniqueConstraint("level", "name"),
    Index(None, "created_at", "uuid"),
)

assignments = Table(
    "assignments",
    metadata,
    uuid(),
    user(unique=True),
    Column(
        "perm_uuid",
        string(36),
        ForeignKey("permissions.uuid", ondelete="RESTRICT"),
        nullable=False,
        index=True,
    ),
    moment("created_at"),
)

sessions = Table(
    "sessions",
    metadata,
    uuid(),
    user(),
    Column("token_id", string(36), nullable=False),
    Column("previous_token_id", string(36)),
    Column("exchanged_at", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("ends_at", BigInteger, nullable=False),
    Index(None, "user_uuid"),
)

login_attempts = Table(
    "login_attempts",
    metadata,
    Column("account_key", string(64), primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("first_at", BigInteger, nullable=False),
    Column("last_at", BigInteger, nullable=False),
    Column("locked_until", BigInteger, nullable=False),
    Column("undecided", Integer, nullable=False),
    Column("in_a_row", Integer, nullable=False),
    Column("known", Integer, nullable=False),
    Index(None, "last_at"),
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

# It refers to no other table: entries outlive what they name, and adding one waits for no row.
audit = Table(
    "audit",
    metadata,
    uuid(),
    moment("at"),
    Column("actor_uuid", string(36)),
    Column("actor", Text),
    Column("client_ip", string(45)),
    Column("request_id", string(64)),
    Column("action", string(64), nullable=False),
    Column("resource", string(32), nullable=False),
    Column("resource_id", string(255)),
    Column("changes", Text, nullable=False),
    Column("traceparent", string(55)),
    Index(None, "at", "uuid"),
    Index(None, "actor_uuid", "at", "uuid"),
    Index(None, "action", "at", "uuid"),
    Index(None, "resource", "at", "uuid"),
    Index(None, "resource_id", "at", "uuid"),
)
