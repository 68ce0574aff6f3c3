"""Vendor phone flags."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.times import Timestamp

Vendor = Annotated[bool, schema(description="Whether it is a vendor phone")]


class VendorPhone(Struct, frozen=True):
    """What was said of a phone, which may not be in the inventory yet: whether it is a
    vendor phone."""

    mac: Annotated[str, schema(examples=["00:1B:D4:12:34:56"])]
    vendor: Vendor


class VendorPhoneRecord(Struct, frozen=True):
    """A vendor phone flag as it is kept: with the moment it was first recorded, which is its
    place in lists and is not shown."""

    mac: str
    vendor: bool
    created_at: Timestamp


class VendorPhoneFlag(Command, frozen=True, kw_only=True):
    """The flag to be set."""

    vendor: Vendor
