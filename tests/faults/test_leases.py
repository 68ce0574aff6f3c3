"""One switch of a phone runs at a time, over all processes."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest

from faults import impatient
from faults.desk import Desk, desk
from faults.served import Served
from phoneprov_core.switching.deployments.model import Deployment, DeploymentFilter, Outcome
from races.wire import Line, Reply
from support.postgres import new_database
from support.records import a_mac
from support.scale import note, random_choices, rounds, spread

XML = "<device><deviceProtocol>SCCP</deviceProtocol></device>"
PHONES = [a_mac(number) for number in (1, 2, 3)]


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database that several services share."""
    if request.param == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path / 'shared.db'}"
        return
    with asyncio.Runner() as runner:
        database = new_database()
        yield runner.run(database.__aenter__())
        runner.run(database.__aexit__(None, None, None))


@contextlib.asynccontextmanager
async def all_started(*services: Served) -> AsyncIterator[None]:
    try:
        await asyncio.to_thread(services[0].start)  # the first creates the schema
        await asyncio.gather(*(asyncio.to_thread(service.start) for service in services[1:]))
        yield
    finally:
        for service in services:
            service.kill()


async def a_profile(served: Served, token: str) -> str:
    """Add phones to the inventory, and a profile for them; its uuid."""
    async with served.line() as line:
        for mac in PHONES:
            phone = {"mac": mac, "phone_ip": "127.0.0.1"}
            assert (await line.ask("POST", "/phones", phone, token=token)).status == 201
        me = (await line.ask("GET", "/me", token=token)).data["uuid"]
        profile = {"user_uuid": me, "name": "Ada", "cnf_xml": XML}
        made = await line.ask("POST", "/phone-profiles", profile, token=token)
        return str(made.data["uuid"])


async def switch(line: Line, token: str, profile: str, mac: str) -> tuple[Reply, float]:
    """Request a switch: the response, and its duration in seconds."""
    began = time.monotonic()
    body = {"profile_uuid": profile, "mac": mac}
    reply = await line.ask("POST", "/phone-profiles/switch", body, token=token)
    return reply, time.monotonic() - began


async def time_read(line: Line, token: str) -> float:
    """The duration of a read, in seconds, at the same time and process."""
    began = time.monotonic()
    assert (await line.ask("GET", "/me", token=token)).status == 200
    return time.monotonic() - began


def at_once(refusals: list[float], questions: list[float]) -> bool:
    """Whether refusals take less than 0.1 s or, on a busy machine, at most five times the duration
    of a read."""
    return median(refusals) < max(0.1, 5 * median(questions))


async def deployments(served: Served) -> list[Deployment]:
    async with served.direct() as direct, direct.database.read() as tx:
        return await tx.deployments.matching(DeploymentFilter()).rows(10_000)


@pytest.fixture
def services(database_url: str, tmp_path: Path) -> list[Served]:
    """Services that share a database, each with one process."""
    folders = [tmp_path / f"host-{number}" for number in range(rounds(2, 8))]
    for folder in folders:
        folder.mkdir()
    return [Served(folder, database_url) for folder in folders]


async def test_concurrent_switches_of_a_phone_run_one(
    services: list[Served], tmp_path: Path
) -> None:
    async with desk(tmp_path / "files") as outside:
        for service in services:
            service.environment |= outside.settings()
        async with all_started(*services):
            token = await services[0].token()
            profile = await a_profile(services[0], token)
            await check_busy_phone_is_refused(services[0], services[1], outside, token, profile)
            await check_switches_do_not_overlap(services, outside, token, profile)


async def check_busy_phone_is_refused(
    one: Served, other: Served, outside: Desk, token: str, profile: str
) -> None:
    waits, looks = [], []
    async with one.line() as first, other.line() as second:
        outside.open.clear()
        winner = asyncio.create_task(switch(first, token, profile, PHONES[0]))
        await asyncio.wait_for(outside.begun.wait(), 60)
        for _ in range(20):
            looks.append(await time_read(second, token))
            refused, seconds = await switch(second, token, profile, PHONES[0])
            assert (refused.status, refused.code) == (409, "phone_busy")
            waits.append(seconds)
        outside.open.set()
        assert (await winner)[0].status == 200
        assert (await switch(second, token, profile, PHONES[0]))[0].status == 200
    assert at_once(waits, looks)
    note(f"busy phone, {one.name}: refused after {spread(waits)}; a read {spread(looks)}")


