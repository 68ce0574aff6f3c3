"""The store that KEMs live in."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.kems.model import Kem
from phoneprov_core.kernel.store import Store


class KemStore(Store[Kem], Protocol):
    """KEMs, by uuid. The phone that one is connected to need not be in the inventory."""

    async def disconnect(self, phone_mac: str) -> None:
        """Set ``connected_phone`` to None for every KEM that is connected to this phone;
        nothing else of them changes."""
        ...


class KemsTransaction(Protocol):
    """What KEMs are kept in."""

    @property
    def kems(self) -> KemStore: ...
