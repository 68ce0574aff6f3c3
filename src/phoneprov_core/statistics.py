"""Numbers of records, for monitoring."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct


class Statistics(Struct, frozen=True):
    """Numbers of records. ``phones`` are those of the inventory, by ``active`` and ``inactive``;
    ``batches`` are those that have not ended, by state; ``hotdesk_sessions`` are phones with a
    user who is logged in; ``fleet`` are active phones by their state."""

    phones: Mapping[str, int]
    batches: Mapping[str, int]
    hotdesk_sessions: int
    fleet: Mapping[str, int] = {}


class StatisticsStore(Protocol):
    """Numbers of records, counted when they are read."""

    async def read(self) -> Statistics:
        """The numbers now. A state without records is left out."""

    async def clock(self) -> int:
        """The database's own time, in milliseconds since 1970."""


class StatisticsTransaction(Protocol):
    """The store that monitoring reads."""

    @property
    def statistics(self) -> StatisticsStore: ...
