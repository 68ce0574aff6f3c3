"""Running a batch: every phone once, at its pace, until it is stopped or cancelled."""

import asyncio
from datetime import timedelta

import pytest

from phoneprov_adapters.memory.system import FixedClock
from phoneprov_core.audit.model import WantedEntries
from phoneprov_core.batches.model import BatchState, Counts, PhoneState
from phoneprov_core.batches.rules import Pace
from phoneprov_core.deployments.model import Outcome
from phoneprov_core.devices.errors import OUTCOME_UNKNOWN, REPLY_LOST
from phoneprov_core.devices.restart import SWITCHED_OFF, RestartBy
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.phones.model import CreatePhone
from phoneprov_core.profiles.model import CreateProfile, Profile, ProfilePatch
from support.floor import begin, create_floor, ended, phones_of
from support.office import Office, Settings
from support.records import a_mac
from support.switching import Journal, deployments, is_free, switch

NO = Refused("The FTP server refused.")


async def test_every_phone_is_switched_once(office: Office, root: Actor, profile: Profile) -> None:
    batch = await ended(office, root, await begin(office, root, profile))

    assert (batch.state, batch.message) == (BatchState.DONE, None)
    assert batch.phones == Counts(done=12, total=12)
    assert batch.ended_at is not None
    records = {record.mac: record for record in await deployments(office)}
    assert len(records) == len(await deployments(office)) == 12
    for phone in await phones_of(office, root, batch):
        record = records[phone.mac]
        assert (phone.state, phone.tries, phone.message) == (PhoneState.DONE, 1, None)
        assert (phone.deployment_uuid, record.outcome) == (record.uuid, Outcome.DEPLOYED)
        assert record.user_uuid == root.user_uuid
        assert await is_free(office, phone.mac)
    assert office.batch_journal == [batch]


