"""Vendor phone flags in SQL."""

from __future__ import annotations

from functools import cache

from phoneprov_adapters.sql.engines.connection import InsertFactory
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.store import Records, SqlStore
from phoneprov_adapters.sql.tables import vendor_phones
from phoneprov_core.vendor_phones.model import VendorPhoneRecord, VendorPhoneStore


@cache
def _save(insert: InsertFactory) -> Statement:
    statement = insert(vendor_phones)
    return statement.on_conflict_do_update(
        index_elements=["mac"], set_={"vendor": statement.excluded.vendor}
    )


class SqlVendorPhones(SqlStore[VendorPhoneRecord], VendorPhoneStore):
    """Flags, by MAC."""

    records = Records(VendorPhoneRecord, vendor_phones, key="mac", one_name="vendor phone")

    async def save(self, record: VendorPhoneRecord) -> None:
        before = await self._before(record)
        await self._connection.rows(_save(self._connection.insert), **self._row_of(record))
        self._changed(before, record)
