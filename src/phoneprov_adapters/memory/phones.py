"""Phones in memory."""

from __future__ import annotations

from phoneprov_adapters.memory.records import Kind
from phoneprov_adapters.memory.store import MemorySearchedStore
from phoneprov_core.phones.model import Phone
from phoneprov_core.phones.search import PHONE_FIELDS

PHONES: Kind[Phone] = Kind("phone", key="mac", search=PHONE_FIELDS)


class MemoryPhones(MemorySearchedStore[Phone]):
    """Phones, by MAC."""

    kind = PHONES
