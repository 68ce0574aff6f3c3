"""Phones with their flags and KEMs, in memory."""

from __future__ import annotations

from itertools import islice

from phoneprov_adapters.memory.kems import KEMS
from phoneprov_adapters.memory.phones import PHONES
from phoneprov_adapters.memory.records import EVERY
from phoneprov_adapters.memory.tables import Tables
from phoneprov_adapters.memory.vendor_phones import VENDOR_PHONES
from phoneprov_core.me.model import EnrichedPhone, enriched
from phoneprov_core.me.ports import EnrichedPhoneStore
from phoneprov_core.phones.model import Phone
from phoneprov_core.vendor_phones.model import VendorPhone


class MemoryEnrichedPhones(EnrichedPhoneStore):
    """Phones, each with its flag and its KEMs."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def count(self, owner: str | None = None) -> int:
        assert owner is None, "phones have no owner"
        return self._tables.of(PHONES).count(EVERY)

    async def rows(
        self,
        limit: int,
        *,
        after: EnrichedPhone | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[EnrichedPhone]:
        assert owner is None, "phones have no owner"
        start = None if after is None else (after.created_at, after.mac)
        phones = self._tables.of(PHONES).group(EVERY, start)
        return [self._enriched(phone) for phone in islice(phones, offset, offset + limit)]

    def _enriched(self, phone: Phone) -> EnrichedPhone:
        record = self._tables.of(VENDOR_PHONES).get(phone.mac)
        vendor = None if record is None else VendorPhone(record.mac, record.vendor)
        kems = self._tables.of(KEMS).group(("connected_phone", phone.mac))
        return enriched(phone, vendor, tuple(kems))
