"""Running a batch: every phone once, at its pace, until it is stopped or cancelled."""

import asyncio
import itertools
from collections import deque
from datetime import datetime, timedelta

import pytest

from phoneprov_adapters.memory.system import FixedClock
from phoneprov_core.features.batches.model import BatchState, Counts, PhoneState
from phoneprov_core.features.batches.rules import Pace
from phoneprov_core.inventory.phones.model import CreatePhone
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.people.audit import WantedEntries
from phoneprov_core.switching.deployments.model import Outcome
from phoneprov_core.switching.devices.commands import RestartBy
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN, REPLY_LOST, SWITCHED_OFF
from support.floor import Floor
from support.office import Settings
from support.records import a_mac

NO = Refused("The FTP server refused.")
LOST = TimedOut("It is not known.", code=REPLY_LOST)
PLACED = "The file is in place"


async def test_every_phone_is_switched_once(floor: Floor) -> None:
    batch = await floor.run()

    assert (batch.state, batch.message) == (BatchState.DONE, None)
    assert batch.phones == Counts(done=12, total=12)
    assert batch.ended_at is not None
    records = {record.mac: record for record in await floor.records()}
    assert len(records) == len(await floor.records()) == 12
    for phone in await floor.phones_of(batch):
        record = records[phone.mac]
        assert (phone.state, phone.tries, phone.message) == (PhoneState.DONE, 1, None)
        assert (phone.deployment_uuid, record.outcome) == (record.uuid, Outcome.DEPLOYED)
        assert record.user_uuid == floor.root.user_uuid
        assert await floor.is_free(phone.mac)
    assert floor.batch_journal == [batch]
    assert (await floor.batches.cancel(floor.root, batch.uuid)).state is BatchState.DONE


async def test_batch_of_restarts_uploads_nothing(floor: Floor) -> None:
    batch = await floor.run_without()

    assert batch.phones == Counts(done=12, total=12)
    assert floor.steps == ["restart"] * 12
    assert await floor.records() == []
    assert await floor.is_free(a_mac(1))


async def test_batch_without_profile_deploys_the_current_profile_of_each_phone(
    floor: Floor,
) -> None:
    other = await floor.profile_of(floor.root, "<other/>")
    await floor.switched(mac=a_mac(1))
    await floor.switched(floor.root, other, a_mac(2))
    await floor.save("<new/>")
    floor.uploader.uploads.clear()

    batch = await floor.run_without(action="switch", macs=(a_mac(1), a_mac(2), a_mac(3)))

    assert (batch.profile_uuid, batch.revision) == (None, None)
    files = {upload.filename: upload.content for upload in floor.uploader.uploads}
    assert files == {
        "SEP001BD4000001.cnf.xml": b"<new/>",
        "SEP001BD4000002.cnf.xml": b"<other/>",
    }
    unknown = (await floor.phones_of(batch))[2]
    assert unknown.state is PhoneState.FAILED
    assert "No deployment of this phone" in str(unknown.message)


async def test_concurrency_limit_is_kept(floor: Floor) -> None:
    at_a_time = [0, 0]

    async def upload() -> None:
        at_a_time[0] += 1
        at_a_time[1] = max(at_a_time)
        for _ in range(200):  # longer than the transactions before the next upload
            await asyncio.sleep(0)
        at_a_time[0] -= 1

    floor.at("upload", upload)
    batch = await floor.run(at_once=3)

    assert batch.phones.done == 12
    assert at_a_time == [0, 3]


async def test_rate_limit_per_minute_is_kept(floor: Floor) -> None:
    await floor.run(per_minute=4)

    begun = sorted(record.created_at for record in await floor.records())
    assert len(begun) == 12
    # Four a minute is one each quarter.
    assert begun[-1] >= begun[0][:14] + "1"
    minutes = [int(moment[14:16]) * 60 + float(moment[17:23]) for moment in begun]
    assert all(later - earlier >= 60 for earlier, later in zip(minutes, minutes[4:], strict=False))


