"""Store port for extensions."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.extensions.model import Extension
from phoneprov_core.kernel.store import SearchedStore


class ExtensionsTransaction(Protocol):
    """Stores that the use cases of extensions use. Numbers are unique; removing an extension
    removes its links to users."""

    @property
    def extensions(self) -> SearchedStore[Extension]: ...
