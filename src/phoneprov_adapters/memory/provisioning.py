"""Served files, requests for files and discovered phones in memory."""

from __future__ import annotations

import msgspec

from phoneprov_adapters.memory.phones import PHONES
from phoneprov_adapters.memory.records import Kind
from phoneprov_adapters.memory.store import MemoryNewestRows, MemoryRows, itself
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.provisioning.model import (
    MOST_DISCOVERED,
    DiscoveredPhone,
    Fetch,
    ServedFile,
    with_name,
)
from phoneprov_core.provisioning.ports import DiscoveredPhoneStore, FetchStore, ServedFileStore

SERVED_FILES: Kind[ServedFile] = Kind("served file", key="key", created="key")
FETCHES: Kind[Fetch] = Kind("fetch", found_by=("mac",))
DISCOVERED_PHONES: Kind[DiscoveredPhone] = Kind(
    "discovered phone", key="mac", created="first_seen_at"
)


class MemoryServedFiles(ServedFileStore):
    """Served files, by name."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def put(self, file: ServedFile) -> None:
        self._tables.put(SERVED_FILES, file)

    async def find(self, name: str) -> ServedFile | None:
        return self._tables.of(SERVED_FILES).get(name.lower())

    async def remove(self, name: str) -> bool:
        return self._tables.remove(SERVED_FILES, name.lower())


class MemoryFetches(FetchStore):
    """Requests for files, by uuid."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

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
