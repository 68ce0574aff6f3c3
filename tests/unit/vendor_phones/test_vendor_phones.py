"""Vendor phone flags, over the memory database."""

from __future__ import annotations

from typing import Any, cast

import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.system import FixedClock
from phoneprov_adapters.testing.records import identifier
from phoneprov_core.access.rules import SharedWrite
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Forbidden, Invalid, NotFound
from phoneprov_core.kernel.store import Window
from phoneprov_core.vendor_phones.model import VendorPhone, VendorPhoneFlag, VendorPhoneRecord
from phoneprov_core.vendor_phones.use_cases import VendorPhones

ADMIN = Actor(identifier(0xAD), level=0)
ADA = Actor(identifier(0xA), level=None)
DESK = "00:1B:D4:12:34:56"
OTHER_DESK = "00:1B:D4:65:43:21"
YES, NO = VendorPhoneFlag(vendor=True), VendorPhoneFlag(vendor=False)


class Rig:
    """The use cases, and what they stand on."""

    def __init__(self, shared_write: SharedWrite = SharedWrite.SUPERADMIN) -> None:
        self.database = MemoryDatabase()
        self.clock = FixedClock()
        self.vendor_phones = VendorPhones(self.database, shared_write, self.clock)

    async def stored(self) -> list[VendorPhoneRecord]:
        async with self.database.read() as tx:
            return await tx.vendor_phones.rows(100)


@pytest.fixture
def rig() -> Rig:
    return Rig()


def sent(body: Any) -> VendorPhoneFlag:
    return command_of(VendorPhoneFlag, body)


@pytest.mark.parametrize("spelling", [DESK, "001bd4123456", "00-1B-D4-12-34-56", "001b.d412.3456"])
async def test_a_flag_is_set_before_its_phone_is_recorded(rig: Rig, spelling: str) -> None:
    assert await rig.vendor_phones.save(ADMIN, spelling, YES) == VendorPhone(DESK, True)

    assert await rig.stored() == [VendorPhoneRecord(DESK, True, "2026-01-31T08:15:30.250Z")]
    assert await rig.vendor_phones.get(ADA, spelling) == VendorPhone(DESK, True)


async def test_a_flag_that_is_set_again_keeps_its_place(rig: Rig) -> None:
    await rig.vendor_phones.save(ADMIN, DESK, YES)
    rig.clock.advance(1)
    await rig.vendor_phones.save(ADMIN, OTHER_DESK, YES)
    rig.clock.advance(1)

    assert await rig.vendor_phones.save(ADMIN, DESK, NO) == VendorPhone(DESK, False)

    flags = await rig.vendor_phones.all(ADA)
    assert await flags.everything() == [VendorPhone(DESK, False), VendorPhone(OTHER_DESK, True)]


async def test_a_page_of_the_list_has_its_total(rig: Rig) -> None:
    await rig.vendor_phones.save(ADMIN, DESK, YES)
    rig.clock.advance(1)
    await rig.vendor_phones.save(ADMIN, OTHER_DESK, NO)

    page = await rig.vendor_phones.all(ADA, Window(limit=1, offset=1))

    assert page.first == await page.everything() == [VendorPhone(OTHER_DESK, False)]
    assert page.complete
    assert page.total == 2
    assert page.window == Window(limit=1, offset=1)


async def test_a_flag_is_deleted_once(rig: Rig) -> None:
    await rig.vendor_phones.save(ADMIN, DESK, YES)
    await rig.vendor_phones.save(ADMIN, OTHER_DESK, YES)

    await rig.vendor_phones.delete(ADMIN, DESK.lower())

    assert [flag.mac for flag in await rig.stored()] == [OTHER_DESK]
    with pytest.raises(NotFound):
        await rig.vendor_phones.delete(ADMIN, DESK)
    with pytest.raises(NotFound):
        await rig.vendor_phones.get(ADMIN, DESK)


@pytest.mark.parametrize("mac", ["", "desk", "00:1B:D4:12:34", "00:00:00:00:00:00"])
async def test_what_is_no_mac_names_no_flag(rig: Rig, mac: str) -> None:
    with pytest.raises(NotFound):
        await rig.vendor_phones.get(ADA, mac)
    with pytest.raises(NotFound):
        await rig.vendor_phones.delete(ADMIN, mac)


@pytest.mark.parametrize("mac", ["", "desk", "00:00:00:00:00:00", "FF:FF:FF:FF:FF:FF"])
async def test_no_flag_is_set_for_what_is_no_mac(rig: Rig, mac: str) -> None:
    with pytest.raises(Invalid) as invalid:
        await rig.vendor_phones.save(ADMIN, mac, NO)

    assert [problem.field for problem in invalid.value.problems] == ["mac"]
    assert await rig.stored() == []


async def test_without_level_0_nothing_is_written_or_learned(rig: Rig) -> None:
    await rig.vendor_phones.save(ADMIN, DESK, NO)

    for mac in (DESK, OTHER_DESK, "desk"):
        with pytest.raises(Forbidden):
            await rig.vendor_phones.save(ADA, mac, cast(Any, None))
        with pytest.raises(Forbidden):
            await rig.vendor_phones.delete(ADA, mac)
    assert [flag.vendor for flag in await rig.stored()] == [False]


async def test_everybody_writes_when_it_is_set_so() -> None:
    rig = Rig(SharedWrite.BEARER)

    await rig.vendor_phones.save(ADA, DESK, YES)
    assert [flag.vendor for flag in await rig.stored()] == [True]
    await rig.vendor_phones.delete(ADA, DESK)
    assert await rig.stored() == []
