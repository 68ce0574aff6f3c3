"""The store that extensions live in."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.extensions.model import Extension
from phoneprov_core.kernel.store import SearchedStore


class ExtensionsTransaction(Protocol):
    """What extensions are kept in. Their numbers are unique; removing one takes along its
    links to users."""

    @property
    def extensions(self) -> SearchedStore[Extension]: ...
