"""The contract of vendor phone flags beyond ``Store``: one per phone, saved in one statement."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from phoneprov_adapters.testing.phone_records import a_flag
from phoneprov_adapters.testing.records import moment
from phoneprov_core.stores import Database
from phoneprov_core.vendor_phones.model import VendorPhoneRecord


async def _save(database: Database, flag: VendorPhoneRecord) -> None:
    async with database.write() as tx:
        await tx.vendor_phones.save(flag)


async def _flags(database: Database) -> list[VendorPhoneRecord]:
    async with database.read() as tx:
        return await tx.vendor_phones.rows(100)


@pytest.mark.asyncio
class VendorPhonesContract:
    """The contract of vendor phone flags beyond ``Store``: one per phone, saved in one
    statement."""

    async def test_flag_without_a_row_is_created(self, database: Database) -> None:
        await _save(database, a_flag(1))
        await _save(database, a_flag(2, vendor=False))

        assert await _flags(database) == [a_flag(1), a_flag(2, vendor=False)]

    async def test_flag_replaced_keeps_its_position_in_lists(self, database: Database) -> None:
        await _save(database, a_flag(1))
        await _save(database, a_flag(2))

        async with database.write() as tx:
            await tx.vendor_phones.save(a_flag(1, vendor=False, created_at=moment(9)))
            assert await tx.vendor_phones.find(a_flag(1).mac) == a_flag(1, vendor=False)

        assert await _flags(database) == [a_flag(1, vendor=False), a_flag(2)]
        (first, _) = await _flags(database)
        assert first.vendor is False

    async def test_removed_flag_is_saved_as_a_new_one(self, database: Database) -> None:
        await _save(database, a_flag(1))
        async with database.write() as tx:
            await tx.vendor_phones.remove(a_flag(1).mac)
            await tx.vendor_phones.save(a_flag(1, created_at=moment(9)))

        assert await _flags(database) == [a_flag(1, created_at=moment(9))]

    async def test_racing_callers_leave_one_flag(self, database: Database) -> None:
        racing = [
            msgspec.structs.replace(a_flag(1), vendor=number % 2 == 0, created_at=moment(number))
            for number in range(20)
        ]

        await asyncio.gather(*(_save(database, flag) for flag in racing))

        (left,) = await _flags(database)
        assert left.mac == a_flag(1).mac
        assert left.created_at in {flag.created_at for flag in racing}
