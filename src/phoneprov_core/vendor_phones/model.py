"""Vendor phone flags."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import StoredMac, schema
from phoneprov_core.kernel.times import Timestamp

Vendor = Annotated[bool, schema(description="Whether the phone is a vendor phone")]


class VendorPhone(Struct, frozen=True):
    """The vendor flag of a phone, which need not be in the inventory."""

    mac: StoredMac
    vendor: Vendor


class VendorPhoneRecord(Struct, frozen=True):
    """A vendor phone flag as it is stored: with the time of its creation, which orders lists and is
    not shown."""

    mac: str
    vendor: bool
    created_at: Timestamp


class VendorPhoneFlag(Command, frozen=True, kw_only=True):
    """The flag to be set."""

    vendor: Vendor
