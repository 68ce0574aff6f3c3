"""Vendor phone flags: every account reads them, superadmins write them."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.kernel import values as addresses
from phoneprov_core.kernel.actor import Actor, SharedWrite, require_shared_write
from phoneprov_core.kernel.commands import Command, record_of, wrong
from phoneprov_core.kernel.errors import require
from phoneprov_core.kernel.fields import StoredMac, schema
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.ports import Clock, ReadAndWrite, Store
from phoneprov_core.kernel.values import Timestamp, timestamp

Vendor = Annotated[bool, schema("Whether the phone is a vendor phone")]


class VendorPhone(Struct, frozen=True):
    """The vendor flag of a phone, which need not be in the inventory."""

    mac: StoredMac
    vendor: Vendor


class VendorPhoneRecord(VendorPhone, frozen=True):
    """A flag as it is stored, with the time of its creation, which orders lists alone."""

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


@dataclass(frozen=True)
class VendorPhones:
    """Read, set and delete flags of phones, in the inventory or not, by MACs in any spelling."""

    database: ReadAndWrite[VendorPhonesTransaction]
    shared_write: SharedWrite
    clock: Clock

    async def all(self, actor: Actor, page: Page = None) -> Listing[VendorPhone]:  # noqa: ARG002
        """Every flag, oldest first."""
        records = await listing(self.database.read, lambda tx: tx.vendor_phones, page)
        return records.mapped(lambda record: record_of(VendorPhone, record))

    async def get(self, actor: Actor, mac: str) -> VendorPhone:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self.database.read() as tx:
            record = require(await tx.vendor_phones.find(addresses.known_mac(mac)), "vendor phone")
        return record_of(VendorPhone, record)

    async def save(self, actor: Actor, mac: str, flag: VendorPhoneFlag) -> VendorPhone:
        """Set the flag of a phone. Raises ``Invalid`` also if the MAC in the path is invalid."""
        require_shared_write(actor, self.shared_write)
        try:
            addressed = addresses.mac(mac)
        except ValueError as error:
            raise wrong("mac", str(error)) from None
        record = VendorPhoneRecord(addressed, flag.vendor, timestamp(self.clock()))
        async with self.database.write(by=actor) as tx:
            await tx.vendor_phones.save(record)
        return record_of(VendorPhone, record)

    async def delete(self, actor: Actor, mac: str) -> None:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            require(await tx.vendor_phones.remove(addresses.known_mac(mac)), "vendor phone")
