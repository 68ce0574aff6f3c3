"""Vendor phone flags in memory."""

from __future__ import annotations

import msgspec

from phoneprov_adapters.memory.records import Kind
from phoneprov_adapters.memory.store import MemoryStore
from phoneprov_core.vendor_phones.model import VendorPhoneRecord, VendorPhoneStore

VENDOR_PHONES: Kind[VendorPhoneRecord] = Kind("vendor phone", key="mac")


class MemoryVendorPhones(MemoryStore[VendorPhoneRecord], VendorPhoneStore):
    """Flags, by MAC."""

    kind = VENDOR_PHONES

    async def save(self, record: VendorPhoneRecord) -> None:
        current = self._tables.of(VENDOR_PHONES).get(record.mac)
        if current is not None:
            record = msgspec.structs.replace(current, vendor=record.vendor)
        self._tables.put(VENDOR_PHONES, record)
        self._changed(current, record)
