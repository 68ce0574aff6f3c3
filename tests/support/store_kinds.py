"""The kinds of record of the contract kit."""

from __future__ import annotations

from phoneprov_adapters.testing.kinds import (
    COMPANY_CONTACTS,
    EXTENSIONS,
    KEMS,
    KINDS,
    NOBODY,
    OTHER_OWNER,
    OWNER,
    PERMISSIONS,
    PERSONAL_CONTACTS,
    PHONES,
    PROFILES,
    USERS,
    VENDOR_PHONES,
    VENDOR_SERVICES,
    Kind,
    add,
    find,
)

__all__ = [
    "COMPANY_CONTACTS",
    "EXTENSIONS",
    "KEMS",
    "KINDS",
    "NOBODY",
    "OTHER_OWNER",
    "OWNER",
    "PERMISSIONS",
    "PERSONAL_CONTACTS",
    "PHONES",
    "PROFILES",
    "USERS",
    "VENDOR_PHONES",
    "VENDOR_SERVICES",
    "Kind",
    "add",
    "find",
]
