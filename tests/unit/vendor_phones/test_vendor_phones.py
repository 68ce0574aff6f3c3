"""Vendor phone flags, over the memory database."""

from typing import Any, cast

import pytest

from phoneprov_adapters.testing.records import identifier
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Forbidden, Invalid, NotFound
from phoneprov_core.kernel.paging import Window
from phoneprov_core.vendor_phones import VendorPhone, VendorPhoneFlag, VendorPhoneRecord
from support.office import Office, Settings

ADMIN = Actor(identifier(0xAD), level=0)
ADA = Actor(identifier(0xA), level=None)
DESK = "00:1B:D4:12:34:56"
OTHER_DESK = "00:1B:D4:65:43:21"
YES, NO = VendorPhoneFlag(vendor=True), VendorPhoneFlag(vendor=False)


async def stored(office: Office) -> list[VendorPhoneRecord]:
    async with office.database.read() as tx:
        return await tx.vendor_phones.rows(100)


def sent(body: Any) -> VendorPhoneFlag:
    return command_of(VendorPhoneFlag, body)


@pytest.mark.parametrize("spelling", [DESK, "001bd4123456", "00-1B-D4-12-34-56", "001b.d412.3456"])
async def test_flag_set_before_its_phone_exists_is_stored(office: Office, spelling: str) -> None:
    assert await office.vendor_phones.save(ADMIN, spelling, YES) == VendorPhone(DESK, True)

    assert await stored(office) == [VendorPhoneRecord(DESK, True, "2026-01-31T08:15:30.250Z")]
    assert await office.vendor_phones.get(ADA, spelling) == VendorPhone(DESK, True)


async def test_flag_set_again_keeps_its_position(office: Office) -> None:
    await office.vendor_phones.save(ADMIN, DESK, YES)
    office.clock.advance(1)
    await office.vendor_phones.save(ADMIN, OTHER_DESK, YES)
    office.clock.advance(1)

    assert await office.vendor_phones.save(ADMIN, DESK, NO) == VendorPhone(DESK, False)

    flags = await office.vendor_phones.all(ADA)
    assert await flags.everything() == [VendorPhone(DESK, False), VendorPhone(OTHER_DESK, True)]


async def test_list_page_has_its_total(office: Office) -> None:
    await office.vendor_phones.save(ADMIN, DESK, YES)
    office.clock.advance(1)
    await office.vendor_phones.save(ADMIN, OTHER_DESK, NO)

    page = await office.vendor_phones.all(ADA, Window(limit=1, offset=1))

    assert page.first == await page.everything() == [VendorPhone(OTHER_DESK, False)]
    assert page.complete
    assert page.total == 2
    assert page.window == Window(limit=1, offset=1)


async def test_flag_deleted_twice_is_not_found(office: Office) -> None:
    await office.vendor_phones.save(ADMIN, DESK, YES)
    await office.vendor_phones.save(ADMIN, OTHER_DESK, YES)

    await office.vendor_phones.delete(ADMIN, DESK.lower())

    assert [flag.mac for flag in await stored(office)] == [OTHER_DESK]
    with pytest.raises(NotFound):
        await office.vendor_phones.delete(ADMIN, DESK)
    with pytest.raises(NotFound):
        await office.vendor_phones.get(ADMIN, DESK)


@pytest.mark.parametrize("mac", ["", "desk", "00:1B:D4:12:34", "00:00:00:00:00:00"])
async def test_flag_of_an_invalid_mac_is_not_found(office: Office, mac: str) -> None:
    with pytest.raises(NotFound):
        await office.vendor_phones.get(ADA, mac)
    with pytest.raises(NotFound):
        await office.vendor_phones.delete(ADMIN, mac)


@pytest.mark.parametrize("mac", ["", "desk", "00:00:00:00:00:00", "FF:FF:FF:FF:FF:FF"])
async def test_flag_for_an_invalid_mac_is_refused(office: Office, mac: str) -> None:
    with pytest.raises(Invalid) as invalid:
        await office.vendor_phones.save(ADMIN, mac, NO)

    assert [problem.field for problem in invalid.value.problems] == ["mac"]
    assert await stored(office) == []


async def test_write_without_level_0_is_forbidden_without_details(office: Office) -> None:
    await office.vendor_phones.save(ADMIN, DESK, NO)

    for mac in (DESK, OTHER_DESK, "desk"):
        with pytest.raises(Forbidden):
            await office.vendor_phones.save(ADA, mac, cast(Any, None))
        with pytest.raises(Forbidden):
            await office.vendor_phones.delete(ADA, mac)
    assert [flag.vendor for flag in await stored(office)] == [False]


async def test_write_by_every_account_follows_the_setting() -> None:
    office = Office(Settings(shared_write=SharedWrite.BEARER))

    await office.vendor_phones.save(ADA, DESK, YES)
    assert [flag.vendor for flag in await stored(office)] == [True]
    await office.vendor_phones.delete(ADA, DESK)
    assert await stored(office) == []
