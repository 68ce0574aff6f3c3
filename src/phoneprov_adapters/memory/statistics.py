"""Numbers of records in memory."""

from __future__ import annotations

import time
from collections import Counter

from phoneprov_adapters.memory.batches import BATCHES
from phoneprov_adapters.memory.kept_desks import DESKS
from phoneprov_adapters.memory.phones import PHONES
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.statistics.ports import Statistics, StatisticsStore


class MemoryStatistics(StatisticsStore):
    """Numbers of records, counted one by one."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def read(self) -> Statistics:
        phones = self._tables.of(PHONES).group()
        batches = (one.batch for one in self._tables.of(BATCHES).group())
        return Statistics(
            Counter("active" if phone.is_active else "inactive" for phone in phones),
            Counter(batch.state.value for batch in batches if batch.ended_at is None),
            sum(1 for one in self._tables.of(DESKS).group() if one.desk.user_uuid),
        )

    async def clock(self) -> int:
        return time.time_ns() // 1_000_000
