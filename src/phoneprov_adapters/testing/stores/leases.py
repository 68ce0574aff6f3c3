"""The contract of ``Leases``."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise

import pytest

from phoneprov_adapters.testing.records import a_mac, identifier
from phoneprov_core.stores import Database

PHONE, OTHER_PHONE = a_mac(1), a_mac(2)
ME, YOU = identifier(1), identifier(2)


async def _take(
    database: Database, mac: str = PHONE, holder: str = ME, seconds: int = 60
) -> int | None:
    async with database.write() as tx:
        return await tx.leases.take(mac, holder, seconds)


async def _release(database: Database, fence: int, mac: str = PHONE, holder: str = ME) -> bool:
    async with database.write() as tx:
        return await tx.leases.release(mac, holder, fence)


@pytest.mark.asyncio
class LeasesContract:
    """The contract of ``Leases``."""

    async def test_phone_has_one_lease_holder(self, database: Database) -> None:
        assert await _take(database) is not None
        assert await _take(database, holder=YOU) is None
        assert await _take(database, holder=ME) is None
        assert await _take(database, OTHER_PHONE, YOU) is not None

    async def test_lease_one_of_racing_callers_succeeds(self, database: Database) -> None:
        fences = await asyncio.gather(*(_take(database, holder=identifier(i)) for i in range(20)))

        assert [fence is not None for fence in fences].count(True) == 1

    async def test_phone_released_can_be_taken(self, database: Database) -> None:
        fence = await _take(database)
        assert fence is not None

        assert await _release(database, fence)
        assert not await _release(database, fence)

        assert await _take(database, holder=YOU) is not None

    async def test_lease_fence_grows_with_every_holder(self, database: Database) -> None:
        fences = []
        for turn in range(6):
            # Released or expired: the fence grows in either case.
            fence = await _take(database, holder=(ME, YOU)[turn % 2], seconds=(60, 0)[turn // 3])
            assert fence is not None
            fences.append(fence)
            await _release(database, fence, holder=(ME, YOU)[turn % 2])

        assert all(earlier < later for earlier, later in pairwise(fences))

    async def test_lease_expired_can_be_taken(self, database: Database) -> None:
        assert await _take(database, seconds=0) is not None
        assert await _take(database, holder=YOU) is not None
        assert await _take(database, holder=ME) is None

    async def test_leases_are_released_together(self, database: Database) -> None:
        first = await _take(database)
        other = await _take(database, OTHER_PHONE, YOU)
        assert first is not None
        assert other is not None

        async with database.write() as tx:
            await tx.leases.release_all()

        assert not await _release(database, first)
        assert (await _take(database, holder=YOU) or 0) > first
        assert (await _take(database, OTHER_PHONE, ME) or 0) > other

    async def test_lease_expires_after_its_seconds(self, database: Database) -> None:
        began = time.monotonic()
        assert await _take(database, seconds=1) is not None

        while await _take(database, holder=YOU) is None:  # noqa: ASYNC110 - a database has no event
            await asyncio.sleep(0.02)

        # Clocks of databases may be as coarse as a few milliseconds.
        assert 0.98 <= time.monotonic() - began < 5

    @pytest.mark.parametrize(
        ("holder", "mac", "more"),
        [(ME, PHONE, 1), (ME, PHONE, -1), (YOU, PHONE, 0), (ME, OTHER_PHONE, 0)],
    )
    async def test_only_the_holder_with_the_right_fence_releases(
        self, database: Database, holder: str, mac: str, more: int
    ) -> None:
        fence = await _take(database)
        assert fence is not None

        assert not await _release(database, fence + more, mac, holder)

        assert await _take(database, holder=YOU) is None
        assert await _release(database, fence)

    async def test_lease_lost_is_not_released(self, database: Database) -> None:
        lost = await _take(database, seconds=0)
        fence = await _take(database, holder=YOU)
        assert lost is not None
        assert fence is not None

        assert not await _release(database, lost)

        assert await _take(database) is None
        assert await _release(database, fence, holder=YOU)

    async def test_lease_holder_is_returned(self, database: Database) -> None:
        async def holder() -> str | None:
            async with database.read() as tx:
                return await tx.leases.holder(PHONE)

        assert await holder() is None
        await _take(database, seconds=0)
        assert await holder() is None
        fence = await _take(database, holder=YOU)
        assert await holder() == YOU

        assert fence is not None
        await _release(database, fence, holder=YOU)
        assert await holder() is None
