"""The whole schema.

Moments that are shown are kept as the text that is shown; deadlines as milliseconds. A column
``x_key`` beside a column ``x`` holds what makes two values of ``x`` the same; ``x_sealed`` and
``x_key_id`` hold a secret, encrypted, and the name of the key it was encrypted with.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


# What is looked up or sorted by is compared byte by byte in every database: PostgreSQL would
# otherwise do it by its server's language, whose rules change with the operating system and
# then break indexes.
_text = Text().with_variant(Text(collation="C"), "postgresql")


def _string(length: int) -> String:
    return String(length).with_variant(String(length, collation="C"), "postgresql")


def _uuid() -> Column[str]:
    return Column("uuid", _string(36), primary_key=True)


def _moment(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, _string(24), nullable=nullable)


def _user(name: str = "user_uuid", *, unique: bool = False) -> Column[str]:
    return Column(
        name,
        _string(36),
        ForeignKey("users.uuid", ondelete="CASCADE"),
        nullable=False,
        unique=unique,
    )


users = Table(
    "users",
    metadata,
    _uuid(),
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
    Column("last_uuid", _string(36)),
    Column("last_login_ip", _string(45)),
    Column("last_logout_ip", _string(45)),
    _moment("last_login_at", nullable=True),
    _moment("created_at"),
    _moment("updated_at"),
    Column("created_by", _string(36)),
    Column("created_ip", _string(45), nullable=False),
    Column("updated_ip", _string(45), nullable=False),
    Column("username_key", _text, nullable=False, unique=True),
    Column("email_key", _text, nullable=False, unique=True),
    Index(None, "created_at", "uuid"),
)

passwords = Table(
    "passwords",
    metadata,
    Column(
        "user_uuid", _string(36), ForeignKey("users.uuid", ondelete="CASCADE"), primary_key=True
    ),
    Column("hash", Text, nullable=False),
)

permissions = Table(
    "permissions",
    metadata,
    _uuid(),
    Column("level", BigInteger, nullable=False),
    Column("name", _text, nullable=False),
    Column("description", Text),
    _moment("created_at"),
    UniqueConstraint("level", "name"),
    Index(None, "created_at", "uuid"),
)

assignments = Table(
    "assignments",
    metadata,
    _uuid(),
    _user(unique=True),
    Column(
        "perm_uuid",
        _string(36),
        ForeignKey("permissions.uuid", ondelete="RESTRICT"),
        nullable=False,
        index=True,
    ),
    _moment("created_at"),
)

sessions = Table(
    "sessions",
    metadata,
    _uuid(),
    _user(),
    Column("token_id", _string(36), nullable=False),
    Column("previous_token_id", _string(36)),
    Column("exchanged_at", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("ends_at", BigInteger, nullable=False),
    Index(None, "user_uuid"),
)

login_attempts = Table(
    "login_attempts",
    metadata,
    Column("account_key", _string(64), primary_key=True),
    Column("failures", Integer, nullable=False),
    Column("first_at", BigInteger, nullable=False),
    Column("last_at", BigInteger, nullable=False),
    Column("locked_until", BigInteger, nullable=False),
    Column("undecided", Integer, nullable=False),
    Index(None, "last_at"),
)

extensions = Table(
    "extensions",
    metadata,
    _uuid(),
    Column("type", _string(16), nullable=False),
    Column("extension", _text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("password_sealed", LargeBinary, nullable=False),
    Column("password_key_id", _string(16), nullable=False),
    Column("description", Text),
    Column("voicemail", Boolean, nullable=False),
    Column("voicemail_passcode_sealed", LargeBinary),
    Column("voicemail_passcode_key_id", _string(16)),
    Column("is_active", Boolean, nullable=False),
    _moment("created_at"),
    Column("created_by", _string(36)),
    _moment("updated_at"),
    Column("updated_by", _string(36)),
    Column("created_ip", _string(45), nullable=False),
    Column("updated_ip", _string(45), nullable=False),
    Index(None, "created_at", "uuid"),
    Index(None, "password_key_id", "uuid"),
    Index(None, "voicemail_passcode_key_id", "uuid"),
)

user_extensions = Table(
    "user_extensions",
    metadata,
    _uuid(),
    _user(),
    Column(
        "extension_uuid",
        _string(36),
        ForeignKey("extensions.uuid", ondelete="CASCADE"),
        nullable=False,
    ),
    _moment("created_at"),
    UniqueConstraint("user_uuid", "extension_uuid"),
    Index(None, "created_at", "uuid"),
    Index(None, "extension_uuid", "created_at", "uuid"),
)

phones = Table(
    "phones",
    metadata,
    Column("mac", _string(17), primary_key=True),
    Column("brand", Text),
    Column("model", Text),
    Column("description", Text),
    Column("name", Text),
    Column("hostname", Text),
    Column("location", Text),
    Column("phone_ip", _string(45)),
    Column("phone_vlan", Text),
    Column("software_version", Text),
    Column("software_type", Text),
    Column("is_active", Boolean, nullable=False),
    _moment("created_at"),
    _moment("updated_at"),
    Index(None, "created_at", "mac"),
)

# Vendor flags and expansion modules may be recorded before their phone: no foreign key.
vendor_phones = Table(
    "vendor_phones",
    metadata,
    Column("mac", _string(17), primary_key=True),
    Column("vendor", Boolean, nullable=False),
    _moment("created_at"),
    Index(None, "created_at", "mac"),
)

kems = Table(
    "kems",
    metadata,
    _uuid(),
    Column("model", Text),
    Column("mac", _string(17)),
    Column("ip", _string(45)),
    Column("connected_phone", _string(17), index=True),
    Column("software_version", Text),
    Column("software_type", Text),
    _moment("created_at"),
    Index(None, "created_at", "uuid"),
)

vendor_services = Table(
    "vendor_services",
    metadata,
    _uuid(),
    Column("name", Text),
    Column("url", Text),
    Column("type", Text),
    _moment("created_at"),
    _moment("updated_at"),
    Index(None, "created_at", "uuid"),
)

vendor_users = Table(
    "vendor_users",
    metadata,
    _uuid(),
    _user(unique=True),
    Column("pin_code", Text, nullable=False),
    _moment("created_at"),
)

company_contacts = Table(
    "company_contacts",
    metadata,
    _uuid(),
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
    _moment("created_at"),
    Index(None, "created_at", "uuid"),
)

personal_contacts = Table(
    "personal_contacts",
    metadata,
    _uuid(),
    _user(),
    Column("name", Text, nullable=False),
    Column("work", Text),
    Column("mobile", Text),
    Column("home", Text),
    Column("email", Text),
    Column("ringtone", Text),
    _moment("created_at"),
    Index(None, "user_uuid", "created_at", "uuid"),
)

profiles = Table(
    "profiles",
    metadata,
    _uuid(),
    _user(),
    Column("name", Text, nullable=False),
    Column("description", Text),
    Column("cnf_xml_sealed", LargeBinary, nullable=False),
    Column("cnf_xml_key_id", _string(16), nullable=False),
    Column("compatible_models", Text, nullable=False),
    Column("software_type", _string(4)),
    _moment("created_at"),
    _moment("updated_at"),
    Index(None, "created_at", "uuid"),
    Index(None, "user_uuid", "created_at", "uuid"),
    # Without it, finding the keys in use would read every configuration.
    Index(None, "cnf_xml_key_id", "uuid"),
)

profile_revisions = Table(
    "profile_revisions",
    metadata,
    _uuid(),
    Column(
        "profile_uuid",
        _string(36),
        ForeignKey("profiles.uuid", ondelete="CASCADE"),
        nullable=False,
    ),
    Column("number", Integer, nullable=False),
    Column("sha256", _string(64), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("cnf_xml_sealed", LargeBinary, nullable=False),
    Column("cnf_xml_key_id", _string(16), nullable=False),
    _moment("created_at"),
    Column("created_by", _string(36)),
    UniqueConstraint("profile_uuid", "number"),
    Index(None, "cnf_xml_key_id", "uuid"),
)

deployments = Table(
    "deployments",
    metadata,
    _uuid(),
    Column("mac", _string(17), nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("action", _string(16), nullable=False),
    Column("profile_uuid", _string(36), nullable=False),
    Column("profile_name", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("sha256", _string(64), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("owner_uuid", _string(36), nullable=False),
    Column("user_uuid", _string(36)),
    Column("filename", Text, nullable=False),
    Column("place", Text),
    Column("outcome", _string(16), nullable=False, index=True),
    Column("failed_step", _string(16)),
    Column("message", Text),
    Column("steps", Text, nullable=False),
    Column("restart", Text),
    Column("confirmation", _string(16), nullable=False),
    Column("confirmation_message", Text),
    _moment("confirmation_by", nullable=True),
    _moment("confirmation_at", nullable=True),
    _moment("created_at"),
    _moment("ended_at", nullable=True),
    UniqueConstraint("mac", "number"),
    Index(None, "created_at", "uuid"),
    Index(None, "mac", "created_at", "uuid"),
    Index(None, "profile_uuid", "created_at", "uuid"),
    Index(None, "owner_uuid", "created_at", "uuid"),
    Index(None, "user_uuid", "created_at", "uuid"),
)

batches = Table(
    "batches",
    metadata,
    _uuid(),
    Column("action", _string(16), nullable=False),
    Column("profile_uuid", _string(36)),
    Column("profile_name", Text),
    Column("revision", Integer),
    Column("model", Text),
    Column("location", Text),
    Column("software_type", Text),
    Column("at_once", Integer, nullable=False),
    Column("per_minute", Integer),
    Column("stop_after_failures", Integer),
    Column("wait_minutes", Integer, nullable=False),
    Column("user_uuid", _string(36), nullable=False),
    Column("state", _string(16), nullable=False),
    Column("message", Text),
    _moment("created_at"),
    _moment("ended_at", nullable=True),
    Column("holder", _string(36), nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "created_at", "uuid"),
    Index(None, "ended_at"),
)

batch_phones = Table(
    "batch_phones",
    metadata,
    Column(
        "batch_uuid", _string(36), ForeignKey("batches.uuid", ondelete="CASCADE"), primary_key=True
    ),
    Column("position", Integer, primary_key=True),
    Column("mac", _string(17), nullable=False),
    Column("state", _string(16), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("cut_off", Integer, nullable=False),
    Column("attempt_uuid", _string(36), nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("not_before", BigInteger, nullable=False),
    _moment("waiting_since", nullable=True),
    Column("deployment_uuid", _string(36)),
    Column("message", Text),
    _moment("started_at", nullable=True),
    _moment("ended_at", nullable=True),
    UniqueConstraint("batch_uuid", "mac"),
    # What is next, and how many stand where, without looking at the others.
    Index(None, "batch_uuid", "state", "not_before", "position"),
)

leases = Table(
    "leases",
    metadata,
    Column("mac", _string(17), primary_key=True),
    Column("holder", _string(36), nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
)

service_sessions = Table(
    "service_sessions",
    metadata,
    Column("mac", _string(17), primary_key=True),
    _user(),
    _moment("opened_at"),
    Index(None, "user_uuid"),
)
