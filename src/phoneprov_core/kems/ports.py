"""Store port for KEMs."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.kems.model import Kem
from phoneprov_core.kernel.store import Store


class KemStore(Store[Kem], Protocol):
    """KEMs, by uuid. The connected phone need not be in the inventory."""

    async def disconnect(self, phone_mac: str) -> None:
        """Set ``connected_phone`` to None for every KEM of this phone; changes no other field."""
        ...


class KemsTransaction(Protocol):
    """Stores that the use cases of KEMs use."""

    @property
    def kems(self) -> KemStore: ...
