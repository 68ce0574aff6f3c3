"""The contracts of phones with their flags and KEMs."""

import asyncio
from typing import Any

import msgspec

from phoneprov_core.inventory.phone_parts import VendorPhone, VendorPhoneRecord
from phoneprov_core.inventory.phones.use_cases import EnrichedPhone, enriched
from support.phone_records import a_flag, a_kem, a_phone
from support.records import a_mac, moment
from support.store_tests import DatabaseTests

PHONE, OTHER_PHONE = a_mac(1), a_mac(2)

# The first phone is in the inventory, the other is not.
KEMS = [
    a_kem(11, connected_phone=PHONE),
    a_kem(12, connected_phone=OTHER_PHONE),
    a_kem(13, connected_phone=PHONE, model=None, mac=None, ip=None),
    a_kem(14, connected_phone=None),
]
WITHOUT_THE_PHONE = [
    msgspec.structs.replace(KEMS[0], connected_phone=None),
    KEMS[1],
    msgspec.structs.replace(KEMS[2], connected_phone=None),
    KEMS[3],
]


class TestKems(DatabaseTests):
    """The contract of KEMs beyond ``Store``: disconnecting from their phone."""

    async def arrange(self) -> None:
        await self.add(a_phone(1), *KEMS)

    async def test_kems_disconnect_changes_kems_of_that_phone_only(self) -> None:
        async with self.database.write() as tx:
            for mac in (a_mac(3), ""):
                await tx.kems.disconnect(mac)
            assert await tx.phones.remove(PHONE)
            assert await tx.kems.rows(10) == KEMS
            await tx.phones.add(a_phone(1))
            await tx.kems.disconnect(PHONE)
            assert await tx.kems.rows(10) == WITHOUT_THE_PHONE
            await tx.kems.put(KEMS[0])
            await tx.kems.disconnect(PHONE)

        async with self.database.read() as tx:
            assert await tx.kems.rows(10) == WITHOUT_THE_PHONE
            assert await tx.phones.rows(10) == [a_phone(1)]


class TestVendorPhones(DatabaseTests):
    """The contract of vendor phone flags beyond ``Store``: one per phone, saved in one
    statement."""

    async def _save(self, flag: VendorPhoneRecord) -> None:
        await self.write(lambda tx: tx.vendor_phones.save(flag))

    async def _flags(self) -> list[VendorPhoneRecord]:
        return await self.read(lambda tx: tx.vendor_phones.rows(100))

    async def test_flag_replaced_keeps_its_position_in_lists(self) -> None:
        await self._save(a_flag(1))
        await self._save(a_flag(2))

        async with self.database.write() as tx:
            await tx.vendor_phones.save(a_flag(1, vendor=False, created_at=moment(9)))
            assert await tx.vendor_phones.find(a_flag(1).mac) == a_flag(1, vendor=False)

        assert await self._flags() == [a_flag(1, vendor=False), a_flag(2)]
        (first, _) = await self._flags()
        assert first.vendor is False
        async with self.database.write() as tx:
            await tx.vendor_phones.remove(first.mac)
            await tx.vendor_phones.save(a_flag(1, created_at=moment(9)))
        assert await self._flags() == [a_flag(2), a_flag(1, created_at=moment(9))]

    async def test_racing_callers_leave_one_flag(self) -> None:
        racing = [
            msgspec.structs.replace(a_flag(1), vendor=number % 2 == 0, created_at=moment(number))
            for number in range(20)
        ]

        await asyncio.gather(*(self._save(flag) for flag in racing))

        (left,) = await self._flags()
        assert left.mac == a_flag(1).mac
        assert left.created_at in {flag.created_at for flag in racing}


# By creation: 3, 1, 2, 4; two of the same moment, so that the MAC decides.
PHONES = [
    a_phone(3, created_at=moment(1), phone_ip=None, is_active=False),
    a_phone(1, created_at=moment(2)),
    a_phone(2, created_at=moment(2), name="Reception"),
    a_phone(4, created_at=moment(4)),
]
PARTS = [
    a_kem(22, connected_phone=a_mac(1), created_at=moment(5)),
    a_kem(23, connected_phone=a_mac(1), created_at=moment(6)),
    # Of one moment, so that the uuid decides.
    a_kem(21, connected_phone=a_mac(1), created_at=moment(6)),
    a_kem(24, connected_phone=a_mac(4), model=None, ip=None, software_type=None),
    a_kem(25, connected_phone=a_mac(9)),
    a_kem(26, connected_phone=None),
]
FLAGS = [a_flag(1), a_flag(2, vendor=False), a_flag(9)]
ENRICHED = [
    enriched(PHONES[0], None, ()),
    enriched(PHONES[1], VendorPhone(a_mac(1), True), (PARTS[0], PARTS[2], PARTS[1])),
    enriched(PHONES[2], VendorPhone(a_mac(2), False), ()),
    enriched(PHONES[3], None, (PARTS[3],)),
]


class TestEnrichedPhones(DatabaseTests):
    """The contract of the phones with their flags and KEMs."""

    async def _rows(self, limit: int = 1000, **more: Any) -> list[EnrichedPhone]:
        return await self.read(lambda tx: tx.enriched_phones.rows(limit, **more))

    async def arrange(self) -> None:
        await self.add(*reversed(PHONES), *PARTS, *FLAGS)

    async def test_every_phone_comes_with_its_flag_and_its_kems_and_booleans(self) -> None:
        # A number in place of a bool would be equal, and be sent as a number.
        phones = await self._rows()

        assert [phone.is_active for phone in phones] == [False, True, True, True]
        assert phones == ENRICHED
        assert {type(phone.is_active) for phone in phones} == {bool}
        assert {type(phone.vendor.vendor) for phone in phones if phone.vendor} == {bool}

    async def test_rows_begin_after_a_phone_and_skip_the_offset(self) -> None:
        assert await self.read(lambda tx: tx.enriched_phones.count()) == 4
        # The limit counts phones without their KEMs.
        assert [await self._rows(limit) for limit in (2, 4)] == [ENRICHED[:2], ENRICHED]
        for place, phone in enumerate(ENRICHED):
            assert await self._rows(after=phone) == ENRICHED[place + 1 :]
        assert await self._rows(1, after=ENRICHED[0]) == ENRICHED[1:2]
        assert await self._rows(offset=2) == ENRICHED[2:]
        assert await self._rows(1, offset=1) == ENRICHED[1:2]
        assert await self._rows(after=ENRICHED[0], offset=1) == ENRICHED[2:]
        assert await self._rows(offset=2**62) == []
        await self.write(lambda tx: tx.phones.remove(a_mac(1)))
        assert await self._rows(after=ENRICHED[1]) == ENRICHED[2:]

    async def test_inventory_empty_has_no_phones(self) -> None:
        async with self.database.write() as tx:
            for phone in PHONES:
                await tx.phones.remove(phone.mac)

        assert await self._rows() == []
        assert await self.read(lambda tx: tx.enriched_phones.count()) == 0

    async def test_phones_show_changes_of_the_transaction(self) -> None:
        async with self.database.write() as tx:
            await tx.kems.disconnect(a_mac(1))
            await tx.vendor_phones.remove(a_mac(2))
            await tx.kems.put(a_kem(25, connected_phone=a_mac(3)))
            left = [
                enriched(PHONES[0], None, (a_kem(25, connected_phone=a_mac(3)),)),
                enriched(PHONES[1], VendorPhone(a_mac(1), True), ()),
                enriched(PHONES[2], None, ()),
                ENRICHED[3],
            ]
            assert await tx.enriched_phones.rows(1000) == left

        assert await self._rows() == left
