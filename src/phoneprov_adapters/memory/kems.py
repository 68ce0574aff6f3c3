"""Key expansion modules in memory."""

from __future__ import annotations

import msgspec

from phoneprov_adapters.memory.records import Kind
from phoneprov_adapters.memory.store import MemoryStore
from phoneprov_core.kems.model import Kem, KemStore

KEMS: Kind[Kem] = Kind("KEM", found_by=("connected_phone",))


class MemoryKems(MemoryStore[Kem], KemStore):
    """KEMs, by uuid."""

    kind = KEMS

    async def disconnect(self, phone_mac: str) -> None:
        for kem in list(self._tables.of(KEMS).group(("connected_phone", phone_mac))):
            await self.put(msgspec.structs.replace(kem, connected_phone=None))