async def test_batch_of_restarts_uploads_nothing(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    batch = await ended(office, root, await begin(office, root, None))

    assert batch.phones == Counts(done=12, total=12)
    assert journal.steps == ["restart"] * 12
    assert await deployments(office) == []
    assert await is_free(office, a_mac(1))


async def test_failed_restart_is_recorded(office: Office, root: Actor, profile: Profile) -> None:
    office.manager.fail(NO)

    batch = await ended(office, root, await begin(office, root, None, at_once=1))

    assert batch.phones == Counts(done=11, failed=1, total=12)
    phone = (await phones_of(office, root, batch))[0]
    assert (phone.state, phone.message, phone.deployment_uuid) == (
        PhoneState.FAILED,
        NO.message,
        None,
    )


async def test_batch_without_profile_deploys_the_current_profile_of_each_phone(
    office: Office, root: Actor, ada: Actor, profile: Profile
) -> None:
    other = await office.profiles.create(
        root, CreateProfile(user_uuid=root.user_uuid, name="Other", cnf_xml="<other/>")
    )
    await switch(office, ada, profile, a_mac(1))
    await switch(office, root, other, a_mac(2))
    await office.profiles.update(ada, profile.uuid, ProfilePatch(cnf_xml="<new/>"))
    office.uploader.uploads.clear()

    batch = await begin(office, root, None, action="switch", macs=(a_mac(1), a_mac(2), a_mac(3)))
    batch = await ended(office, root, batch)

    assert (batch.profile_uuid, batch.revision) == (None, None)
    files = {upload.filename: upload.content for upload in office.uploader.uploads}
    assert files == {
        "SEP001BD4000001.cnf.xml": b"<new/>",
        "SEP001BD4000002.cnf.xml": b"<other/>",
    }
    unknown = (await phones_of(office, root, batch))[2]
    assert unknown.state is PhoneState.FAILED
    assert "No deployment of this phone" in str(unknown.message)


async def test_concurrency_limit_is_kept(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    at_a_time = [0, 0]

    async def upload() -> None:
        at_a_time[0] += 1
        at_a_time[1] = max(at_a_time)
        for _ in range(200):  # longer than the transactions before the next upload
            await asyncio.sleep(0)
        at_a_time[0] -= 1

    journal.at("upload", upload)
    batch = await ended(office, root, await begin(office, root, profile, at_once=3))

    assert batch.phones.done == 12
    assert at_a_time == [0, 3]


async def test_rate_limit_per_minute_is_kept(office: Office, root: Actor, profile: Profile) -> None:
    await ended(office, root, await begin(office, root, profile, per_minute=4))

    begun = sorted(record.created_at for record in await deployments(office))
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


def test_batch_without_rate_limit_starts_all_phones() -> None:
    pace = Pace(None, FixedClock())
    pace.began(50)

    assert pace.allowed(7) == 7
    assert pace.seconds(2.0) == 2.0


async def test_batch_over_the_failure_limit_is_halted(
    office: Office, root: Actor, ada: Actor, profile: Profile
) -> None:
    await add_phones_to_floor(office, root)
    for _ in range(40):
        office.uploader.fail_next(NO)

    batch = await begin(office, root, profile, stop_after_failures=50, at_once=2)
    batch = await ended(office, root, batch)

    assert batch.state is BatchState.STOPPED
    # Ten outcomes are counted first; two more phones were running by then.
    assert 10 <= batch.phones.failed <= 12
    assert batch.phones.left_out == 40 - batch.phones.failed
    assert str(batch.phones.failed)[:1] in str(batch.message)
    assert "failed" in str(batch.message)
    assert batch.ended_at is not None
    entries = await office.audit.newest(root, WantedEntries(action="batch.stopped"))
    assert [one.entry.resource_id for one in entries] == [batch.uuid]


async def add_phones_to_floor(office: Office, root: Actor) -> None:
    """Add twenty-eight phones."""
    for number in range(13, 41):
        await office.phones.create(
            root, CreatePhone(mac=a_mac(number), phone_ip="10.20.30.99", location="2nd floor")
        )


@pytest.mark.parametrize("share", [None, 61])
async def test_batch_within_the_failure_limit_continues(
    office: Office, root: Actor, profile: Profile, share: int | None
) -> None:
    for _ in range(6 if share else 12):
        office.uploader.fail_next(NO)

    batch = await begin(office, root, profile, stop_after_failures=share)
    batch = await ended(office, root, batch)

    assert batch.state is BatchState.DONE
    assert batch.phones.ended == 12


async def test_phone_without_restart_is_failed(
    office: Office, root: Actor, profile: Profile
) -> None:
    office.manager.fail(NO)

    batch = await ended(office, root, await begin(office, root, profile, at_once=1))

    phone = (await phones_of(office, root, batch))[0]
    assert phone.state is PhoneState.FAILED
    assert phone.message == f"The file is in place, but the phone was not restarted: {NO.message}"
    assert phone.deployment_uuid is not None


@pytest.mark.parametrize("action", ["switch", "restart"])
async def test_phone_whose_reply_was_lost_is_unknown(
    office: Office, root: Actor, profile: Profile, action: str
) -> None:
    lost = TimedOut("It is not known.", code=REPLY_LOST)
    office.manager.fail(lost)
    switched = profile if action == "switch" else None

    batch = await begin(office, root, switched, action=action, macs=(a_mac(1), a_mac(2)), at_once=1)
    batch = await ended(office, root, batch)

    phone = (await phones_of(office, root, batch))[0]
    assert phone.state is PhoneState.UNKNOWN
    assert str(phone.message).endswith(lost.message)
    assert batch.phones == Counts(done=1, unknown=1, total=2)


async def test_phone_whose_file_is_unknown_is_unknown(
    office: Office, root: Actor, profile: Profile
) -> None:
    office.uploader.fail_next(Refused("It is not known.", code=OUTCOME_UNKNOWN))

    batch = await ended(office, root, await begin(office, root, profile, at_once=1))

    assert (await phones_of(office, root, batch))[0].state is PhoneState.UNKNOWN


async def test_phone_with_restarts_disabled_is_done() -> None:
    office = Office(Settings(restart=RestartBy.NONE))
    root = await office.add_user("root", level=0)
    profile = await create_floor(office, root, root, 2)

    batch = await ended(office, root, await begin(office, root, profile))

    assert batch.phones == Counts(done=2, total=2)
    assert (await phones_of(office, root, batch))[0].message == SWITCHED_OFF


async def test_cancelled_batch_starts_no_further_phone(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    gate = journal.gate("upload")
    batch = await begin(office, root, profile, at_once=1)
    await gate.reached.wait()

    cancelled = await office.batches.cancel(root, batch.uuid)
    assert (cancelled.state, cancelled.ended_at) == (BatchState.CANCELLED, None)
    assert cancelled.phones == Counts(running=1, left_out=11, total=12)
    gate.open.set()

    batch = await ended(office, root, batch)
    assert batch.phones == Counts(done=1, left_out=11, total=12)
    assert (batch.state, batch.ended_at is None) == (BatchState.CANCELLED, False)
    assert len(office.uploader.uploads) == 1
    assert await office.batches.cancel(root, batch.uuid) == batch


async def test_cancel_keeps_finished_phones(office: Office, root: Actor, profile: Profile) -> None:
    batch = await ended(office, root, await begin(office, root, profile))

    assert (await office.batches.cancel(root, batch.uuid)).state is BatchState.DONE


async def test_profile_deleted_during_a_batch_fails_the_rest(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    gate = journal.gate("upload")
    batch = await begin(office, root, profile, at_once=1, stop_after_failures=None)
    await gate.reached.wait()
    await office.profiles.delete(root, profile.uuid)
    gate.open.set()

    batch = await ended(office, root, batch)

    assert batch.phones == Counts(done=1, failed=11, total=12)
    assert (await phones_of(office, root, batch))[1].message == "The profile was deleted."


async def test_phone_deleted_during_a_batch_fails(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    gate = journal.gate("upload")
    batch = await begin(office, root, profile, at_once=1)
    await gate.reached.wait()
    await office.phones.delete(root, a_mac(2))
    gate.open.set()

    batch = await ended(office, root, batch)

    assert batch.phones == Counts(done=11, failed=1, total=12)
    assert "no longer in the inventory" in str((await phones_of(office, root, batch))[1].message)


async def test_batches_run_concurrently(office: Office, root: Actor, profile: Profile) -> None:
    half = [tuple(a_mac(n) for n in range(start, 13, 2)) for start in (1, 2)]
    batches = [await begin(office, root, profile, macs=macs, per_minute=10) for macs in half]
    await office.background.done()

    for batch in batches:
        assert (await office.batches.get(root, batch.uuid)).phones == Counts(done=6, total=6)
    first = await phones_of(office, root, batches[0])
    second = await phones_of(office, root, batches[1])
    assert str(second[0].started_at) < str(first[-1].started_at)


async def test_phone_created_again_since_the_batch_began_is_failed(
    office: Office, root: Actor, profile: Profile
) -> None:
    mac, batch = a_mac(1), await begin(office, root, profile)
    await office.phones.delete(root, mac)
    office.clock.advance(1)
    await office.phones.create(root, CreatePhone(mac=mac, phone_ip="10.20.9.9", model="7945"))

    batch = await ended(office, root, batch)

    assert batch.phones == Counts(done=11, failed=1, total=12)
    phone = next(one for one in await phones_of(office, root, batch) if one.mac == mac)
    assert phone.message == "The phone is no longer in the inventory."
    assert mac not in {record.mac for record in await deployments(office)}
