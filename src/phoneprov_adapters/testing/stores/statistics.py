"""The contract of ``StatisticsStore``."""

from __future__ import annotations

import time
from typing import Any

import pytest

from phoneprov_adapters.testing.batches import a_batch
from phoneprov_adapters.testing.phone_records import a_phone
from phoneprov_adapters.testing.records import a_mac, a_user, identifier, moment
from phoneprov_core.batches.model import BatchState
from phoneprov_core.deployments.desk_use import DeskUse
from phoneprov_core.statistics.ports import Statistics
from phoneprov_core.stores import Database


@pytest.mark.asyncio
class StatisticsContract:
    """The contract of ``StatisticsStore``."""

    async def test_empty_database_has_no_states(self, database: Database) -> None:
        async with database.read() as tx:
            assert await tx.statistics.read() == Statistics({}, {}, 0)

    async def test_records_are_counted_by_state(self, database: Database) -> None:
        ended: dict[str, Any] = {"state": BatchState.DONE, "ended_at": moment(9)}
        async with database.write() as tx:
            await tx.users.add(a_user(900))
            for number in (1, 2):
                await tx.phones.add(a_phone(number))
                await tx.batches.add(a_batch(number))
            await tx.phones.add(a_phone(3, is_active=False))
            await tx.batches.add(a_batch(3, **ended))
            await tx.desks.use(a_mac(1), DeskUse(identifier(900)), moment(1))
            await tx.desks.use(a_mac(2), DeskUse(), moment(1))

        async with database.read() as tx:
            found = await tx.statistics.read()
        assert found == Statistics({"active": 2, "inactive": 1}, {"running": 2}, 1)

    async def test_clock_is_the_time_in_milliseconds(self, database: Database) -> None:
        async with database.read() as tx:
            clock = await tx.statistics.clock()
        assert abs(clock - time.time() * 1000) < 600_000
