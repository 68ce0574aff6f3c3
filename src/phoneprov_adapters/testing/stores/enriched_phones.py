"""The contract of ``EnrichedPhones``: every phone with its flag and its KEMs."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio

from phoneprov_adapters.testing.phone_records import a_flag, a_kem, a_phone
from phoneprov_adapters.testing.records import a_mac, moment
from phoneprov_core.me.model import EnrichedPhone, enriched
from phoneprov_core.stores import Database
from phoneprov_core.vendor_phones.model import VendorPhone

# By creation: 3, 1, 2, 4; two of the same moment, so that the MAC decides.
PHONES = [
    a_phone(3, created_at=moment(1), phone_ip=None, is_active=False),
    a_phone(1, created_at=moment(2)),
    a_phone(2, created_at=moment(2), name="Reception"),
    a_phone(4, created_at=moment(4)),
]
KEMS = [
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
    enriched(PHONES[1], VendorPhone(a_mac(1), True), (KEMS[0], KEMS[2], KEMS[1])),
    enriched(PHONES[2], VendorPhone(a_mac(2), False), ()),
    enriched(PHONES[3], None, (KEMS[3],)),
]


async def _fill(database: Database) -> None:
    async with database.write() as tx:
        for phone in reversed(PHONES):
            await tx.phones.add(phone)
        for kem in KEMS:
            await tx.kems.add(kem)
        for flag in FLAGS:
            await tx.vendor_phones.add(flag)


async def _rows(database: Database, limit: int = 1000, **more: Any) -> list[EnrichedPhone]:
    async with database.read() as tx:
        return await tx.enriched_phones.rows(limit, **more)


@pytest.mark.asyncio
class EnrichedPhonesContract:
    """The contract of ``EnrichedPhones``: every phone with its flag and its KEMs."""

    @pytest_asyncio.fixture
    async def filled(self, database: Database) -> Database:
        await _fill(database)
        return database

    async def test_every_phone_comes_with_its_flag_and_its_kems(self, filled: Database) -> None:
        assert await _rows(filled) == ENRICHED

    async def test_booleans_are_booleans(self, filled: Database) -> None:
        # A number in place of a bool would be equal, and be sent as a number.
        phones = await _rows(filled)

        assert [phone.is_active for phone in phones] == [False, True, True, True]
        assert {type(phone.is_active) for phone in phones} == {bool}
        assert {type(phone.vendor.vendor) for phone in phones if phone.vendor} == {bool}

    async def test_limit_counts_phones_without_their_kems(self, filled: Database) -> None:
        assert await _rows(filled, 2) == ENRICHED[:2]
        assert await _rows(filled, 4) == ENRICHED

    async def test_rows_begin_after_a_phone_and_skip_the_offset(self, filled: Database) -> None:
        for place, phone in enumerate(ENRICHED):
            assert await _rows(filled, after=phone) == ENRICHED[place + 1 :]
        assert await _rows(filled, 1, after=ENRICHED[0]) == ENRICHED[1:2]
        assert await _rows(filled, offset=2) == ENRICHED[2:]
        assert await _rows(filled, 1, offset=1) == ENRICHED[1:2]
        assert await _rows(filled, after=ENRICHED[0], offset=1) == ENRICHED[2:]
        assert await _rows(filled, offset=2**62) == []

    async def test_rows_continue_after_a_removed_phone(self, filled: Database) -> None:
        async with filled.write() as tx:
            await tx.phones.remove(a_mac(1))

        assert await _rows(filled, after=ENRICHED[1]) == ENRICHED[2:]

    async def test_phones_are_counted_once_each(self, filled: Database) -> None:
        async with filled.read() as tx:
            assert await tx.enriched_phones.count() == 4

    async def test_inventory_empty_has_no_phones(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.kems.add(KEMS[0])
            await tx.vendor_phones.add(FLAGS[0])

        assert await _rows(database) == []
        async with database.read() as tx:
            assert await tx.enriched_phones.count() == 0

    async def test_phones_show_changes_of_the_transaction(self, filled: Database) -> None:
        async with filled.write() as tx:
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

        assert await _rows(filled) == left
