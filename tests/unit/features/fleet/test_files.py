"""Rounds over the files on the servers."""

import asyncio
import hashlib
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, strategies as st

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_adapters.memory.system import FixedClock
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.features.fleet import files as module
from phoneprov_core.features.fleet.files import (
    ROUNDS,
    CompareFiles,
    FilesRound,
    Same,
    needs_reading,
)
from phoneprov_core.features.fleet.states import FleetState, SeenPhone, WatchedFile, after_file
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.kernel.values import PRIVATE_RANGES, millis, timestamp
from phoneprov_core.switching.deployments.model import Outcome
from phoneprov_core.switching.deployments.observation import FileState, ServerFile
from phoneprov_core.switching.devices.ports import ConfigUploader, FilesOnServer, Upload, Uploaded
from support.phone_records import a_deployment, a_phone
from support.records import a_mac, identifier, moment

SERVER = "10.9.9.9:21"


class Server(MemoryUploader):
    """A central server. ``broken`` are the names whose transfer ends the session."""

    def __init__(self) -> None:
        super().__init__(PhoneNetworks.parse(PRIVATE_RANGES), host="10.9.9.9")
        self.folder: dict[str, bytes] = self.files.setdefault(SERVER, {})
        self.read: list[str] = []
        self.sessions = self.listings = 0
        self.broken: set[str] = set()
        self.hidden: set[str] = set()
        self.unreadable: set[str] = set()
        self.stamps: dict[str, str] = {}
        self.lists = True

    @asynccontextmanager
    async def opened(
        self, phone_ip: str | None, seconds: float | None = None
    ) -> AsyncIterator[FilesOnServer]:
        self.sessions += 1
        async with super().opened(phone_ip, seconds) as files:
            yield _Files(self, files)


class _Files(FilesOnServer):
    def __init__(self, server: Server, files: FilesOnServer) -> None:
        self.server, self.files = server, files

    async def listing(self, names: object) -> dict[str, str] | None:
        self.server.listings += 1
        if not self.server.lists:
            return None
        listed = await self.files.listing(names)  # type: ignore[arg-type]
        stamps = self.server.stamps
        return {
            name: stamps.get(name, text)
            for name, text in (listed or {}).items()
            if name not in self.server.hidden
        }

    def place(self, name: str) -> str:
        return self.files.place(name)

    async def read(self, name: str, limit: int) -> bytes | None:
        self.server.read.append(name)
        if name in self.server.broken:
            raise TimedOut("The FTP server did not answer in time while verifying.")
        return None if name in self.server.unreadable else await self.files.read(name, limit)


def named(number: int) -> str:
    return f"SEP{number:012X}.cnf.xml"


class Office:
    """Phones with a deployed file on the server."""

    def __init__(self) -> None:
        self.clock = FixedClock()
        self.database = MemoryDatabase(clock=lambda: millis(self.clock()))
        self.server = Server()
        self.kept: list[tuple[str, FileState]] = []
        self.compare = self.process()

    def process(self, uploader: ConfigUploader | None = None) -> CompareFiles:
        async def pause(seconds: float) -> None:
            await asyncio.sleep(0)
            self.clock.advance(seconds)

        return CompareFiles(self.database, uploader or self.server, self.clock, pause)

    async def add(self, count: int) -> None:
        for number in range(1, count + 1):
            async with self.database.write() as tx:
                ip = f"10.0.{number // 250}.{number % 250}"
                await tx.phones.add(a_phone(number, phone_ip=ip, created_at=moment(0)))
            await self.deploy(number, 1)

    async def deploy(self, number: int, version: int, **more: object) -> None:
        content = f"<device>{number:05d} {version}</device>".encode()
        deployment = a_deployment(
            10_000 * version + number,
            a_mac(number),
            number=version,
            sha256=hashlib.sha256(content).hexdigest(),
            size=len(content),
            filename=named(number),
            place=f"{SERVER}/{named(number)}",
            outcome=Outcome.DEPLOYED,
            created_at=moment(version),
            **more,
        )
        async with self.database.write() as tx:
            await tx.deployments.add(deployment)
        self.server.folder[named(number)] = content

    async def keep(self, mac: str, state: FileState) -> None:
        self.kept.append((mac, state))
        async with self.database.write() as tx:
            phone = await tx.phones.find(mac)
            assert phone is not None
            seen = after_file(phone, await tx.fleet.find(mac), state, timestamp(self.clock()))
            await tx.fleet.put(seen, is_change=False)

    async def round(self, seconds: float = 1800.0) -> FilesRound:
        self.server.read.clear()
        self.server.sessions = 0
        self.kept.clear()
        return await self.compare.round(seconds, self.keep, lambda: True)

    async def states(self) -> Counter[str]:
        async with self.database.read() as tx:
            return Counter(file.file for file in await tx.fleet.files("", 100_000))

    async def state(self, number: int) -> str:
        async with self.database.read() as tx:
            seen = await tx.fleet.find(a_mac(number))
        return "none" if seen is None else seen.file


@pytest.fixture
def office() -> Office:
    return Office()