@pytest.mark.parametrize("per_minute", [1, 7, 60, 600, 6000])
@pytest.mark.parametrize("step", [0.0001, 0.02, 0.3, 2.0])
def test_rate_limit_is_kept_for_any_polling_interval(per_minute: int, step: float) -> None:
    clock = FixedClock()
    pace = Pace(per_minute, clock)
    start = clock.now
    begun: list[float] = []
    while len(begun) < 3 * per_minute and len(begun) < 700:
        count = pace.allowed(100)
        pace.began(count)
        begun += [(clock.now - start) / timedelta(seconds=1)] * count
        clock.advance(max(step, pace.seconds(2.0)))

    window = min(60.0, begun[-1] - begun[0])
    for first in begun:
        within = [moment for moment in begun if first <= moment < first + window]
        # A late check makes up for a tenth of a second.
        assert len(within) <= per_minute * (window + 0.1) / 60 + 1
    if step < 0.1:
        assert len(begun) >= 0.9 * per_minute * begun[-1] / 60


@pytest.mark.parametrize("per_minute", [1, 7, 60, 600])
@pytest.mark.parametrize("late", [0.0, 0.01, 5.0])
def test_rate_limit_counts_phones_that_were_started(per_minute: int, late: float) -> None:
    """Every second one turns out to be busy, after ``late`` seconds."""
    clock = FixedClock()
    pace = Pace(per_minute, clock)
    start, busy = clock.now, deque[tuple[datetime, datetime]]()
    begun: list[float] = []
    is_busy = itertools.cycle((False, True))
    while clock.now < start + timedelta(minutes=4):
        while busy and busy[0][0] <= clock.now:
            pace.spared(busy.popleft()[1])
        if not pace.allowed(1):
            clock.advance(0.01)
            continue
        at = pace.began(1)
        if next(is_busy):
            busy.append((clock.now + timedelta(seconds=late), at))
        else:
            begun.append((clock.now - start) / timedelta(seconds=1))

    for first in begun:
        assert len([moment for moment in begun if first <= moment < first + 59.99]) <= per_minute
    assert len(begun) >= 0.9 * per_minute * 4 / (1 + (late > 0.01))


@pytest.mark.parametrize(("since", "wait"), [(5, 55), (59, 1), (-3600, 60)])
def test_rate_limit_holds_after_another_worker(since: float, wait: float) -> None:
    clock = FixedClock()
    last = timestamp(clock.now - timedelta(seconds=since))
    assert Pace(1, clock, last).seconds(90.0) == wait


def test_batch_whose_pace_allows_a_phone_waits_for_something_else() -> None:
    """All places are taken, or the last phone is in a call: it does not look without a pause."""
    clock = FixedClock()
    pace = Pace(6, clock)
    pace.began(pace.allowed(1))
    clock.advance(10)

    assert pace.allowed(0) == 0
    assert pace.seconds(2.0) == 2.0


def test_batch_without_rate_limit_starts_all_phones() -> None:
    pace = Pace(None, FixedClock())
    pace.began(50)

    assert pace.allowed(7) == 7
    assert pace.seconds(2.0) == 2.0


async def test_batch_over_the_failure_limit_is_halted(floor: Floor) -> None:
    await floor.add_phones(range(13, 41))
    for _ in range(40):
        floor.uploader.fail_next(NO)

    batch = await floor.run(stop_after_failures=50, at_once=2)

    assert batch.state is BatchState.STOPPED
    # Ten outcomes are counted first; two more phones were running by then.
    assert 10 <= batch.phones.failed <= 12
    assert batch.phones.left_out == 40 - batch.phones.failed
    assert str(batch.phones.failed)[:1] in str(batch.message)
    assert "failed" in str(batch.message)
    assert batch.ended_at is not None
    entries = await floor.audit.newest(floor.root, WantedEntries(action="batch.stopped"))
    assert [one.entry.resource_id for one in entries] == [batch.uuid]


@pytest.mark.parametrize("share", [None, 61])
async def test_batch_within_the_failure_limit_continues(floor: Floor, share: int | None) -> None:
    for _ in range(6 if share else 12):
        floor.uploader.fail_next(NO)

    batch = await floor.run(stop_after_failures=share)

    assert batch.state is BatchState.DONE
    assert batch.phones.ended == 12


