"""The contract of ``RateStore``."""

from __future__ import annotations

import asyncio

import pytest

from phoneprov_adapters.testing.records import a_mac
from phoneprov_core.kernel.rates import Rate
from phoneprov_core.stores import Database

NOW = 1_700_000_000_000
RATE = Rate(3, 60_000)


async def _add(
    database: Database,
    now: int = NOW,
    *,
    subject: str = "a",
    rate: Rate = RATE,
    item: str = "",
    force: bool = False,
) -> int:
    async with database.write() as tx:
        return await tx.rates.add(subject, rate, now, item=item, force=force)


@pytest.mark.asyncio
class RatesContract:
    """The contract of ``RateStore``."""

    async def test_rate_counts_up_to_the_limit_and_says_how_long_to_wait(
        self, database: Database
    ) -> None:
        assert [await _add(database, NOW + n) for n in range(3)] == [0, 0, 0]

        assert await _add(database, NOW + 10) == 59_990
        assert await _add(database, NOW + 59_999) == 1
        assert await _add(database, NOW + 59_999, subject="b") == 0

    async def test_rate_window_begins_with_the_first_event_and_then_anew(
        self, database: Database
    ) -> None:
        for n in (0, 1, 2):
            await _add(database, NOW + n)

        assert [await _add(database, NOW + 60_000) for _ in range(4)] == [0, 0, 0, 60_000]

    async def test_rate_of_zero_has_no_limit(self, database: Database) -> None:
        assert {await _add(database, rate=Rate(0, 60_000)) for _ in range(5)} == {0}

    async def test_rate_refused_event_is_not_counted(self, database: Database) -> None:
        for _ in range(5):
            await _add(database)
        async with database.write() as tx:
            await tx.rates.take_back("a")

        assert [await _add(database), await _add(database)] == [0, 60_000]

    async def test_rate_take_back_of_nothing_changes_nothing(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.rates.take_back("a")
        await _add(database)
        for _ in range(3):
            async with database.write() as tx:
                await tx.rates.take_back("a")

        assert [await _add(database) for _ in range(4)] == [0, 0, 0, 60_000]

    async def test_rate_item_counts_once_a_window(self, database: Database) -> None:
        items = [f"{a_mac(number)}," for number in range(1, 5)]
        for item in items[:3]:
            assert await _add(database, item=item) == 0

        assert [await _add(database, item=item) for item in items] == [0, 0, 0, 60_000]
        # In the next window they count again.
        later = NOW + 60_000
        answers = [await _add(database, later, item=item) for item in items]
        assert answers == [0, 0, 0, 60_000]

    async def test_rate_forced_event_is_counted_beyond_the_limit(self, database: Database) -> None:
        for _ in range(3):
            await _add(database)

        assert await _add(database, force=True) == 0
        async with database.write() as tx:
            await tx.rates.take_back("a")
        assert await _add(database) == 60_000

    async def test_rate_clock_set_back_ends_the_window(self, database: Database) -> None:
        for _ in range(3):
            await _add(database)

        assert await _add(database, NOW - 30_000) == 60_000
        assert await _add(database, NOW - 3_600_000) == 0

    async def test_rate_concurrent_callers_are_counted_exactly(self, database: Database) -> None:
        answers = await asyncio.gather(*(_add(database) for _ in range(30)))

        assert answers.count(0) == 3

    async def test_rate_event_of_a_failed_transaction_is_not_counted(
        self, database: Database
    ) -> None:
        async def fail() -> None:
            async with database.write() as tx:
                await tx.rates.add("a", RATE, NOW)
                raise ZeroDivisionError

        for _ in range(5):
            with pytest.raises(ZeroDivisionError):
                await fail()

        assert [await _add(database) for _ in range(4)] == [0, 0, 0, 60_000]
