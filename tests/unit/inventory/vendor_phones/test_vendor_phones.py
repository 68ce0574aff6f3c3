"""Vendor phone flags, over the memory database."""

from phoneprov_core.inventory.phone_parts import VendorPhoneFlag, VendorPhoneRecord
from phoneprov_core.kernel.actor import Actor, SharedWrite
from support.office import Office, Settings
from support.records import identifier

ADA = Actor(identifier(0xA), level=None)
DESK = "00:1B:D4:12:34:56"


YES, NO = VendorPhoneFlag(vendor=True), VendorPhoneFlag(vendor=False)


async def stored(office: Office) -> list[VendorPhoneRecord]:
    async with office.database.read() as tx:
        return await tx.vendor_phones.rows(100)


async def test_write_by_every_account_follows_the_setting() -> None:
    office = Office(Settings(shared_write=SharedWrite.BEARER))

    await office.vendor_phones.save(ADA, DESK, YES)
    assert [flag.vendor for flag in await stored(office)] == [True]
    await office.vendor_phones.delete(ADA, DESK)
    assert await stored(office) == []
