"""Phones in memory."""

from __future__ import annotations

from collections.abc import Sequence

from phoneprov_adapters.memory.records import Kind
from phoneprov_adapters.memory.store import MemorySearchedStore
from phoneprov_core.phones.model import Phone
from phoneprov_core.phones.ports import PhoneStore
from phoneprov_core.phones.search import PHONE_FIELDS

PHONES: Kind[Phone] = Kind("phone", key="mac", search=PHONE_FIELDS)


class MemoryPhones(MemorySearchedStore[Phone], PhoneStore):
    """Phones, by MAC."""

    kind = PHONES

    async def unknown(self, macs: Sequence[str]) -> list[str]:
        return [mac for mac in macs if self._tables.of(PHONES).get(mac) is None]
