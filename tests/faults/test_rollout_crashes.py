"""Kills and failovers in every phase of a rollout: each phone ends with the new configuration, or
with exactly what was there. The files of the FTP server and the restarts of the exchange are
counted beside the records.

``PHONEPROV_TESTS=long`` tries each phase with each failure.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from faults.desk import desk
from faults.exchange import SOON, Exchange
from faults.rollout import Rollout, device_of
from faults.served import Served
from support.polling import until
from support.postgres import new_database
from support.records import a_mac
from support.replication import Pair
from support.scale import note, rounds

PHONES, FIRST = rounds((4, 2), (24, 6))
CONFIRM_SECONDS = rounds(1, 10)
Fail = Callable[[], Awaitable[bool]]
"""Returns whether the watches ended with their process."""


async def planned(rollout: Rollout, fail: Fail) -> str:
    # In a zone that changes its clocks: the offset decides, not the name of the hour.
    at = datetime.now(UTC) + timedelta(seconds=rounds(3, 8))
    start = at.astimezone(ZoneInfo("America/St_Johns")).isoformat()
    await rollout.begin(start_at=start)
    await fail()
    assert datetime.now(UTC) > at or rollout.outside.uploads.total() == 0
    return "done"


async def of_first(rollout: Rollout, fail: Fail) -> str:
    await rollout.begin()
    await rollout.uploads(1)
    await fail()
    # The watch of a first phone that was restarted already is lost with the process.
    return "done or stopped"


async def judging(rollout: Rollout, fail: Fail) -> str:
    rollout.exchange.open.clear()
    await rollout.begin()
    await rollout.restarted(FIRST)
    if await fail():  # the watches are resumed
        await until(lambda: rollout.exchange.connections, 60)
        await asyncio.sleep(2)
    rollout.exchange.open.set()
    return "done"


async def of_rest(rollout: Rollout, fail: Fail) -> str:
    await rollout.begin()
    await rollout.uploads(FIRST + 2)
    await fail()
    return "done"


async def undoing(rollout: Rollout, fail: Fail) -> str:
    """One of the first phones never returns, and another one is changed by hand meanwhile."""
    missing = device_of(a_mac(1))
    rollout.exchange.registers = lambda device: None if device == missing else SOON
    rollout.exchange.open.clear()
    await rollout.begin()
    await rollout.restarted(FIRST)
    rollout.exchange.registers = lambda _device: SOON
    if FIRST > 2:
        await rollout.change_by_hand(a_mac(2))
    rollout.exchange.open.set()
    await rollout.uploads(FIRST + 1 + (FIRST > 2))
    await fail()
    return "stopped"


PHASES = {
    "planned": planned, "first": of_first, "judging": judging, "rest": of_rest, "undo": undoing
}  # fmt: skip
HOW = ("killed", "killed on PostgreSQL", "failover", "another host")


@pytest.fixture(params=rounds(HOW[:1], HOW))
def how(request: pytest.FixtureRequest) -> str:
    """The failure."""
    return str(request.param)


@pytest.fixture
def pair(how: str) -> Iterator[Pair | None]:
    made = Pair() if how == "failover" else None
    yield made
    if made is not None:
        made.close()


@pytest.fixture
def database_url(how: str, pair: Pair | None) -> Iterator[str | None]:
    """The URL of the database; None for SQLite."""
    if pair is not None or how == "killed":
        yield None if pair is None else pair.url("office")
        return
    with asyncio.Runner() as runner:
        database = new_database()
        yield runner.run(database.__aenter__())
        runner.run(database.__aexit__(None, None, None))


@pytest.fixture
def hosts(database_url: str | None, tmp_path: Path) -> Iterator[list[Served]]:
    """Two services with the same database, not yet started."""
    made = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        made.append(Served(tmp_path / name, database_url))
    yield made
    for host in made:
        host.kill()


async def failing(how: str, rollout: Rollout, pair: Pair | None, other: Served) -> bool:
    """Let the service, or its database, fail; the service that goes on is ``rollout.served``."""
    if pair is not None:
        await asyncio.to_thread(pair.primary.stop, "QUIT")
        await pair.promote()
        return False
    rollout.served.kill()
    await rollout.outside.hung_up()
    rollout.exchange.connections = 0  # those of the killed process do not count
    for name in rollout.before:
        rollout.outside.forget(name)
    if how == "another host":
        rollout.served = other
    else:
        await asyncio.to_thread(rollout.served.start)
    return True


@pytest.mark.parametrize("phase", rounds(["judging", "undo"], [*PHASES]))
async def test_rollout_that_fails_in_a_phase_is_completed_or_undone(
    phase: str, how: str, pair: Pair | None, hosts: list[Served], tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        outside = await stack.enter_async_context(desk(tmp_path / "files"))
        exchange = await stack.enter_async_context(Exchange())
        for host in hosts:
            seconds = 60 if phase == "judging" else CONFIRM_SECONDS
            host.environment |= {**outside.settings(), **exchange.settings(seconds)}
            host.environment["PHONEPROV_FTP_TIMEOUT"] = "15"
        if pair is not None:
            await pair.primary.run("CREATE DATABASE office")
        await asyncio.to_thread(hosts[0].start)
        if pair is not None:
            await pair.synchronize()
        if how == "another host":
            await asyncio.to_thread(hosts[1].start)
        rollout = Rollout(hosts[0], outside, exchange, PHONES, FIRST)
        await rollout.prepare()
        expected = await PHASES[phase](rollout, lambda: failing(how, rollout, pair, hosts[1]))
        await rollout.check(expected)
        again = outside.uploads.total()
        note(f"a rollout to {PHONES} phones, {how} in phase {phase}: {again} uploads, none lost")
