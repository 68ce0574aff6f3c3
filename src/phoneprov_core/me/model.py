"""The caller's own account, and phones with their details."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from phoneprov_core.kems.model import Kem
from phoneprov_core.kernel.fields import IpAddress, Level, schema
from phoneprov_core.kernel.times import Timestamp
from phoneprov_core.phones.model import Phone
from phoneprov_core.users.model import User
from phoneprov_core.vendor_phones.model import VendorPhone
from phoneprov_core.vendor_users.model import VendorUser


class OwnPermission(Struct, frozen=True):
    """The caller's permission level and its name."""

    level: Level
    perm_name: Annotated[str, schema(examples=["superadmin"])]


class MeProfile(User, frozen=True):
    """The caller's account with its permission and its PIN; each null if there is none."""

    permission: OwnPermission | None
    vendor_user: VendorUser | None


class EnrichedPhone(Struct, frozen=True):
    """A phone with its vendor flag (null if there is none) and its KEMs, oldest first."""

    mac: Annotated[str, schema(examples=["00:1B:D4:12:34:56"])]
    brand: str | None
    model: Annotated[str, schema(examples=["CP-7945G"])] | None
    description: str | None
    name: str | None
    hostname: str | None
    location: str | None
    phone_ip: IpAddress | None
    phone_vlan: str | None
    software_version: str | None
    software_type: Annotated[str, schema(examples=["SCCP"])] | None
    is_active: bool
    created_at: Timestamp
    is_vendor: bool
    vendor: VendorPhone | None
    key_expansion_modules: tuple[Kem, ...]


def enriched(phone: Phone, vendor: VendorPhone | None, kems: tuple[Kem, ...]) -> EnrichedPhone:
    """The phone with its flag, if any, and its KEMs."""
    return EnrichedPhone(
        mac=phone.mac,
        brand=phone.brand,
        model=phone.model,
        description=phone.description,
        name=phone.name,
        hostname=phone.hostname,
        location=phone.location,
        phone_ip=phone.phone_ip,
        phone_vlan=phone.phone_vlan,
        software_version=phone.software_version,
        software_type=phone.software_type,
        is_active=phone.is_active,
        created_at=phone.created_at,
        is_vendor=vendor is not None and vendor.vendor,
        vendor=vendor,
        key_expansion_modules=kems,
    )
