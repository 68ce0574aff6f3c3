"""The kinds of records that every store test runs over. A kind without rules of its own is found by
its store; the others have a line here."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import msgspec
from msgspec import Struct

from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.sql.engines.connection import Connection, Context, Row
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.engines.transaction import Database, SqlTransaction
from phoneprov_adapters.sql.stores.store import SqlStore
from phoneprov_adapters.sql.tables.records import Records
from phoneprov_core.features.batches.model import Batch
from phoneprov_core.features.identities.model import Identity
from phoneprov_core.features.serving.model import Fetch
from phoneprov_core.inventory.links import Link
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.fields import fields_of
from phoneprov_core.kernel.ports import Store
from phoneprov_core.people.access import Assignment
from phoneprov_core.people.audit import TracedEntry
from phoneprov_core.people.auth.model import Session
from phoneprov_core.people.me import ApiTokenRecord
from phoneprov_core.people.permissions import Right
from phoneprov_core.people.vendor_users import VendorUser
from phoneprov_core.switching.deployments.model import Deployment
from support.keys import NEW_KEYS
from support.phone_records import a_flag, a_kem, a_location, a_phone, a_profile, a_template
from support.records import (
    a_company_contact,
    a_permission,
    a_personal_contact,
    a_user,
    an_extension,
    identifier,
    moment,
)

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

    @property
    def path(self) -> str:
        """The last part of the path of a resource of the same name."""
        return self.name.replace("_", "-")

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


def an_identity(number: int, user_uuid: str = OWNERS[0].uuid, **changes: Any) -> Identity:
    """An identity at a provider of its own."""
    issuer = f"https://{number}.example.com"
    identity = Identity(identifier(number), user_uuid, issuer, f"person {number}", moment(number))
    return msgspec.structs.replace(identity, **changes)


IDENTITIES = Kind(
    "identities",
    lambda tx: tx.identities,
    an_identity,
    {"issuer": "https://example.com/\u00e9", "subject": "'\u00c9\""},
    others=OWNERS,
)
TEMPLATES = Kind(
    "templates",
    lambda tx: tx.templates,
    a_template,
    {
        "model": None,
        "software_type": "SIP",
        "body": "<a>\u00e9{{ phone.mac }}</a>",
        "revision": 2,
        "shared": True,
    },
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


LOCATIONS = Kind(
    "locations",
    lambda tx: tx.locations,
    a_location,
    {"name": "K\u00f6ln/2", "emergency_number": None, "emergency_place": "\u00e9\U0001f4de; & %="},
)


def a_right(number: int, **changes: Any) -> Right:
    """The right helpdesk of the user of this number."""
    right = Right(identifier(number), "helpdesk", ("Berlin",), moment(number), moment(number))
    return msgspec.structs.replace(right, **changes)


RIGHTS = Kind(
    "rights",
    lambda tx: tx.rights,
    a_right,
    {"locations": ("K\u00f6ln/2", 'a "b", c')},
    key="user_uuid",
    others=tuple(a_user(number) for number in range(1, 40)),
)


def _sample(records: Records[Any], number: int, *, changed: bool = False) -> dict[str, Any]:
    """Values of the fields of a record that belongs to none, by type and name."""
    values: dict[str, Any] = {}
    kind: type[Struct] = records.fields.kind
    for place, field in enumerate(fields_of(kind)):
        column = records.table.c[field.name]
        last = field.name.rpartition("_")[2]
        value: Any = f"{field.name} {number}"
        if column.type.python_type is bool:
            value = not changed
        elif column.type.python_type is int:
            value = number + changed
        elif last in {"uuid", "by"}:
            value = identifier(number)
        elif last == "at":
            value = moment(number)
        elif last == "url":
            value = f"https://pbx/{number}?\u00e9={changed}"
        elif changed and column.nullable and place % 2:
            value = None
        elif changed:
            value = f"\u00e9\U0001f4de'\" {field.name}"
        values[field.name] = value
    return values


def _standard(name: str, records: Records[Any]) -> Kind:
    set_by_service = {records.key, "created_at", "updated_at"}
    values = _sample(records, 1, changed=True)
    change = {name: value for name, value in values.items() if name not in set_by_service}
    return Kind(
        name,
        attrgetter(name),
        lambda number, **changes: records.fields.kind(**_sample(records, number) | changes),
        change,
        key=records.key,
    )


class _Nowhere(Connection):
    async def fetch_all(self, statement: Statement, **values: Any) -> list[Row]:
        raise AssertionError(statement)


def standard_kinds() -> list[Kind]:
    """The kinds whose store has the common methods alone, and which refer to no other record."""
    tx = SqlTransaction(_Nowhere(Context(SecretBox(NEW_KEYS))))
    named = {type(kind.make(1)) for kind in _NAMED}
    names = [
        name
        for kind in SqlTransaction.__mro__
        for name, it in vars(kind).items()
        if isinstance(it, cached_property)
    ]
    stores = {name: getattr(tx, name) for name in names}
    return [
        _standard(name, store.records)
        for name, store in stores.items()
        if type(store) is SqlStore and store.records.fields.kind not in named
    ]


_NAMED = [
    USERS,
    PERMISSIONS,
    PHONES,
    PROFILES,
    COMPANY_CONTACTS,
    PERSONAL_CONTACTS,
    KEMS,
    VENDOR_PHONES,
    TEMPLATES,
    EXTENSIONS,
    LOCATIONS,
    API_TOKENS,
    RIGHTS,
    IDENTITIES,
]

STANDARD = standard_kinds()
KINDS = [*_NAMED, *STANDARD]

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