async def test_one_session_and_listing_serve_all_files(office: Office) -> None:
    await office.add(40)
    begin = millis(office.clock())

    await office.round()

    assert await office.states() == {"as_deployed": 40}
    assert (office.server.sessions, office.server.listings) == (1, 1)
    assert len(office.server.read) == 40
    assert 39_000 <= millis(office.clock()) - begin <= 41_000  # at least one a second


async def test_files_that_are_listed_as_before_are_read_in_turn(office: Office) -> None:
    await office.add(64)
    await office.round()
    read: Counter[str] = Counter()
    for _ in range(ROUNDS):
        await office.round()
        assert len(office.server.read) < 24
        read.update(office.server.read)
        assert office.kept == []
    assert set(read) == set(office.server.folder)


@pytest.mark.parametrize("lists", [True, False])
async def test_change_of_size_is_found_at_once_and_any_other_in_turn(
    office: Office, lists: bool
) -> None:
    office.server.lists = lists
    await office.add(20)
    await office.round()
    office.server.folder[named(1)] += b" "
    office.server.folder[named(2)] = office.server.folder[named(2)].replace(b"d", b"D")

    await office.round()
    assert not lists or await office.state(1) == "changed"
    for _ in range(ROUNDS - 1):
        await office.round()

    assert await office.states() == {"as_deployed": 18, "changed": 2}
    assert (await office.state(1), await office.state(2)) == ("changed", "changed")
    office.server.folder[named(1)] = office.server.folder[named(1)].rstrip()
    await office.round()
    assert await office.state(1) == "as_deployed"


async def test_time_of_the_server_is_only_compared_with_itself(office: Office) -> None:
    await office.add(3)
    for stamp in ("modify=19700101000000;", "modify=99991231235959;", "Feb 30 25:61", ""):
        office.server.stamps = dict.fromkeys(office.server.folder, stamp)
        await office.round()
        assert await office.states() == {"as_deployed": 3}


async def test_missing_file_differs_from_one_that_may_not_be_read(office: Office) -> None:
    await office.add(4)
    await office.round()
    office.server.folder.pop(named(1))
    office.server.unreadable = {named(2)}
    office.server.stamps[named(2)] = "-rw-------"
    office.server.hidden = {named(3)}

    await office.round()

    states = [await office.state(number) for number in (1, 2, 3, 4)]
    assert states == ["missing", "unknown", "as_deployed", "as_deployed"]
    office.server.lists = False
    office.server.folder[named(4)] += b"x"
    for _ in range(ROUNDS):
        await office.round()
    office.server.unreadable |= {named(4)}
    await office.round()
    # It is not known why they are refused: they are as they were when that was known.
    assert (await office.state(1), await office.state(4)) == ("missing", "changed")


async def test_switched_phone_is_compared_with_its_new_deployment(office: Office) -> None:
    await office.add(2)
    await office.round()
    office.server.folder[named(1)] += b"x"
    await office.round()
    assert await office.state(1) == "changed"

    await office.deploy(1, 2)
    await office.round()

    assert await office.state(1) == "as_deployed"


async def test_phone_that_is_being_switched_keeps_its_state(office: Office) -> None:
    await office.add(2)
    await office.round()
    async with office.database.write() as tx:
        await tx.leases.take(a_mac(1), "a switch", 60)
    office.server.folder[named(1)] += b"x"

    await office.round(60)

    assert office.kept == []
    office.clock.advance(61)
    await office.round()
    assert office.kept == [(a_mac(1), "changed")]


