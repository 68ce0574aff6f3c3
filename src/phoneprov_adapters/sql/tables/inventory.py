"""Extensions, phones, their flags, modules and services, PINs."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from phoneprov_adapters.sql.tables.columns import (
    listed,
    metadata,
    moment,
    owner,
    search,
    string,
    text,
    user,
    uuid,
)

extensions = Table(
    "extensions",
    metadata,
    uuid(),
    Column("type", string(16), nullable=False),
    Column("extension", text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("password_sealed", LargeBinary, nullable=False),
    Column("password_key_id", string(16), nullable=False),
    Column("description", Text),
    Column("voicemail", Boolean, nullable=False),
    Column("voicemail_passcode_sealed", LargeBinary),
    Column("voicemail_passcode_key_id", string(16)),
    Column("is_active", Boolean, nullable=False),
    moment("created_at"),
    Column("created_by", string(36)),
    moment("updated_at"),
    Column("updated_by", string(36)),
    Column("created_ip", string(45), nullable=False),
    Column("updated_ip", string(45), nullable=False),
    search(),
    *listed("extensions", "uuid", "type", "voicemail", "is_active"),
    Index(None, "password_key_id", "uuid"),
    Index(None, "voicemail_passcode_key_id", "uuid"),
)

user_extensions = Table(
    "user_extensions",
    metadata,
    uuid(),
    user(),
    owner("extension_uuid", "extensions"),
    moment("created_at"),
    UniqueConstraint("user_uuid", "extension_uuid"),
    Index(None, "created_at", "uuid"),
    Index(None, "extension_uuid", "created_at", "uuid"),
)

phones = Table(
    "phones",
    metadata,
    Column("mac", string(17), primary_key=True),
    Column("brand", Text),
    Column("model", Text),
    Column("description", Text),
    Column("name", Text),
    Column("hostname", Text),
    Column("location", Text),
    Column("phone_ip", string(45)),
    Column("phone_vlan", Text),
    Column("software_version", Text),
    Column("software_type", Text),
    Column("is_active", Boolean, nullable=False),
    moment("created_at"),
    moment("updated_at"),
    # Of the newest deployment: its outcome, and its number, so that an earlier deployment that
    # ends later does not replace it.
    Column("last_outcome", string(16), nullable=False, server_default="none"),
    Column("last_number", BigInteger),
    search(),
    *listed(
        "phones",
        "mac",
        "brand",
        "model",
        "location",
        "phone_vlan",
        "software_version",
        "software_type",
        "is_active",
        "last_outcome",
    ),
)

# Vendor flags and expansion modules may be created before their phone: no foreign key.
vendor_phones = Table(
    "vendor_phones",
    metadata,
    Column("mac", string(17), primary_key=True),
    Column("vendor", Boolean, nullable=False),
    moment("created_at"),
    Index(None, "created_at", "mac"),
)

kems = Table(
    "kems",
    metadata,
    uuid(),
    Column("model", Text),
    Column("mac", string(17)),
    Column("ip", string(45)),
    Column("connected_phone", string(17), index=True),
    Column("software_version", Text),
    Column("software_type", Text),
    moment("created_at"),
    Index(None, "created_at", "uuid"),
)

vendor_services = Table(
    "vendor_services",
    metadata,
    uuid(),
    Column("name", Text),
    Column("url", Text),
    Column("type", Text),
    moment("created_at"),
    moment("updated_at"),
    Index(None, "created_at", "uuid"),
)

vendor_users = Table(
    "vendor_users",
    metadata,
    uuid(),
    user(unique=True),
    Column("pin_code", Text, nullable=False),
    moment("created_at"),
)
