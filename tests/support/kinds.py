"""The kinds of records that every store test runs over; one line per kind."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from phoneprov_adapters.sql.engines.transaction import Database, SqlTransaction
from phoneprov_adapters.testing.phone_records import (
    a_flag,
    a_kem,
    a_phone,
    a_profile,
    a_template,
)
from phoneprov_adapters.testing.records import (
    a_company_contact,
    a_permission,
    a_personal_contact,
    a_user,
    an_extension,
    identifier,
    moment,
)
from phoneprov_core.access.model import Assignment
from phoneprov_core.api_tokens import ApiTokenRecord
from phoneprov_core.audit.model import TracedEntry
from phoneprov_core.auth.model import Session
from phoneprov_core.batches.model import Batch
from phoneprov_core.deployments.model import Deployment
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.store import Store
from phoneprov_core.links import Link
from phoneprov_core.provisioning.model import Fetch
from phoneprov_core.vendor_services import VendorService
from phoneprov_core.vendor_users import VendorUser

OTHER_OWNER = identifier(901)
OWNERS = (a_user(900), a_user(901))
"""Users that own the records."""

NO_USER = identifier(999)
"""No user."""


@dataclass(frozen=True)
class Kind:
    """One kind of record: its store, a factory of numbered records, a change, and other records
    that must exist."""

    name: str
    store: Callable[[SqlTransaction], Store[Any]]
    make: Callable[..., Any]
    change: dict[str, Any]
    key: str = "uuid"
    others: tuple[Any, ...] = ()

    def key_of(self, record: Any) -> str:
        """The record's key."""
        return str(getattr(record, self.key))

    def changed(self, record: Any) -> Any:
        """The record with a change."""
        return msgspec.structs.replace(record, **self.change)

    def __repr__(self) -> str:
        return self.name


USERS = Kind("users", lambda tx: tx.users, a_user, {"phone": "12", "is_active": False})
PERMISSIONS = Kind(
    "permissions", lambda tx: tx.permissions, a_permission, {"description": "changed\n\ttwice"}
)
PHONES = Kind(
    "phones",
    lambda tx: tx.phones,
    a_phone,
    {"phone_ip": "2001:db8::1", "is_active": False, "brand": None},
    key="mac",
)
PROFILES = Kind(
    "profiles",
    lambda tx: tx.profiles,
    a_profile,
    {"description": "a\n\t\u00e9\U0001f4de", "compatible_models": ("7945", 'a "b", c')},
    others=OWNERS,
)
COMPANY_CONTACTS = Kind(
    "company_contacts",
    lambda tx: tx.company_contacts,
    a_company_contact,
    {"name": "\u00c9milie", "is_active": False, "work": None, "mobile": "1", "company": "a 'b'"},
)
PERSONAL_CONTACTS = Kind(
    "personal_contacts",
    lambda tx: tx.personal_contacts,
    a_personal_contact,
    {"name": "\u00c9milie", "mobile": None, "email": "e@example.com"},
    others=OWNERS,
)
KEMS = Kind(
    "kems",
    lambda tx: tx.kems,
    a_kem,
    {"connected_phone": None, "ip": "2001:db8::1", "mac": None, "software_version": "1.0.4"},
)
VENDOR_PHONES = Kind(
    "vendor_phones", lambda tx: tx.vendor_phones, a_flag, {"vendor": False}, key="mac"
)


def a_service(number: int, **changes: Any) -> VendorService:
    """A service."""
    service = VendorService(
        uuid=identifier(number),
        name="Company directory",
        url="http://pbx/menu.xml",
        type=None,
        created_at=moment(number),
        updated_at=moment(number),
    )
    return msgspec.structs.replace(service, **changes)


def a_token(number: int, user_uuid: str = OWNERS[0].uuid, **changes: Any) -> ApiTokenRecord:
    """An API token."""
    token = ApiTokenRecord(
        uuid=identifier(number),
        user_uuid=user_uuid,
        name=f"token {number}",
        read_only=False,
        expires_at=None,
        last_used_at=None,
        created_at=moment(number),
        hash=f"{number:016}${number:064}",
    )
    return msgspec.structs.replace(token, **changes)


API_TOKENS = Kind(
    "api_tokens",
    lambda tx: tx.api_tokens,
    a_token,
    {"name": "\u00c9", "read_only": True, "expires_at": moment(5)},
    others=OWNERS,
)
VENDOR_SERVICES = Kind(
    "vendor_services",
    lambda tx: tx.vendor_services,
    a_service,
    {"name": None, "url": "https://pbx/ü?a=b", "type": "É"},
)
TEMPLATES = Kind(
    "templates",
    lambda tx: tx.templates,
    a_template,
    {"model": None, "software_type": "SIP", "body": "<a>\u00e9{{ phone.mac }}</a>", "revision": 2},
)
EXTENSIONS = Kind(
    "extensions",
    lambda tx: tx.extensions,
    an_extension,
    {
        "password": " \u00e9\U0001f4de'\" ",
        "voicemail": True,
        "voicemail_passcode": "2468",
        "description": "changed\n\ttwice",
        "is_active": False,
        "created_by": NO_USER,
        "updated_by": NO_USER,
    },
)
KINDS = [
    USERS,
    PERMISSIONS,
    PHONES,
    PROFILES,
    COMPANY_CONTACTS,
    PERSONAL_CONTACTS,
    KEMS,
    VENDOR_PHONES,
    VENDOR_SERVICES,
    TEMPLATES,
    EXTENSIONS,
    API_TOKENS,
]


_STORES: dict[type, Callable[[SqlTransaction], Any]] = {
    **{type(kind.make(1)): kind.store for kind in KINDS},
    Link: lambda tx: tx.links,
    Deployment: lambda tx: tx.deployments,
    Batch: lambda tx: tx.batches,
    Fetch: lambda tx: tx.fetches,
    TracedEntry: lambda tx: tx.audit,
}


def store_of(tx: SqlTransaction, record: Any) -> Any:
    """The store of a record."""
    return _STORES[type(record)](tx)


_ADDED_OTHERWISE: dict[type, Callable[[SqlTransaction], Callable[[Any], Awaitable[Any]]]] = {
    Assignment: lambda tx: tx.assignments.assign,
    Session: lambda tx: tx.sessions.start,
    VendorUser: lambda tx: tx.vendor_users.save,
}


async def add(database: Database, *records: Any, by: Actor | None = None) -> None:
    """Add records of any kind in one transaction."""
    async with database.write(by=by) as tx:
        for record in records:
            method = _ADDED_OTHERWISE.get(type(record))
            await (method(tx) if method else store_of(tx, record).add)(record)