async def test_phone_switched_while_its_file_is_read_keeps_its_state(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    await office.add(1)
    await office.round()
    office.server.stamps[named(1)] = "new"
    read = _Files.read

    async def then_switched(files: _Files, name: str, limit: int) -> bytes | None:
        await office.deploy(1, 2)
        return await read(files, name, limit)

    monkeypatch.setattr(_Files, "read", then_switched)
    await office.round()

    assert office.kept == []


async def test_phone_without_a_certain_deployment_is_unknown(office: Office) -> None:
    await office.add(2)
    await office.round()
    async with office.database.write() as tx:
        interrupted = a_deployment(
            77, a_mac(1), number=2, outcome=Outcome.INTERRUPTED, created_at=moment(2)
        )
        await tx.deployments.add(interrupted)
        await tx.phones.add(a_phone(3, phone_ip="10.0.0.3"))

    await office.round()

    assert office.kept == [(a_mac(1), "unknown")]
    assert await office.states() == {"unknown": 2, "as_deployed": 1}


@pytest.mark.parametrize("error", [Refused("No."), TimedOut("Late."), OSError(5, "x")])
async def test_server_that_is_away_is_one_line_of_log_and_what_was_known_stays(
    office: Office, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    await office.add(30)
    office.server.folder[named(1)] += b"x"
    del office.server.folder[named(2)]
    await office.round()
    found = {"as_deployed": 28, "changed": 1, "missing": 1}
    assert await office.states() == found
    caplog.set_level(logging.WARNING)
    await office.deploy(1, 2)

    for process in (office.compare, office.process()):
        office.compare = process
        office.server.fail_next(error)
        await office.round()
        assert len(caplog.records) == 1
        caplog.clear()

    # What was known is about another deployment than the one that is in place now.
    assert await office.states() == {"as_deployed": 28, "missing": 1, "unknown": 1}
    await office.round()
    assert await office.states() == {"as_deployed": 29, "missing": 1}
    assert office.kept == [(a_mac(1), "as_deployed")]


async def test_file_that_ends_the_session_does_not_stop_the_others(office: Office) -> None:
    await office.add(10)
    office.server.broken = {named(number) for number in (3, 4)}

    await office.round()
    assert await office.states() == {"as_deployed": 8, "unknown": 2}
    assert office.server.sessions == 3

    office.server.broken |= {named(number) for number in (5, 6, 7)}
    office.server.stamps = dict.fromkeys(office.server.folder, "new")
    for _ in range(3):
        await office.round()
    assert [await office.state(number) for number in (1, 2, 8, 9, 10)] == ["as_deployed"] * 5


async def test_round_that_takes_too_long_continues_in_the_next_one(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BYTES_A_SECOND", 1)
    await office.add(12)
    seen: set[str] = set()
    rounds = 0
    while len(seen) < 12:
        await office.round(60)
        assert 1 <= len(office.server.read) <= 3
        assert not seen & set(office.server.read)
        seen |= set(office.server.read)
        rounds += 1
    assert rounds <= 6


async def test_bytes_of_a_minute_are_bounded(office: Office) -> None:
    await office.add(3)
    begin = millis(office.clock())
    for number in (1, 2, 3):
        size = 2 * module.BYTES_A_SECOND
        office.server.folder[named(number)] = bytes(size)
        async with office.database.write() as tx:
            deployed = a_deployment(
                500 + number, a_mac(number), number=9, size=size, sha256="0" * 64,
                filename=named(number), place="x", outcome=Outcome.DEPLOYED,
                created_at=moment(9),
            )  # fmt: skip
            await tx.deployments.add(deployed)

    await office.round()

    assert await office.states() == {"changed": 3}
    assert millis(office.clock()) - begin >= 6000


async def test_process_that_lost_the_lease_stops(office: Office) -> None:
    await office.add(5)
    done = await office.compare.round(60, office.keep, lambda: len(office.server.read) < 2)
    assert done.read == 2


async def test_each_phone_may_be_a_server_and_those_that_are_off_are_skipped(
    office: Office,
) -> None:
    await office.add(9)
    phones = MemoryUploader(PhoneNetworks.parse(PRIVATE_RANGES))
    for number in range(1, 10):
        name = named(number)
        phones.files[f"10.0.0.{number}:21"] = {name: office.server.folder[name]}
    phones.files["10.0.0.2:21"].clear()
    async with office.database.write() as tx:
        await tx.fleet.put(
            SeenPhone(a_mac(3), FleetState.UNREACHABLE, moment(1), answers=False),
            is_change=False,
        )
    office.compare = office.process(phones)

    await office.round()

    assert await office.states() == {"as_deployed": 7, "missing": 1, "unknown": 1}


async def test_uploader_without_files_leaves_them_unknown(office: Office) -> None:
    class Elsewhere(ConfigUploader):
        async def upload(self, upload: Upload) -> Uploaded:
            raise NotImplementedError

    await office.add(2)
    office.compare = office.process(Elsewhere())

    await office.round()

    assert office.kept == []
    assert await office.states() == {"unknown": 2}


# The rule


FILE = WatchedFile(a_mac(1), "10.0.0.1", "unknown", None, identifier(1), "f")
STAMPS = st.none() | st.integers(0, 3)


@given(STAMPS, STAMPS, st.integers(0, 99), st.integers(0, 30), st.integers(1, 2))
def test_file_is_read_unless_all_is_as_it_was_and_at_least_in_its_turn(
    stamp: int | None, before: int | None, number: int, age: int, deployment: int
) -> None:
    same = Same(identifier(deployment), before, number - age)
    is_as_before = deployment == 1 and stamp == before

    assert needs_reading(FILE, stamp, None, number)
    if not is_as_before or age >= ROUNDS:
        assert needs_reading(FILE, stamp, same, number)
    assert any(needs_reading(FILE, stamp, same, number + more) for more in range(ROUNDS))
    if is_as_before and age == 0:
        turns = sum(needs_reading(FILE, stamp, same, number + more) for more in range(ROUNDS))
        assert turns == 1


@given(st.binary(max_size=9), st.binary(max_size=9), st.sampled_from([None, True, False]))
def test_only_content_decides_that_a_file_was_changed(
    deployed: bytes, content: bytes, is_listed: bool | None
) -> None:
    digest = hashlib.sha256(deployed).hexdigest()

    state = ServerFile(content, is_listed).compared_with(digest)
    assert state == ("as_deployed" if content == deployed else "changed")
    refused = ServerFile(None, is_listed).compared_with(digest)
    assert refused == ("missing" if is_listed is False else "unknown")