async def check_switches_do_not_overlap(
    services: list[Served], outside: Desk, token: str, profile: str
) -> None:
    times = rounds(12, 500)
    won = Counter({PHONES[0]: 2})
    waits: list[float] = []
    looks: list[float] = []

    async def go(service: Served, number: int) -> None:
        chance = random_choices(f"phones {number}")
        async with service.line() as line:
            for _ in range(times):
                mac = chance.choice(PHONES)
                reply, seconds = await switch(line, token, profile, mac)
                assert (reply.status, reply.code) in {(200, None), (409, "phone_busy")}, reply
                won[mac] += reply.status == 200
                if reply.status == 409:
                    waits.append(seconds)
                    looks.append(await time_read(line, token))
                    await asyncio.sleep(chance.uniform(0.01, 0.05))

    outside.pause = 0.01
    await asyncio.gather(*(go(service, number) for number, service in enumerate(services)))

    records = await deployments(services[0])
    async with services[0].direct() as direct, direct.database.write() as tx:
        fences = {mac: await tx.leases.take(mac, "a look", 1) for mac in PHONES}
    assert outside.overlaps == []
    assert outside.leftovers() == []
    assert sum(outside.uploads.values()) == won.total() == len(records)
    assert fences == {mac: won[mac] + 1 for mac in PHONES}
    for mac in PHONES:
        spans = sorted((d.created_at, d.ended_at or "") for d in records if d.mac == mac)
        assert all(ended and ended <= begun for (_, ended), (begun, _) in pairwise(spans))
    note(
        f"{len(services)} processes x {times} switches of {len(PHONES)} phones, "
        f"{services[0].name}: {won.total()} done, none overlaps; {len(waits)} refused, "
        f"{spread(waits)}, {sum(seconds < 0.1 for seconds in waits)} of them under 100 ms; a "
        f"read at the same time {spread(looks)}"
    )
    assert not waits or at_once(waits, looks)


@pytest.fixture
def services_with_short_leases(services: list[Served]) -> list[Served]:
    """Two services that share a database, and whose leases are short."""
    return [Served(one.folder, one.database_url, command=impatient.COMMAND) for one in services[:2]]


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
async def test_lease_of_a_process_killed_on_another_host_expires(
    services_with_short_leases: list[Served], tmp_path: Path
) -> None:
    one, other = services_with_short_leases
    async with desk(tmp_path / "files") as outside:
        for service in (one, other):
            service.environment |= outside.settings()
        async with all_started(one, other), one.line() as first, other.line() as second:
            token = await one.token()
            profile = await a_profile(one, token)
            outside.open.clear()
            begun = time.monotonic()
            cut_off = asyncio.create_task(switch(first, token, profile, PHONES[0]))
            await asyncio.wait_for(outside.begun.wait(), 60)
            one.kill()
            with contextlib.suppress(OSError, EOFError):
                await cut_off
            outside.open.set()
            outside.forget("SEP001BD4000001.cnf.xml")
            while (reply := (await switch(second, token, profile, PHONES[0]))[0]).status == 409:
                assert time.monotonic() - begun < impatient.LEASE_SECONDS + 8
                await asyncio.sleep(0.02)
            held = time.monotonic() - begun
            while Outcome.RUNNING in (outcomes := [d.outcome for d in await deployments(other)]):
                assert time.monotonic() - begun < impatient.LEASE_SECONDS + 12
                await asyncio.sleep(0.1)
    assert reply.status == 200
    assert held > impatient.LEASE_SECONDS * 0.9
    assert outcomes == [Outcome.INTERRUPTED, Outcome.DEPLOYED]
    assert outside.leftovers() == []
    note(
        f"killed holder, {one.name}: its lease of {impatient.LEASE_SECONDS} s ended after"
        f" {held:.1f} s"
    )
