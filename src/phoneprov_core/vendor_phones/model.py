"""Vendor phone flags, and where they are stored."""

from __future__ import annotations

from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.fields import StoredMac, schema
from phoneprov_core.kernel.store import Store
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


class VendorPhoneStore(Store[VendorPhoneRecord], Protocol):
    """Vendor phone flags, by the phone's MAC. The phone need not be in the inventory."""

    async def save(self, record: VendorPhoneRecord) -> None:
        """Add or replace the flag of the phone, in one statement; an existing flag keeps its
        created_at. Of concurrent callers exactly one flag remains."""


class VendorPhonesTransaction(Protocol):
    """Stores that the use cases of vendor phone flags use."""

    @property
    def vendor_phones(self) -> VendorPhoneStore: ...
