"""Pruning: pieces, pauses, turns, days."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_core.features.retention import (
    PIECE,
    Expiring,
    KeepDays,
    Moment,
    Prune,
    Pruned,
    limits,
)
from phoneprov_core.features.serving.model import Fetch, FetchResult, Transport
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.values import timestamp
from support.records import a_mac, identifier

NOW = datetime(2026, 6, 1, tzinfo=UTC)


class Rig:
    """A memory database with requests of phones of the last days, one a minute."""

    def __init__(self, keep: KeepDays) -> None:
        self.now = NOW
        self.paused: list[float] = []
        self.database = MemoryDatabase()
        self.prune = Prune(self.database, keep, lambda: self.now, self._pause)

    async def _pause(self, seconds: float) -> None:
        self.paused.append(seconds)

    async def fetches(self, count: int, *, days: float) -> None:
        async with self.database.write() as tx:
            for number in range(count):
                at = timestamp(NOW - timedelta(days=days, minutes=number))
                await tx.fetches.add(
                    Fetch(
                        uuid=identifier(number + int(days * 100_000)),
                        mac=a_mac(1),
                        name="RINGLIST.XML",
                        transport=Transport.HTTP,
                        client_ip="10.0.0.1",
                        result=FetchResult.SERVED,
                        bytes=1,
                        duration_ms=1,
                        created_at=at,
                    )
                )

    async def left(self) -> int:
        async with self.database.read() as tx:
            return len(await tx.fetches.newest(a_mac(1), 99_999))


@pytest.fixture
async def rig() -> Rig:
    made = Rig(KeepDays(fetches=30))
    await made.fetches(PIECE + 10, days=31)
    await made.fetches(3, days=29)
    return made


def _count(pruned: list[Pruned] | None, kind: Expiring) -> int:
    assert pruned is not None
    return next(one.count for one in pruned if one.kind is kind)


async def test_prune_removes_in_pieces_with_a_pause_after_each(rig: Rig) -> None:
    assert _count(await rig.prune(), Expiring.FETCHES) == PIECE + 10

    assert len(rig.paused) == 2
    assert await rig.left() == 3


async def test_prune_dry_run_counts_and_changes_nothing(rig: Rig) -> None:
    assert _count(await rig.prune(dry_run=True), Expiring.FETCHES) == PIECE + 10

    assert await rig.left() == PIECE + 13
    assert rig.paused == []


async def test_prune_in_turn_runs_once_in_six_hours(rig: Rig) -> None:
    assert _count(await rig.prune.in_turn(), Expiring.FETCHES) == PIECE + 10
    assert await rig.prune.in_turn() is None
    rig.now += timedelta(hours=6, seconds=-1)
    assert await rig.prune.in_turn() is None

    rig.now += timedelta(seconds=2)
    assert _count(await rig.prune.in_turn(), Expiring.FETCHES) == 0


async def test_prune_kind_that_fails_is_reported_and_the_others_are_pruned(
    rig: Rig,
) -> None:
    class Refusing(Prune):
        def _pieces(self, kind: Expiring, before: Moment, *, dry_run: bool) -> AsyncIterator[int]:
            if kind is Expiring.DEPLOYMENTS:
                raise Unavailable("The database does not let its user do that.")
            return super()._pieces(kind, before, dry_run=dry_run)

    prune = Refusing(rig.database, KeepDays(), lambda: NOW, rig._pause)
    pruned = await prune()

    assert pruned[0].message == "The database does not let its user do that."
    assert _count(pruned, Expiring.FETCHES) == PIECE + 10


def test_limits_zero_days_keeps_everything() -> None:
    keep = KeepDays(deployments=0, fetches=0, audit=0, revisions=0)
    assert set(limits(keep, NOW)) == {Expiring.SESSIONS, Expiring.ATTEMPTS}


def test_limits_more_days_than_the_calendar_has_are_accepted() -> None:
    assert limits(KeepDays(fetches=2**31 - 1), NOW)[Expiring.FETCHES] == "0001-01-01T00:00:00.000Z"
