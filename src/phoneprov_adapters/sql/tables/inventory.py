"""Extensions, and phones: their flags, modules and services, PINs, states, drills, the numbers of
their deployments, and the files that they fetch."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from phoneprov_adapters.sql.tables.columns import (
    metadata,
    moment,
    note_columns,
    string,
    table_of,
    text,
    uuid,
)
from phoneprov_adapters.sql.tables.records import Records
from phoneprov_core.features.fleet.model import Replacement
from phoneprov_core.features.fleet.states import SeenPhone
from phoneprov_core.features.lines.drills import Drill
from phoneprov_core.features.serving.model import DiscoveredPhone, Fetch
from phoneprov_core.inventory.extensions import EXTENSION_FIELDS, Extension, ExtensionSearch
from phoneprov_core.inventory.links import Link
from phoneprov_core.inventory.locations import Location
from phoneprov_core.inventory.phone_parts import Kem, VendorPhoneRecord
from phoneprov_core.inventory.phones.model import Phone, PhoneSearch
from phoneprov_core.inventory.vendor_services import VendorService
from phoneprov_core.people.vendor_users import VendorUser

extensions = table_of(
    Extension,
    "extensions",
    unique="extension",
    sealed=("password", "voicemail_passcode"),
    searched=ExtensionSearch,
    type=string(16),
)
EXTENSIONS = Records(Extension, extensions, one_name="extension", search=EXTENSION_FIELDS)

user_extensions = table_of(
    Link,
    "user_extensions",
    UniqueConstraint("user_uuid", "extension_uuid"),
    Index(None, "extension_uuid", "created_at", "uuid"),
    owners={"user_uuid": "users", "extension_uuid": "extensions"},
)
LINKS = Records(Link, user_extensions, one_name="link")

phones = table_of(
    Phone,
    "phones",
    # Of the newest deployment: its outcome, and its number, so that an earlier deployment that
    # ends later does not replace it.
    Column("last_outcome", string(16), nullable=False, server_default="none"),
    Column("last_number", BigInteger),
    Index(None, "is_active", "last_outcome", "model"),
    # Of the newest drill whose result is known.
    Column("last_drill", string(16), nullable=False, server_default="none"),
    Index(None, "is_active", "last_drill"),
    *note_columns(),
    key="mac",
    searched=PhoneSearch,
)

# Which phone took the place of which; they need not be in the inventory.
replacements = table_of(
    Replacement,
    "replacements",
    Index(None, "earlier", "created_at"),
    key="mac",
    listed=False,
    earlier=string(17),
)

# Vendor flags and expansion modules may be created before their phone: no foreign key.
vendor_phones = table_of(VendorPhoneRecord, "vendor_phones", key="mac")
VENDOR_PHONES = Records(VendorPhoneRecord, vendor_phones, one_name="vendor phone")

kems = table_of(Kem, "kems", Index(None, "connected_phone"), connected_phone=string(17))
KEMS = Records(Kem, kems, owner="connected_phone", one_name="KEM")

VENDOR_SERVICES = Records(
    VendorService, table_of(VendorService, "vendor_services"), one_name="service"
)

locations = table_of(Location, "locations", Column("name_key", text, nullable=False, unique=True))
LOCATIONS = Records(Location, locations, one_name="location")

vendor_users = table_of(
    VendorUser, "vendor_users", owners={"user_uuid": "users"}, unique="user_uuid", listed=False
)
VENDOR_USERS = Records(VendorUser, vendor_users, key="user_uuid", one_name="PIN")


def _phone(*, primary_key: bool = False) -> Column[str]:
    inventory = ForeignKey("phones.mac", ondelete="CASCADE")
    return Column("mac", string(17), inventory, primary_key=primary_key, nullable=False)


phone_states = table_of(
    SeenPhone,
    "phone_states",
    _phone(primary_key=True),
    Index(None, "states", "reported_load", "mac"),
    key="mac",
    listed=False,
    since=string(24),
    states=text,
    file=string(16),
)

phone_state_changes = Table(
    "phone_state_changes",
    metadata,
    uuid(),
    _phone(),
    Column("state", string(16), nullable=False),
    moment("at"),
    Index(None, "mac", "at", "uuid"),
    Index(None, "at", "uuid"),
)

drills = table_of(
    Drill,
    "drills",
    Index(None, "mac", "created_at", "uuid"),
    # Where a line was at a moment.
    Index(None, "line", "created_at"),
    line=string(80),
    result=string(16),
)

deployment_days = Table(
    "deployment_days",
    metadata,
    Column("day", string(10), primary_key=True),
    Column("outcome", string(16), primary_key=True),
    Column("deployments", BigInteger, nullable=False),
)


served_files = Table(
    "served_files",
    metadata,
    Column("name_key", string(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("content_sealed", LargeBinary, nullable=False),
    Column("content_key_id", string(16), nullable=False),
    Column("attempt", string(36), nullable=False),
    Index(None, "content_key_id", "name_key"),
)

fetches = table_of(
    Fetch,
    "fetches",
    Index(None, "mac", "created_at", "uuid"),
    required=("bytes",),
    transport=string(4),
    result=string(16),
)

discovered_phones = table_of(
    DiscoveredPhone,
    "discovered_phones",
    # The first address that asked, as limits count it.
    Column("discovered_by", string(45), nullable=False),
    Index(None, "discovered_by", "last_seen_at", "mac"),
    Index(None, "first_seen_at", "mac"),
    Index(None, "last_seen_at", "mac"),
    key="mac",
    listed=False,
)
