"""The kinds of records of the memory database, with their rules."""

from typing import Annotated

from msgspec import Struct

from phoneprov_adapters.memory.records import Kind, Reference, Unique
from phoneprov_core.access.model import Assignment, Permission
from phoneprov_core.audit.model import TracedEntry
from phoneprov_core.auth.model import Session
from phoneprov_core.auth.throttle import Attempts
from phoneprov_core.batches.model import Batch
from phoneprov_core.batches.transitions import BatchItem
from phoneprov_core.deployments.model import Deployment
from phoneprov_core.desks.model import DeskRecord
from phoneprov_core.directory.model import CONTACT_FIELDS, CompanyContact
from phoneprov_core.extensions import EXTENSION_FIELDS, Extension
from phoneprov_core.kems import Kem
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.links import Link
from phoneprov_core.phones.model import PHONE_FIELDS, Phone
from phoneprov_core.profiles.model import PROFILE_FIELDS, ProfileRecord, Revision
from phoneprov_core.provisioning.model import DiscoveredPhone, Fetch, ServedFile
from phoneprov_core.users.model import USER_FIELDS, User, folded
from phoneprov_core.vendor_phones import VendorPhoneRecord
from phoneprov_core.vendor_users import VendorUser

# Accounts

USERS: Kind[User] = Kind(
    "user",
    search=USER_FIELDS,
    unique=(
        Unique("username", "username", lambda user: folded(user.username)),
        Unique("email", "e-mail address", lambda user: folded(user.email)),
    ),
)
OF_USER = Reference("user_uuid", USERS)


class Password(Redacted, frozen=True):
    """The hash of an account's password."""

    user_uuid: str
    hash: Annotated[str, SECRET]


class Look(Struct, frozen=True):
    """The look of an account's username."""

    look: str
    user_uuid: str


PASSWORDS: Kind[Password] = Kind(
    "password", key="user_uuid", created="user_uuid", references=(OF_USER,)
)
LOOKS: Kind[Look] = Kind("look", key="look", created="look", references=(OF_USER,))
PERMISSIONS: Kind[Permission] = Kind(
    "permission",
    unique=(Unique("name", "name", lambda permission: (permission.level, permission.name)),),
)
ASSIGNMENTS: Kind[Assignment] = Kind(
    "assignment",
    key="user_uuid",
    unique=(Unique("uuid", "uuid"),),
    references=(OF_USER, Reference("perm_uuid", PERMISSIONS, restrict=True)),
)
VENDOR_USERS: Kind[VendorUser] = Kind(
    "PIN", key="user_uuid", unique=(Unique("uuid", "uuid"),), references=(OF_USER,)
)
EXTENSIONS: Kind[Extension] = Kind(
    "extension", unique=(Unique("extension", "extension"),), search=EXTENSION_FIELDS
)
LINKS: Kind[Link] = Kind("link", references=(OF_USER, Reference("extension_uuid", EXTENSIONS)))

# Logins


class KeptSession(Session, frozen=True):
    """A session with the previous token, and the time of its exchange."""

    previous_token_id: str | None = None
    exchanged_at: int = 0


class Counted(Struct, frozen=True):
    """The guesses counted for one account."""

    key: str
    attempts: Attempts


class LoginAddress(Struct, frozen=True):
    """An address that an account logged in from, and the time of the last login."""

    key: str
    user_uuid: str
    address: str
    last_at: int


class Counter(Struct, frozen=True):
    """The events of one subject in one window."""

    subject: str
    first_at: int
    events: int
    items: tuple[str, ...] = ()


SESSIONS: Kind[KeptSession] = Kind("session", created="uuid", references=(OF_USER,))
COUNTED: Kind[Counted] = Kind("count", key="key", created="attempts.last_at")
LOGIN_ADDRESSES: Kind[LoginAddress] = Kind(
    "login address",
    key="key",
    created="last_at",
    references=(OF_USER,),
    found_by=("address",),
)
RATES: Kind[Counter] = Kind("rate", key="subject", created="first_at")
AUDIT: Kind[TracedEntry] = Kind("audit entry", key="entry.uuid", created="entry.at")

# Phones

PHONES: Kind[Phone] = Kind("phone", key="mac", search=PHONE_FIELDS)
KEMS: Kind[Kem] = Kind("KEM", found_by=("connected_phone",))
VENDOR_PHONES: Kind[VendorPhoneRecord] = Kind("vendor phone", key="mac")
SERVED_FILES: Kind[ServedFile] = Kind("served file", key="key", created="key")
FETCHES: Kind[Fetch] = Kind("fetch", found_by=("mac",))
DISCOVERED_PHONES: Kind[DiscoveredPhone] = Kind(
    "discovered phone", key="mac", created="first_seen_at"
)
COMPANY_CONTACTS: Kind[CompanyContact] = Kind("company contact", search=CONTACT_FIELDS)


class KeptDesk(DeskRecord, frozen=True):
    """A desk, with the user of the change that is under way."""

    change_user_uuid: str | None = None
    not_before: int = 0


DESKS: Kind[KeptDesk] = Kind("desk", key="mac", created="mac")

# Switching


class KeptRevision(Revision, Redacted, frozen=True):
    """A revision with its configuration."""

    cnf_xml: Annotated[str, SECRET]


class Lease(Struct, frozen=True):
    """The holder of a phone and the end of the lease. A released lease is kept, so that its fence
    continues to grow."""

    mac: str
    holder: str
    fence: int
    expires_at: int


class KeptBatch(Batch, frozen=True):
    """A batch, its holder, and the end of the lease. The phones are not counted."""

    holder: str = ""
    fence: int = 0
    expires_at: int = 0


class KeptPhone(BatchItem, frozen=True):
    """A phone of a batch."""

    @property
    def key(self) -> str:
        return phone_key(self.batch_uuid, self.position)


def phone_key(batch_uuid: str, position: int) -> str:
    """The key of a phone of a batch."""
    return f"{batch_uuid}|{position:010}"


PROFILES: Kind[ProfileRecord] = Kind(
    "profile", owner="user_uuid", search=PROFILE_FIELDS, references=(OF_USER,)
)
REVISIONS: Kind[KeptRevision] = Kind(
    "revision",
    created="number",
    owner="profile_uuid",
    references=(Reference("profile_uuid", PROFILES),),
    unique=(Unique("number", "number", lambda kept: (kept.profile_uuid, kept.number)),),
)
DEPLOYMENTS: Kind[Deployment] = Kind(
    "deployment",
    found_by=("outcome", "mac"),
    unique=(Unique("number", "number", lambda one: (one.mac, one.number)),),
)
LEASES: Kind[Lease] = Kind("lease", key="mac", created="mac")
BATCHES: Kind[KeptBatch] = Kind("batch", owner="user_uuid")
BATCH_PHONES: Kind[KeptPhone] = Kind(
    "phone of a batch",
    key="key",
    created="position",
    references=(Reference("batch_uuid", BATCHES),),
    unique=(Unique("mac", "mac", lambda one: (one.batch_uuid, one.mac)),),
)
