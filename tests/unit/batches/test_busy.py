"""Busy phones, which are done later."""

import pytest

from phoneprov_core.batches.model import Counts, PhoneState
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import TimedOut
from phoneprov_core.profiles.model import Profile
from support.floor import begin, ended, phones_of
from support.office import Office
from support.records import a_mac
from support.switching import Journal, deployments


async def test_phone_in_a_call_is_processed_last(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    office.calls.talking.add(a_mac(1))

    async def end_calls() -> None:
        if len(office.uploader.uploads) == 10:
            office.calls.talking.clear()

    journal.at("upload", end_calls)
    batch = await ended(office, root, await begin(office, root, profile, at_once=1))

    assert batch.phones == Counts(done=12, total=12)
    assert [record.mac for record in await deployments(office)] == [
        *(a_mac(number) for number in range(2, 13)),
        a_mac(1),
    ]
    assert (await phones_of(office, root, batch))[0].tries == 2


async def test_phone_in_a_long_call_fails(office: Office, root: Actor, profile: Profile) -> None:
    office.calls.talking.add(a_mac(1))

    batch = await ended(office, root, await begin(office, root, profile, wait_minutes=5))

    phone = (await phones_of(office, root, batch))[0]
    assert phone.state is PhoneState.FAILED
    assert phone.message == "Given up after 5 minutes. The phone is in a call."
    # Checked twice a minute, not more often.
    assert 9 <= phone.tries <= 11
    assert batch.phones == Counts(done=11, failed=1, total=12)


async def test_idle_phones_do_not_wait(office: Office, root: Actor, profile: Profile) -> None:
    office.calls.talking.add(a_mac(1))

    batch = await ended(office, root, await begin(office, root, None, wait_minutes=0))

    phone = (await phones_of(office, root, batch))[0]
    assert (phone.state, phone.tries) == (PhoneState.FAILED, 1)


async def test_waiting_phone_has_the_reason(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    office.calls.talking.add(a_mac(1))
    gate = journal.gate("upload")
    batch = await begin(office, root, profile, at_once=1)
    await gate.reached.wait()

    phone = (await phones_of(office, root, batch))[0]

    assert (phone.state, phone.message) == (PhoneState.WAITING, "The phone is in a call.")
    await office.batches.cancel(root, batch.uuid)
    gate.open.set()
    batch = await ended(office, root, batch)
    assert (await phones_of(office, root, batch))[0].state is PhoneState.LEFT_OUT


async def test_phone_with_unknown_call_state_is_processed(
    office: Office, root: Actor, profile: Profile
) -> None:
    office.calls.failure = TimedOut("no answer")

    batch = await ended(office, root, await begin(office, root, profile))

    assert batch.phones == Counts(done=12, total=12)
    assert len(office.calls.asked) == 12


@pytest.mark.parametrize("switches", [True, False], ids=["switch", "restart"])
async def test_phone_leased_by_another_worker_is_deferred(
    office: Office, root: Actor, profile: Profile, switches: bool
) -> None:
    async with office.database.write() as tx:
        assert await tx.leases.take(a_mac(1), "another", 45) is not None

    batch = await ended(office, root, await begin(office, root, profile if switches else None))

    assert batch.phones == Counts(done=12, total=12)
    assert (await phones_of(office, root, batch))[0].tries >= 2
