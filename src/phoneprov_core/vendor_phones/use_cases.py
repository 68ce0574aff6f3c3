"""Vendor phone flags: every account reads them, superadmins write them."""

from __future__ import annotations

from dataclasses import dataclass

from phoneprov_core.access.rules import SharedWrite, require_shared_write
from phoneprov_core.kernel import addresses
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import wrong
from phoneprov_core.kernel.errors import found
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, shown
from phoneprov_core.vendor_phones.model import (
    VendorPhone,
    VendorPhoneFlag,
    VendorPhoneRecord,
    VendorPhonesTransaction,
)


@dataclass(frozen=True)
class VendorPhones:
    """Read, set and delete vendor phone flags. MACs are accepted in any spelling; the phone need
    not be in the inventory."""

    database: ReadAndWrite[VendorPhonesTransaction]
    shared_write: SharedWrite
    clock: Clock

    async def all(self, actor: Actor, page: Page = None) -> Listing[VendorPhone]:  # noqa: ARG002
        """Every flag, oldest first."""
        records = await listing(self.database.read, lambda tx: tx.vendor_phones, page)
        return records.mapped(_vendor_phone)

    async def get(self, actor: Actor, mac: str) -> VendorPhone:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self.database.read() as tx:
            record = found(await tx.vendor_phones.find(addresses.known_mac(mac)), "vendor phone")
        return _vendor_phone(record)

    async def save(self, actor: Actor, mac: str, flag: VendorPhoneFlag) -> VendorPhone:
        """Set the flag of a phone. Raises ``Invalid`` also if the MAC in the path is invalid."""
        require_shared_write(actor, self.shared_write)
        try:
            addressed = addresses.mac(mac)
        except ValueError as error:
            raise wrong("mac", str(error)) from None
        record = VendorPhoneRecord(addressed, flag.vendor, shown(self.clock()))
        async with self.database.write(by=actor) as tx:
            await tx.vendor_phones.save(record)
        return _vendor_phone(record)

    async def delete(self, actor: Actor, mac: str) -> None:
        """Raises ``NotFound``."""
        require_shared_write(actor, self.shared_write)
        async with self.database.write(by=actor) as tx:
            found(await tx.vendor_phones.remove(addresses.known_mac(mac)), "vendor phone")


def _vendor_phone(record: VendorPhoneRecord) -> VendorPhone:
    return VendorPhone(record.mac, record.vendor)
