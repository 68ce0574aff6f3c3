"""Phones with their parts, the files that phones fetch, and statistics in memory."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from phoneprov_adapters.memory.kinds import (
    BATCHES,
    DEPLOYMENTS,
    DESKS,
    DISCOVERED_PHONES,
    FETCHES,
    KEMS,
    PHONES,
    SERVED_FILES,
    VENDOR_PHONES,
)
from phoneprov_adapters.memory.store import (
    MemoryNewestRows,
    MemoryQueries,
    MemoryRows,
    MemorySearchedStore,
    MemoryStore,
    itself,
    searched,
)
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.kems import Kem, KemStore
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows
from phoneprov_core.me import EnrichedPhone, enriched
from phoneprov_core.phones.model import Phone
from phoneprov_core.phones.ports import PhoneStore
from phoneprov_core.provisioning.model import (
    MOST_DISCOVERED,
    DiscoveredPhone,
    Fetch,
    ServedFile,
    with_name,
)
from phoneprov_core.provisioning.ports import DiscoveredPhoneStore, FetchStore, ServedFileStore
from phoneprov_core.statistics import Statistics, StatisticsStore
from phoneprov_core.vendor_phones import VendorPhone, VendorPhoneRecord, VendorPhoneStore


class MemoryPhones(MemorySearchedStore[Phone], PhoneStore):
    """Phones, by MAC."""

    kind = PHONES

    def matching(self, search: Search) -> Rows[Phone]:
        return searched(self._tables, PHONES, search, itself, self._value)

    def _value(self, phone: Phone, name: str) -> Any:
        if name == "last_outcome":
            deployments = self._tables.of(DEPLOYMENTS).group(("mac", phone.mac))
            last = max(deployments, key=lambda one: one.number, default=None)
            return last.outcome.value if last else "none"
        if name == "user_uuid":
            kept = self._tables.of(DESKS).get(phone.mac)
            return kept.user_uuid if kept else None
        return getattr(phone, name)

    async def unknown(self, macs: Sequence[str]) -> list[str]:
        return [mac for mac in macs if self._tables.of(PHONES).get(mac) is None]


class MemoryKems(MemoryStore[Kem], KemStore):
    """KEMs, by uuid."""

    kind = KEMS

    async def disconnect(self, phone_mac: str) -> None:
        for kem in list(self._tables.of(KEMS).group(("connected_phone", phone_mac))):
            await self.put(msgspec.structs.replace(kem, connected_phone=None))


class MemoryVendorPhones(MemoryStore[VendorPhoneRecord], VendorPhoneStore):
    """Flags, by MAC."""

    kind = VENDOR_PHONES

    async def save(self, record: VendorPhoneRecord) -> None:
        current = self._tables.of(VENDOR_PHONES).get(record.mac)
        if current is not None:
            record = msgspec.structs.replace(current, vendor=record.vendor)
        self._tables.put(VENDOR_PHONES, record)
        self._changed(current, record)


def enriched_phones(tables: Tables) -> Rows[EnrichedPhone]:
    """Every phone, with its flag and its KEMs."""

    def view(phone: Phone) -> EnrichedPhone:
        record = tables.of(VENDOR_PHONES).get(phone.mac)
        vendor = None if record is None else VendorPhone(record.mac, record.vendor)
        kems = tables.of(KEMS).group(("connected_phone", phone.mac))
        return enriched(phone, vendor, tuple(kems))

    return MemoryRows(tables, PHONES, view)


class MemoryServedFiles(MemoryQueries, ServedFileStore):
    """Served files, by name."""

    async def put(self, file: ServedFile) -> None:
        self._tables.put(SERVED_FILES, file)

    async def find(self, name: str) -> ServedFile | None:
        return self._tables.of(SERVED_FILES).get(name.lower())

    async def remove(self, name: str) -> bool:
        return self._tables.remove(SERVED_FILES, name.lower())


class MemoryFetches(MemoryQueries, FetchStore):
    """Requests for files, by uuid."""

    async def add(self, fetch: Fetch) -> None:
        self._tables.add(FETCHES, fetch)

    async def newest(self, mac: str, limit: int, *, before: str | None = None) -> list[Fetch]:
        last = None if before is None else self._tables.of(FETCHES).get(before)
        if before is not None and last is None:
            return []
        of_phone = MemoryNewestRows(self._tables, FETCHES, itself, group=("mac", mac))
        return await of_phone.newest(limit, before=last)


class MemoryDiscoveredPhones(MemoryRows[DiscoveredPhone, DiscoveredPhone], DiscoveredPhoneStore):
    """Discovered phones, by MAC."""

    def __init__(self, tables: Tables) -> None:
        def is_outside(phone: DiscoveredPhone, _owner: str | None) -> bool:
            return tables.of(PHONES).get(phone.mac) is None

        super().__init__(tables, DISCOVERED_PHONES, itself, matches=is_outside)

    async def see(self, mac: str, client_ip: str, model: str | None, name: str, now: str) -> None:
        table = self._tables.of(DISCOVERED_PHONES)
        before = table.get(mac)
        if before is not None:
            seen = msgspec.structs.replace(
                before,
                client_ip=client_ip,
                model=model or before.model,
                last_seen_at=now,
                names=with_name(before.names, name),
            )
            self._tables.put(DISCOVERED_PHONES, seen)
            return
        self._tables.add(
            DISCOVERED_PHONES, DiscoveredPhone(mac, client_ip, model, now, now, (name,))
        )
        everyone = list(table.group())
        if len(everyone) > MOST_DISCOVERED:
            oldest = min(everyone, key=lambda phone: (phone.last_seen_at, phone.mac))
            self._tables.remove(DISCOVERED_PHONES, oldest.mac)


class MemoryStatistics(MemoryQueries, StatisticsStore):
    """Numbers of records, counted one by one."""

    async def read(self) -> Statistics:
        phones = self._tables.of(PHONES).group()
        batches = self._tables.of(BATCHES).group()
        return Statistics(
            Counter("active" if phone.is_active else "inactive" for phone in phones),
            Counter(batch.state.value for batch in batches if batch.ended_at is None),
            sum(1 for one in self._tables.of(DESKS).group() if one.user_uuid),
        )

    async def clock(self) -> int:
        return time.time_ns() // 1_000_000
