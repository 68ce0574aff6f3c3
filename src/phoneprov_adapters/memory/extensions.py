"""Extensions in memory."""

from __future__ import annotations

from phoneprov_adapters.memory.records import Kind, Unique
from phoneprov_adapters.memory.store import MemorySearchedStore
from phoneprov_core.extensions.model import EXTENSION_FIELDS, Extension

EXTENSIONS: Kind[Extension] = Kind(
    "extension", unique=(Unique("extension", "extension"),), search=EXTENSION_FIELDS
)


class MemoryExtensions(MemorySearchedStore[Extension]):
    """Extensions, by uuid."""

    kind = EXTENSIONS
