"""Extensions in memory."""

from __future__ import annotations

from phoneprov_adapters.memory.records import Kind, Unique
from phoneprov_adapters.memory.store import MemoryStore
from phoneprov_core.extensions.model import Extension

EXTENSIONS: Kind[Extension] = Kind("extension", unique=(Unique("extension", "extension"),))


class MemoryExtensions(MemoryStore[Extension]):
    """Extensions, by uuid."""

    kind = EXTENSIONS
