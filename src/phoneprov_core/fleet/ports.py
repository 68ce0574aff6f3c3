"""Stores that the fleet needs."""

from typing import Protocol

from phoneprov_core.deployments.ports import ReplacementChain
from phoneprov_core.desks.ports import DeskStore
from phoneprov_core.desks.use_cases import ConfigureTransaction
from phoneprov_core.fleet.model import Replacement
from phoneprov_core.phones.ports import PhoneStore, PhonesTransaction
from phoneprov_core.provisioning.ports import DiscoveredPhoneStore


class ReplacementStore(ReplacementChain, Protocol):
    """Which phone took the place of which. A phone took the place of one other at most. The phones
    need not be in the inventory."""

    async def put(self, replacement: Replacement) -> None:
        """Add a replacement, or replace the one of the same ``mac``."""

    async def successor(self, mac: str) -> str | None:
        """The phone that took the place of this one last and is in the inventory, or None."""


class FleetTransaction(PhonesTransaction, ConfigureTransaction, Protocol):
    """Stores that adopting and replacing phones reads and writes."""

    @property
    def phones(self) -> PhoneStore: ...
    @property
    def desks(self) -> DeskStore: ...
    @property
    def discovered_phones(self) -> DiscoveredPhoneStore: ...
    @property
    def replacements(self) -> ReplacementStore: ...

    async def flush(self) -> None:
        """Execute the changes that a store has deferred, with their errors."""
