"""Rounds over the fleet: who looks, how often, and what is stored."""

import asyncio
import hashlib
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_adapters.memory.system import FixedClock
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.features.fleet import watch
from phoneprov_core.features.fleet.files import CompareFiles
from phoneprov_core.features.fleet.watch import Registered, WatchFleet
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.kernel.values import PRIVATE_RANGES, millis
from phoneprov_core.switching.deployments.model import Outcome
from phoneprov_core.switching.deployments.observation import DeviceInformation
from phoneprov_core.switching.devices.ports import FilesOnServer
from support.phone_records import a_deployment, a_phone
from support.records import a_mac


class Phones:
    """Simulated phones by address; one that is absent does not answer."""

    def __init__(self, clock: FixedClock) -> None:
        self.clock = clock
        self.there: dict[str, DeviceInformation] = {}
        self.asked: list[tuple[str, int]] = []
        self.in_flight = self.most_in_flight = 0

    async def read(self, phone_ip: str, seconds: float) -> DeviceInformation:
        assert seconds <= 2
        self.asked.append((phone_ip, millis(self.clock())))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(0)
        self.in_flight -= 1
        if phone_ip not in self.there:
            raise TimedOut("no answer")
        return self.there[phone_ip]

    def times(self, phone_ip: str) -> list[int]:
        return [at for ip, at in self.asked if ip == phone_ip]


class Fleet:
    """Phones of the inventory with addresses ``10.0.0.<number>``, and processes that look."""

    def __init__(self) -> None:
        self.clock = FixedClock()
        self.database = MemoryDatabase(clock=lambda: millis(self.clock()))
        self.phones = Phones(self.clock)

    async def add(self, count: int, *, there: bool = True) -> None:
        async with self.database.write() as tx:
            for number in range(1, count + 1):
                ip = f"10.0.0.{number}"
                await tx.phones.add(a_phone(number, phone_ip=ip, model=None, software_version=None))
                if there:
                    self.phones.there[ip] = DeviceInformation(a_mac(number), "CP-7945G", "load")

    def process(self, name: str = "a", **more: Any) -> WatchFleet:
        async def pause(seconds: float) -> None:
            for _ in range(50):  # the looks that began
                await asyncio.sleep(0)
            self.clock.advance(seconds)

        return WatchFleet(
            self.database, self.phones, more.get("registrations"), self.clock, pause, name
        )

    async def states(self) -> Counter[str]:
        async with self.database.read() as tx:
            pairs = await tx.fleet.watched("", 1000)
        return Counter("none" if seen is None else seen.state.value for _, seen in pairs)


@pytest.fixture
def fleet() -> Fleet:
    return Fleet()


async def test_round_asks_each_phone_once_spread_over_its_time(fleet: Fleet) -> None:
    await fleet.add(60)
    begin = millis(fleet.clock())

    done = await fleet.process().round(1800)

    assert (done.phones, done.requests, done.changes) == (60, 60, 60)
    assert await fleet.states() == {"fine": 60}
    offsets = [at - begin for _, at in fleet.phones.asked]
    assert offsets == [number * 30_000 for number in range(60)]


async def test_phone_is_not_asked_twice_in_a_minute_and_requests_are_bounded(fleet: Fleet) -> None:
    await fleet.add(200)
    process = fleet.process()

    await process.round(0)
    again = await process.round(0)

    assert again.requests == 0
    assert fleet.phones.most_in_flight <= watch.MOST_AT_ONCE
    fleet.clock.advance(60)
    assert (await process.round(0)).requests == 200


