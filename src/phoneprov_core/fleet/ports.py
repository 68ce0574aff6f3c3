"""Stores that the fleet needs."""

from typing import Protocol

from phoneprov_core.deployments.ports import LeaseStore, ReplacementChain
from phoneprov_core.desks.ports import DeskStore, DesksTransaction
from phoneprov_core.fleet.model import Replacement
from phoneprov_core.fleet.states import CountedFleet, Days, SeenPhone, StateChange, WatchedFile
from phoneprov_core.phones.model import Phone
from phoneprov_core.phones.ports import PhoneStore, PhonesTransaction, SignsOfLife
from phoneprov_core.provisioning.ports import DiscoveredPhoneStore


class ReplacementStore(ReplacementChain, Protocol):
    """Which phone took the place of which. A phone took the place of one other at most. The phones
    need not be in the inventory."""

    async def put(self, replacement: Replacement) -> None:
        """Add a replacement, or replace the one of the same ``mac``."""

    async def successor(self, mac: str) -> str | None:
        """The phone that took the place of this one last and is in the inventory, or None."""


class FleetStore(SignsOfLife, Protocol):
    """What was seen of phones, by canonical MAC, and the numbers of the fleet. It is deleted with
    its phone."""

    async def find(self, mac: str) -> SeenPhone | None:
        """What is known of a phone, or None."""

    async def put(self, seen: SeenPhone, *, is_change: bool) -> None:
        """Add or replace what is known of a phone; with ``is_change`` also add its state to the
        history. Raises ``NotFound`` if the phone is not in the inventory."""

    async def history(self, mac: str, limit: int) -> list[StateChange]:
        """At most ``limit`` changes of the phone's state, newest first."""

    async def watched(self, after: str, limit: int) -> list[tuple[Phone, SeenPhone | None]]:
        """At most ``limit`` active phones with an address, by MAC, beginning after ``after``."""

    async def files(self, after: str, limit: int) -> list[WatchedFile]:
        """The files of the phones that ``watched`` returns, in the same order."""

    async def counts(self) -> CountedFleet:
        """The active phones in numbers."""

    async def summed_until(self) -> str | None:
        """The day before which deployments are counted by ``sum_days``: that of the oldest one if
        none are, None if there is no deployment either."""

    async def sum_days(self, begin: str, until: str) -> None:
        """Count the deployments of each day from ``begin``, which is ``summed_until``, to the one
        before ``until``, and store the numbers. Two at once have the effect of one."""

    async def days(self, since: str, until: str) -> Days:
        """The deployments of the days from ``since`` to ``until``: as ``sum_days`` stored them,
        else counted now."""


class FleetTransaction(PhonesTransaction, DesksTransaction, Protocol):
    """Stores that adopting, replacing and watching phones reads and writes."""

    @property
    def phones(self) -> PhoneStore: ...
    @property
    def desks(self) -> DeskStore: ...
    @property
    def discovered_phones(self) -> DiscoveredPhoneStore: ...
    @property
    def replacements(self) -> ReplacementStore: ...
    @property
    def leases(self) -> LeaseStore: ...
    @property
    def fleet(self) -> FleetStore: ...

    async def flush(self) -> None:
        """Execute the changes that a store has deferred, with their errors."""
