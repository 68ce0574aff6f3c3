"""Phones in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phoneprov_adapters.memory.deployments import DEPLOYMENTS
from phoneprov_adapters.memory.kept_desks import DESKS
from phoneprov_adapters.memory.records import Kind
from phoneprov_adapters.memory.store import MemorySearchedStore, itself, searched
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows
from phoneprov_core.phones.model import PHONE_FIELDS, Phone
from phoneprov_core.phones.ports import PhoneStore

PHONES: Kind[Phone] = Kind("phone", key="mac", search=PHONE_FIELDS)


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
            return kept.desk.user_uuid if kept else None
        return getattr(phone, name)

    async def unknown(self, macs: Sequence[str]) -> list[str]:
        return [mac for mac in macs if self._tables.of(PHONES).get(mac) is None]
