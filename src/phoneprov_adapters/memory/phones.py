"""Phones in memory."""

from __future__ import annotations

from phoneprov_adapters.memory.records import Kind
from phoneprov_adapters.memory.store import MemoryStore
from phoneprov_core.phones.model import Phone

PHONES: Kind[Phone] = Kind("phone", key="mac")


class MemoryPhones(MemoryStore[Phone]):
    """Phones, by MAC."""

    kind = PHONES
