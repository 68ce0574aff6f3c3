"""Phones with their flags and KEMs, in memory."""

from __future__ import annotations

from phoneprov_adapters.memory.kems import KEMS
from phoneprov_adapters.memory.phones import PHONES
from phoneprov_adapters.memory.store import MemoryRows
from phoneprov_adapters.memory.tables import Tables
from phoneprov_adapters.memory.vendor_phones import VENDOR_PHONES
from phoneprov_core.kernel.store import Rows
from phoneprov_core.me.model import EnrichedPhone, enriched
from phoneprov_core.phones.model import Phone
from phoneprov_core.vendor_phones.model import VendorPhone


def enriched_phones(tables: Tables) -> Rows[EnrichedPhone]:
    """Every phone, with its flag and its KEMs."""

    def view(phone: Phone) -> EnrichedPhone:
        record = tables.of(VENDOR_PHONES).get(phone.mac)
        vendor = None if record is None else VendorPhone(record.mac, record.vendor)
        kems = tables.of(KEMS).group(("connected_phone", phone.mac))
        return enriched(phone, vendor, tuple(kems))

    return MemoryRows(tables, PHONES, view)
