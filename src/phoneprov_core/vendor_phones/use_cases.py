"""Vendor phone flags: every account reads them, superadmins write them."""

from __future__ import annotations

from phoneprov_core.access.rules import SharedWrite, require_shared_write
from phoneprov_core.kernel import addresses
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import invalid
from phoneprov_core.kernel.errors import Problem, found
from phoneprov_core.kernel.paging import Listing, Page, listing
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, shown
from phoneprov_core.vendor_phones.model import VendorPhone, VendorPhoneFlag, VendorPhoneRecord
from phoneprov_core.vendor_phones.ports import VendorPhonesTransaction


class VendorPhones:
    """Read, set and delete vendor phone flags. MACs are accepted in any spelling; the phone need
    not be in the inventory."""

    def __init__(
        self, open_: ReadAndWrite[VendorPhonesTransaction], shared_write: SharedWrite, clock: Clock
    ) -> None:
        self._open = open_
        self._shared_write = shared_write
        self._clock = clock

    async def all(self, actor: Actor, page: Page = None) -> Listing[VendorPhone]:  # noqa: ARG002
        """Every flag, oldest first."""
        records = await listing(self._open.read, lambda tx: tx.vendor_phones, page)
        return records.mapped(_vendor_phone)

    async def get(self, actor: Actor, mac: str) -> VendorPhone:  # noqa: ARG002
        """Raises ``NotFound``."""
        async with self._open.read() as tx:
            record = found(await tx.vendor_phones.find(addresses.known_mac(mac)), "vendor phone")
        return _vendor_phone(record)

    async def save(self, actor: Actor, mac: str, flag: VendorPhoneFlag) -> VendorPhone:
        """Set the flag of a phone. Raises ``Invalid`` also if the MAC in the path is invalid."""
        require_shared_write(actor, self._shared_write)
        try:
            addressed = addresses.mac(mac)
        except ValueError as error:
            raise invalid([Problem("mac", str(error))]) from None
        record = VendorPhoneRecord(addressed, flag.vendor, shown(self._clock()))
        async with self._open.write(by=actor) as tx:
            await tx.vendor_phones.save(record)
        return _vendor_phone(record)

    async def delete(self, actor: Actor, mac: str) -> None:
        """Raises ``NotFound``."""
        require_shared_write(actor, self._shared_write)
        async with self._open.write(by=actor) as tx:
            found(await tx.vendor_phones.remove(addresses.known_mac(mac)), "vendor phone")


def _vendor_phone(record: VendorPhoneRecord) -> VendorPhone:
    return VendorPhone(record.mac, record.vendor)
