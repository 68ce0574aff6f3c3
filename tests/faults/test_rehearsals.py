"""Rehearsals compared with the batches that follow, over a fleet with planted faults in real time.

``PHONEPROV_TESTS=long`` has 20 plans of up to 2,000 phones, the ordinary run two of 40.
"""

import asyncio
import os
import random
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from phoneprov_adapters.composition import twin
from phoneprov_adapters.rehearsal import process
from phoneprov_adapters.rehearsal.process import JumpingLoop, Scene, TwinProcess, copied
from phoneprov_core.features.rehearsal.foresight import _STATEMENTS, Work
from phoneprov_core.features.rehearsal.model import Evidence, Expected, Rehearsal, TooLarge
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Forbidden, PhoneprovError, Refused, Unavailable
from phoneprov_core.kernel.values import timestamp
from support.rehearsed import (
    DISK_FULL,
    FAULTS,
    LOGIN_REFUSED,
    NO_LOGIN,
    Office,
    RealPhone,
    _batch,
    foretold_share,
    misses,
    office_in,
    real_phones,
)
from support.scale import long_only, note, random_choices, rounds

PLANS, MOST, AT_ONCE = rounds((1, 40, 10), (20, 2000, 25))
FLOOR = {"location": "floor 3"}


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with office_in(tmp_path) as made:
        await made.furnish()
        yield made


async def with_history(office: Office, phones: list[RealPhone], **batch: Any) -> float:
    """The phones, with a deployment each and a look at them; the seconds of the deployments."""
    await office.add(phones)
    fields = {"profile_uuid": office.profiles[0], "stop_after_failures": None, **batch}
    made = await office.run(**FLOOR, at_once=AT_ONCE, **fields)
    await office.look()
    return _seconds(made.created_at, made.ended_at or "")


