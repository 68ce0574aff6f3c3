"""The store that phones live in."""

from __future__ import annotations

from typing import Protocol

from phoneprov_core.kernel.store import Store
from phoneprov_core.phones.model import Phone


class PhonesTransaction(Protocol):
    """What phones are kept in. Their key is the MAC in canonical form."""

    @property
    def phones(self) -> Store[Phone]: ...