@pytest.mark.parametrize(
    ("switches", "error", "state", "message"),
    [
        (False, NO, PhoneState.FAILED, NO.message),
        (False, LOST, PhoneState.UNKNOWN, LOST.message),
        (True, NO, PhoneState.FAILED, f"{PLACED}, but the phone was not restarted: {NO.message}"),
        (True, LOST, PhoneState.UNKNOWN, LOST.message),
    ],
)
async def test_phone_is_failed_or_unknown_by_the_answer_to_its_restart(
    floor: Floor, switches: bool, error: PhoneprovError, state: PhoneState, message: str
) -> None:
    floor.manager.fail(error)

    batch = await (floor.run if switches else floor.run_without)(at_once=1)

    phone = (await floor.phones_of(batch))[0]
    assert (phone.state, str(phone.message)[-len(message) :]) == (state, message)
    assert (phone.deployment_uuid is not None) is switches
    assert batch.phones == Counts(
        done=11, failed=int(error is NO), unknown=int(error is LOST), total=12
    )


async def test_phone_whose_file_is_unknown_is_unknown(floor: Floor) -> None:
    floor.uploader.fail_next(Refused("It is not known.", code=OUTCOME_UNKNOWN))

    batch = await floor.run(at_once=1)

    assert (await floor.phones_of(batch))[0].state is PhoneState.UNKNOWN


async def test_phone_with_restarts_disabled_is_done() -> None:
    floor = await Floor.of(Settings(restart=RestartBy.NONE), phones=2)

    batch = await floor.run()

    assert batch.phones == Counts(done=2, total=2)
    assert (await floor.phones_of(batch))[0].message == SWITCHED_OFF


async def test_cancelled_batch_starts_no_further_phone(floor: Floor) -> None:
    gate = floor.gate("upload")
    batch = await floor.begin(at_once=1)
    await gate.reached.wait()

    cancelled = await floor.batches.cancel(floor.root, batch.uuid)
    assert (cancelled.state, cancelled.ended_at) == (BatchState.CANCELLED, None)
    assert cancelled.phones == Counts(running=1, left_out=11, total=12)
    gate.open.set()

    batch = await floor.ended(batch)
    assert batch.phones == Counts(done=1, left_out=11, total=12)
    assert (batch.state, batch.ended_at is None) == (BatchState.CANCELLED, False)
    assert len(floor.uploader.uploads) == 1
    assert await floor.batches.cancel(floor.root, batch.uuid) == batch


async def test_profile_or_phone_deleted_during_a_batch_fails_the_rest(floor: Floor) -> None:
    gate = floor.gate("upload")
    batch = await floor.begin(at_once=1, stop_after_failures=None)
    await gate.reached.wait()
    await floor.profiles.delete(floor.root, floor.profile.uuid)
    await floor.phones.delete(floor.root, a_mac(2))
    gate.open.set()

    batch = await floor.ended(batch)

    assert batch.phones == Counts(done=1, failed=11, total=12)
    phones = await floor.phones_of(batch)
    assert "no longer in the inventory" in str(phones[1].message)
    assert phones[2].message == "The profile was deleted."


async def test_batches_run_concurrently(floor: Floor) -> None:
    half = [tuple(a_mac(n) for n in range(start, 13, 2)) for start in (1, 2)]
    batches = [await floor.begin(macs=macs, per_minute=10) for macs in half]
    await floor.background.done()

    for batch in batches:
        assert (await floor.batches.get(floor.root, batch.uuid)).phones == Counts(done=6, total=6)
    first = await floor.phones_of(batches[0])
    second = await floor.phones_of(batches[1])
    assert str(second[0].started_at) < str(first[-1].started_at)


async def test_phone_created_again_since_the_batch_began_is_failed(floor: Floor) -> None:
    mac, batch = a_mac(1), await floor.begin()
    await floor.phones.delete(floor.root, mac)
    floor.clock.advance(1)
    await floor.phones.create(floor.root, CreatePhone(mac=mac, phone_ip="10.20.9.9", model="7945"))

    batch = await floor.ended(batch)

    assert batch.phones == Counts(done=11, failed=1, total=12)
    phone = next(one for one in await floor.phones_of(batch) if one.mac == mac)
    assert phone.message == "The phone is no longer in the inventory."
    assert mac not in {record.mac for record in await floor.records()}