@pytest.mark.parametrize("number", range(PLANS))
async def test_outcomes_and_duration_are_foretold(office: Office, number: int) -> None:
    chance = random_choices(f"plan {number}")
    phones = real_phones(chance, chance.randint(MOST // 2, MOST))
    share = chance.choice([0.02, 0.05, 0.2])
    # How long a call lasts is not known: calls have a test of their own.
    faults = tuple(one for one in FAULTS if one != "in_call")
    for phone in phones:
        if chance.random() < share:
            phone.fault = chance.choice(faults)
    before = await with_history(office, phones, wait_minutes=1)
    server = chance.choice([None, None, None, DISK_FULL, LOGIN_REFUSED])
    if server is not None:
        office.fleet.server_fault = Refused(server)
        macs = [phone.mac for phone in phones[:3]]
        await office.run(macs=tuple(macs), profile_uuid=office.profiles[0])
    plan: dict[str, Any] = {
        **FLOOR,
        "profile_uuid": chance.choice([office.profiles[1], office.profiles[2], None]),
        "at_once": AT_ONCE,
        "wait_minutes": 1,
        "stop_after_failures": chance.choice([None, 25]),
        "only_changed": chance.random() < 0.3,
    }
    began = time.monotonic()
    rehearsal = await office.rehearse(**plan)
    took = time.monotonic() - began
    batch = await office.run(**plan)
    real = await office.outcomes(batch)
    seconds = _seconds(batch.created_at, batch.ended_at or "")
    right = foretold_share(rehearsal, real)
    note(
        f"rehearsal {number}: {len(phones)} phones, {100 * right:.1f} % foretold, "
        f"{rehearsal.seconds:.1f} s foretold, {seconds:.1f} s real, took {took:.1f} s; "
        f"{before:.1f} s for the deployments before"
    )
    assert right >= 0.98, misses(rehearsal, real)
    assert (rehearsal.stopped_because is None) == (batch.message is None)
    # A batch that stops ends after a few phones: chance decides over one of them.
    assert abs(rehearsal.seconds - seconds) <= max(0.2 * seconds, 1.0)
    assert took < 60


def _seconds(begin: str, end: str) -> float:
    from datetime import datetime  # noqa: PLC0415

    return (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).total_seconds()


async def test_work_of_the_service_takes_its_time_where_phones_take_none(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Phones that have their configuration already: only the service works."""
    await with_history(
        office, [replaced(one, away=2.0) for one in real_phones(random.Random(1), 12)]
    )
    plan = {**FLOOR, "profile_uuid": office.profiles[0], "only_changed": True}
    monkeypatch.setattr(twin, "work_of", lambda _: Work(0.01))

    rehearsal = await asyncio.to_thread(await in_this_process(office, plan))

    assert rehearsal.outcomes.left_alone == 12
    assert 0.5 <= rehearsal.seconds < 5


async def test_statements_of_a_phone_are_as_many_as_the_work_is_reckoned_with(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_history(office, real_phones(random.Random(1), 40))
    counted: list[float] = []
    monkeypatch.setattr(JumpingLoop, "work", lambda _, seconds: counted.append(seconds))
    monkeypatch.setattr(twin, "work_of", lambda _: Work(1))

    plan = {**FLOOR, "profile_uuid": office.profiles[1], "at_once": 25}
    await asyncio.to_thread(await in_this_process(office, plan))

    assert sum(counted) / 40 == pytest.approx(_STATEMENTS, rel=0.15)


async def test_first_phones_stop_and_undo_are_rehearsed(office: Office) -> None:
    phones = real_phones(random.Random(1), 8)
    phones[0].fault = "wrong_model"
    await with_history(office, phones)
    plan = {"profile_uuid": office.profiles[1], "first": 3, "undo_on_stop": True}
    rehearsal = await office.rehearse(**FLOOR, **plan)

    assert rehearsal.stopped_because is not None
    assert phones[0].mac in rehearsal.stopped_because
    assert (rehearsal.outcomes.deployed, rehearsal.outcomes.left_alone) == (3, 5)
    assert rehearsal.undone == 3
    assert "earlier configuration back" in rehearsal.timeline[-1].message


async def test_chosen_first_phones_are_rehearsed_before_the_others(office: Office) -> None:
    phones = real_phones(random.Random(1), 8)
    phones[5].fault = "wrong_model"
    await with_history(office, phones)
    plan = {"profile_uuid": office.profiles[1], "first_macs": (phones[5].mac, phones[2].mac)}

    rehearsal = await office.rehearse(**FLOOR, **plan)

    assert [one.mac for one in rehearsal.foretold[:2]] == [phones[5].mac, phones[2].mac]
    assert phones[5].mac in str(rehearsal.stopped_because)
    assert (rehearsal.outcomes.deployed, rehearsal.outcomes.left_alone) == (2, 6)


async def test_phone_that_was_never_seen_is_unknown(office: Office) -> None:
    await with_history(office, real_phones(random.Random(1), 3))
    (new,) = real_phones(random.Random(2), 1, first=50)
    await office.add([new])
    rehearsal = await office.rehearse(**FLOOR, profile_uuid=office.profiles[1])

    by_mac = {one.mac: one for one in rehearsal.foretold}
    assert by_mac[new.mac].outcome is Expected.UNKNOWN
    assert by_mac[new.mac].evidence is Evidence.NONE
    assert "The duration is uncertain" in rehearsal.summary
    assert rehearsal.outcomes.deployed == 3


async def test_start_pace_and_calls_are_rehearsed_as_they_are(office: Office) -> None:
    phones = real_phones(random.Random(1), 6)
    await with_history(office, phones)
    phones[5].fault = "in_call"
    # Found in a call a moment ago by a batch that still waits for it.
    waiting = await office.container.use_cases().batches.start(
        office.root, _batch({"macs": (phones[5].mac,), "profile_uuid": office.profiles[0]})
    )
    async with asyncio.timeout(10):
        while True:
            async with office.container.database().read() as tx:
                (claim,) = await tx.batches.items(waiting.uuid, 0, 1)
            if claim.waiting_since is not None:
                break
            await asyncio.sleep(0.05)
    plan = {"profile_uuid": office.profiles[1], "per_minute": 6}
    start_at = "2126-03-02T09:00:00.000Z"
    with pytest.raises(PhoneprovError, match="at most 90 days"):
        await office.rehearse(**FLOOR, **plan, start_at=start_at)
    rehearsal = await office.rehearse(**FLOOR, **plan)
    await office.container.use_cases().batches.cancel(office.root, waiting.uuid)

    assert (rehearsal.outcomes.deployed, rehearsal.outcomes.postponed) == (5, 1)
    assert rehearsal.foretold[-1].evidence is Evidence.LAST_CALL
    assert 40 <= rehearsal.seconds <= 120  # five phones ten seconds apart, and a call of a minute


async def test_deployments_under_way_end_in_seconds(office: Office) -> None:
    phones = [replaced(one, upload=1.5, away=1.0) for one in real_phones(random.Random(1), 3)]
    await with_history(office, phones)
    await office.container.use_cases().batches.start(
        office.root, _batch({**FLOOR, "profile_uuid": office.profiles[0]})
    )
    await asyncio.sleep(0.5)
    plan = {**FLOOR, "profile_uuid": office.profiles[1]}

    rehearsal = await office.rehearse(**plan)

    assert rehearsal.outcomes.postponed == 3
    assert 30 <= rehearsal.seconds < 40  # a busy phone is looked at again after 30 seconds


async def test_planned_batch_is_rehearsed_at_its_time(office: Office) -> None:
    await with_history(office, real_phones(random.Random(1), 3))
    now = office.container.clock()()
    from datetime import timedelta  # noqa: PLC0415

    at = (now + timedelta(days=30)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    rehearsal = await office.rehearse(**FLOOR, profile_uuid=office.profiles[1], start_at=at)
    assert rehearsal.outcomes.deployed == 3
    assert rehearsal.timeline[0].message == f"The batch begins at {at}."
    assert rehearsal.seconds < 30


@long_only
async def test_way_back_is_rehearsed(tmp_path: Path) -> None:
    """The way back to a moment, after more deployments than a twin has otherwise."""
    phones = real_phones(random.Random(1), 3)
    phones[2].fault = "refused_login"
    async with office_in(tmp_path, PHONEPROV_CONFIRM_TIMEOUT="0") as office:
        await office.furnish()
        await with_history(office, phones)
        moment = timestamp(office.container.clock()())
        for number in range(10):
            await office.run(**FLOOR, profile_uuid=office.profiles[1 + number % 2])
        plan = {**FLOOR, "as_of": moment, "stop_after_failures": None}
        rehearsal = await office.rehearse(**plan)
        real = await office.outcomes(await office.run(**plan))

    assert {one.mac: one.outcome.value for one in rehearsal.foretold} == real
    assert [*real.values()] == ["deployed", "deployed", "failed"]


async def test_summary_names_the_time_of_the_records(office: Office) -> None:
    phones = real_phones(random.Random(1), 4)
    await with_history(office, phones)
    plan = {"profile_uuid": office.profiles[1]}
    rehearsal = await office.rehearse(**FLOOR, **plan)
    phones[0].fault = "unreachable"  # since the rehearsal
    real = await office.outcomes(await office.run(**FLOOR, **plan))

    assert real[phones[0].mac] == "failed"
    day, minute = rehearsal.as_of[:10], rehearsal.as_of[11:16]
    assert rehearsal.summary == f"As of {day} {minute} UTC: 4 of 4 phone(s) would be done."


async def test_refused_login_names_its_step_and_its_evidence(office: Office) -> None:
    phones = real_phones(random.Random(1), 3)
    phones[1].fault = "refused_login"
    await with_history(office, phones)
    rehearsal = await office.rehearse(**FLOOR, profile_uuid=office.profiles[1])
    (failure,) = rehearsal.first_failures
    assert failure.step is not None
    assert (failure.mac, failure.step.value) == (phones[1].mac, "restart")
    assert NO_LOGIN in failure.message


async def test_missing_load_stops_the_rehearsal_before_its_first_phone(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    async with office_in(tmp_path, PHONEPROV_FILES_DIR=str(tmp_path / "files")) as office:
        await office.furnish(load="SCCP45.9-9-9S")
        await office.add(real_phones(random.Random(1), 4))
        plan = {"profile_uuid": office.profiles[1]}
        rehearsal = await office.rehearse(**FLOOR, **plan)
        batch = await office.run(**FLOOR, **plan)
    assert rehearsal.stopped_because == batch.message
    assert rehearsal.outcomes.left_alone == 4


async def test_no_packet_and_no_write_leave_the_twin(
    office: Office, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    await with_history(office, real_phones(random.Random(1), 12))
    database = office.container.database()
    before = {
        one.name: one.read_bytes()
        for one in (tmp_path / "data").glob("phoneprov.db*")
        if one.is_file()
    }

    def refuse(*_arguments: Any, **_more: Any) -> Any:
        raise AssertionError("something left the twin")

    monkeypatch.setattr(database, "write", refuse)
    for name in ("connect", "connect_ex", "bind", "sendto"):
        monkeypatch.setattr("socket.socket." + name, refuse, raising=False)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    sent = dict(office.fleet.phones)
    plan = {**FLOOR, "profile_uuid": office.profiles[1]}

    rehearsal = await office.rehearse(**plan)
    assert rehearsal.outcomes.deployed == 12
    # Once more within this process, whose sockets are forbidden as well.
    assert (await asyncio.to_thread(await in_this_process(office, plan))).outcomes.deployed == 12
    assert office.fleet.phones == sent
    monkeypatch.undo()
    after = {
        one.name: one.read_bytes()
        for one in (tmp_path / "data").glob("phoneprov.db*")
        if one.is_file()
    }
    assert after.keys() == before.keys()
    assert after["phoneprov.db"] == before["phoneprov.db"]
    assert after["phoneprov.db-wal"] == before["phoneprov.db-wal"]


async def in_this_process(office: Office, plan: dict[str, Any]) -> Callable[[], Rehearsal]:
    """The rehearsal as a function for a thread."""
    stage = office.container.stage()
    macs = tuple(office.fleet.phones)
    now = office.container.clock()()
    keys = office.container.box().keys
    scene = Scene(stage.settings, now, office.root, _batch(plan), macs, keys)
    calls: dict[str, Any] = {}
    rows = [one async for one in copied(office.container.database(), scene, calls)]
    return lambda: twin.rehearse(scene, rows, lambda: calls)


def test_process_of_a_rehearsal_refuses_connections() -> None:
    from subprocess import run  # noqa: PLC0415

    script = (
        "import sys, socket; from phoneprov_adapters.composition import twin;"
        "sys.addaudithook(twin._refuse); socket.create_connection(('127.0.0.1', 9))"
    )
    done = run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "PermissionError: a rehearsal reaches nothing outside" in done.stderr


async def test_level_0_is_required_and_the_size_is_bounded(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    await office.add(real_phones(random.Random(1), 3))
    rehearse = office.container.use_cases().rehearse_batch
    new = _batch({**FLOOR, "profile_uuid": office.profiles[0]})
    with pytest.raises(Forbidden):
        await rehearse(Actor(office.owner, None), new)
    read_only = replace(office.root, read_only=True)
    assert (await rehearse(read_only, new)).outcomes.unknown == 3
    monkeypatch.setattr("phoneprov_core.features.rehearsal.foresight.MOST_PHONES", 2)
    with pytest.raises(TooLarge):
        await rehearse(office.root, new)


async def test_answer_and_settings_of_the_process_hold_no_secret(office: Office) -> None:
    await with_history(office, real_phones(random.Random(1), 3))
    stage = office.container.stage()
    assert "the login of the fleet" not in repr(vars(stage.settings))
    rehearsal = await office.rehearse(**FLOOR, profile_uuid=office.profiles[2])
    assert "password" not in repr(rehearsal)


async def test_rehearsals_wait_for_each_other_and_end_with_their_client(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_history(office, real_phones(random.Random(1), 5))
    plan = {**FLOOR, "profile_uuid": office.profiles[1]}
    one, other = await asyncio.gather(office.rehearse(**plan), office.rehearse(**plan))
    assert one.outcomes == other.outcomes

    started: list[Any] = []
    begin = asyncio.create_subprocess_exec

    async def noting(*arguments: Any, **options: Any) -> Any:
        started.append(await begin(*arguments, **options))
        return started[-1]

    monkeypatch.setattr("asyncio.create_subprocess_exec", noting)
    left = asyncio.ensure_future(office.rehearse(**plan))
    async with asyncio.timeout(20):
        while not started:  # noqa: ASYNC110 - the process is started in the library
            await asyncio.sleep(0.01)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    assert started[0].returncode is not None
    with pytest.raises(ProcessLookupError):
        os.kill(started[0].pid, 0)


async def test_rehearsal_that_takes_too_long_or_fails_is_unavailable(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await office.add(real_phones(random.Random(1), 2))
    stage = office.container.stage()
    now = office.container.clock()()
    new = _batch({**FLOOR, "profile_uuid": office.profiles[0]})
    macs = tuple(office.fleet.phones)
    slow = TwinProcess(office.container.database(), stage.settings, seconds=0.05)
    with pytest.raises(Unavailable, match="took too long"):
        await slow(office.root, new, macs, now)
    monkeypatch.setattr(process, "MODULE", "phoneprov_adapters.no_such_module")
    with pytest.raises(Unavailable, match="could not be rehearsed"):
        await stage(office.root, new, macs, now)
    assert "The process of a rehearsal ended with" in caplog.text


async def test_records_may_change_while_they_are_copied(office: Office) -> None:
    await with_history(office, real_phones(random.Random(1), 20))
    stop = threading.Event()

    async def change() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            extra = real_phones(random.Random(number), 1, first=500 + number)
            await office.add(extra)
            async with office.container.database().write() as tx:
                await tx.phones.remove(extra[0].mac)
            await asyncio.sleep(0)

    changing = asyncio.ensure_future(change())
    try:
        rehearsal = await office.rehearse(**FLOOR, profile_uuid=office.profiles[1])
    finally:
        stop.set()
        await changing
    assert rehearsal.outcomes.deployed == 20