async def test_phone_that_is_off_is_asked_once_an_hour_at_last(fleet: Fleet) -> None:
    await fleet.add(2)
    process = fleet.process()
    await process.round(0)
    del fleet.phones.there["10.0.0.1"]
    for _ in range(60 * 8):
        fleet.clock.advance(60)
        await process.round(0)

    times = fleet.phones.times("10.0.0.1")
    pauses = [(after - before) // 60_000 for before, after in itertools.pairwise(times)]
    assert pauses[:3] == [1, 1, 2]
    assert pauses == sorted(pauses)
    assert set(pauses[-3:]) == {60}
    assert len(fleet.phones.times("10.0.0.2")) == 481
    assert await fleet.states() == {"unreachable": 1, "fine": 1}
    fleet.phones.there["10.0.0.1"] = fleet.phones.there["10.0.0.2"]
    fleet.clock.advance(3600)
    await process.round(0)
    assert await fleet.states() == {"foreign": 1, "fine": 1}


async def test_looks_that_found_the_same_are_not_stored(fleet: Fleet) -> None:
    await fleet.add(3)
    process = fleet.process()
    await process.round(0)
    stored = []
    write = fleet.database.write

    def counted(**more: Any) -> Any:
        stored.append(more)
        return write(**more)

    fleet.database.write = counted  # type: ignore[method-assign]
    for _ in range(30):
        fleet.clock.advance(60)
        await process.round(0)

    # The lease is renewed each round; each phone is stored once, for the hour.
    assert len(stored) <= 30 + 3


async def test_one_process_looks_and_another_continues_when_it_ended(fleet: Fleet) -> None:
    await fleet.add(5)
    first, second = fleet.process("a"), fleet.process("b")

    assert (await first.round(0)).requests == 5
    assert (await second.round(0)).requests == 0
    fleet.clock.advance(watch.LEASE_SECONDS + 1)
    assert (await second.round(0)).requests == 5
    assert (await first.round(0)).requests == 0


async def test_process_that_takes_over_waits_a_minute(fleet: Fleet) -> None:
    await fleet.add(1)
    begin = millis(fleet.clock())
    task = asyncio.create_task(fleet.process().run(1))
    for _ in range(10_000):
        await asyncio.sleep(0)
        if len(fleet.phones.asked) >= 3:
            break
    task.cancel()

    first, second, third = (at - begin for _, at in fleet.phones.asked[:3])
    assert first >= 60_000
    assert second - first >= 60_000
    assert third - second >= 60_000


async def test_phone_that_is_switched_or_was_deleted_is_not_asked(fleet: Fleet) -> None:
    await fleet.add(3)
    async with fleet.database.write() as tx:
        await tx.leases.take(a_mac(1), "a switch", 60)
        phone = await tx.phones.find(a_mac(2))
        assert phone is not None
        await tx.phones.put(msgspec.structs.replace(phone, is_active=False))

    await fleet.process().round(0)

    assert [ip for ip, _ in fleet.phones.asked] == ["10.0.0.3"]


class Hanging(MemoryUploader):
    """A server that accepts the login and then does not answer."""

    @asynccontextmanager
    async def opened(
        self, phone_ip: str | None, seconds: float | None = None
    ) -> AsyncIterator[FilesOnServer]:
        await asyncio.Event().wait()
        raise AssertionError("it answered")
        yield


@pytest.mark.parametrize("kind", [MemoryUploader, Hanging])
async def test_files_are_compared_beside_the_looks_and_do_not_delay_them(
    fleet: Fleet, kind: type[MemoryUploader]
) -> None:
    await fleet.add(3)
    uploader = kind(PhoneNetworks.parse(PRIVATE_RANGES), host="10.9.9.9")
    folder = uploader.files.setdefault("10.9.9.9:21", {})
    async with fleet.database.write() as tx:
        for number in (1, 2, 3):
            folder[f"f{number}"] = b"by hand" if number == 1 else b"x"
            deployed = a_deployment(
                number, a_mac(number), sha256=hashlib.sha256(b"x").hexdigest(), size=1,
                filename=f"f{number}", place="s", outcome=Outcome.DEPLOYED,
            )  # fmt: skip
            await tx.deployments.add(deployed)
    process = fleet.process()
    process.files = CompareFiles(fleet.database, uploader, fleet.clock, process.pause)
    task = asyncio.create_task(process.run(1))
    wanted = {"fine": 3} if kind is Hanging else {"fine": 2, "file_changed": 1}
    for _ in range(30_000):
        await asyncio.sleep(0)
        if len(fleet.phones.asked) >= 9 and await fleet.states() == wanted:
            break
    task.cancel()
    await asyncio.wait({task})

    assert len(fleet.phones.asked) >= 9
    assert await fleet.states() == wanted
    async with fleet.database.read() as tx:
        history = await tx.fleet.history(a_mac(1), 9)
    assert [one.state.value for one in history][-1] == "fine"
    assert len(history) <= 2


async def test_look_and_comparison_of_a_file_at_once_keep_both(fleet: Fleet) -> None:
    await fleet.add(1)
    process = fleet.process()
    await process.round(0)
    fleet.clock.advance(60)
    read = fleet.phones.read

    async def compared_meanwhile(phone_ip: str, seconds: float) -> DeviceInformation:
        await process._keep_file(a_mac(1), "missing")
        return msgspec.structs.replace(await read(phone_ip, seconds), load="newer")

    fleet.phones.read = compared_meanwhile  # type: ignore[method-assign]
    await process.round(0)

    async with fleet.database.read() as tx:
        seen = await tx.fleet.find(a_mac(1))
        history = await tx.fleet.history(a_mac(1), 9)
    assert seen is not None
    assert (seen.file, seen.reported_load, seen.state.value) == ("missing", "newer", "file_changed")
    assert [one.state.value for one in history] == ["file_changed", "fine"]


class Exchange:
    def __init__(self, answer: Registered | Refused) -> None:
        self.answer, self.asked = answer, 0

    async def registered(self) -> Registered:
        self.asked += 1
        if isinstance(self.answer, Refused):
            raise self.answer
        return self.answer


async def test_exchange_is_asked_once_a_round(fleet: Fleet) -> None:
    await fleet.add(3)
    async with fleet.database.write() as tx:
        phone = await tx.phones.find(a_mac(3))
        assert phone is not None
        await tx.phones.put(msgspec.structs.replace(phone, software_type="SCCP"))
    exchange = Exchange(Registered({a_mac(1): True, a_mac(2): False}, lists_sccp=True))

    await fleet.process(registrations=exchange).round(0)

    assert exchange.asked == 1
    assert await fleet.states() == {"fine": 1, "unregistered": 2}


async def test_exchange_that_refuses_says_nothing_and_what_it_said_stays(fleet: Fleet) -> None:
    await fleet.add(2)
    exchange = Exchange(Refused("no"))
    process = fleet.process(registrations=exchange)
    for answer, states in (
        (exchange.answer, {"fine": 2}),
        (Registered({a_mac(1): False}), {"unregistered": 1, "fine": 1}),
        (exchange.answer, {"unregistered": 1, "fine": 1}),
        (Registered({}), {"fine": 2}),
    ):
        exchange.answer = answer
        await process.round(0)
        assert await fleet.states() == states
        fleet.clock.advance(60)
