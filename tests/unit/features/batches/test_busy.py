"""Busy phones, which are done later."""

import itertools
from datetime import datetime

import pytest

from phoneprov_core.features.batches.model import Counts, PhoneState
from phoneprov_core.kernel.errors import TimedOut
from support.floor import Floor
from support.records import a_mac


async def test_phone_in_a_call_is_processed_last(floor: Floor) -> None:
    floor.calls.talking.add(a_mac(1))

    async def end_calls() -> None:
        if len(floor.uploader.uploads) == 10:
            floor.calls.talking.clear()

    floor.at("upload", end_calls)
    batch = await floor.run(at_once=1)

    assert batch.phones == Counts(done=12, total=12)
    assert [record.mac for record in await floor.records()] == [
        *(a_mac(number) for number in range(2, 13)),
        a_mac(1),
    ]
    assert (await floor.phones_of(batch))[0].tries == 2


async def test_phones_in_a_call_and_unchanged_ones_do_not_count_for_the_rate(
    floor: Floor,
) -> None:
    for number in (1, 2, 3):
        await floor.switched(floor.root, mac=a_mac(number))
    floor.calls.talking |= {a_mac(number) for number in (4, 5, 6)}

    batch = await floor.run(per_minute=4, only_changed=True, wait_minutes=1)

    assert batch.phones == Counts(done=9, failed=3, total=12)
    begun = [datetime.fromisoformat(one.created_at) for one in (await floor.records())[3:]]
    assert len(begun) == 6
    for earlier, later in itertools.pairwise(begun):
        assert 15 <= (later - earlier).total_seconds() < 15.5


async def test_phone_in_a_long_call_fails(floor: Floor) -> None:
    floor.calls.talking.add(a_mac(1))

    batch = await floor.run(wait_minutes=5)

    phone = (await floor.phones_of(batch))[0]
    assert phone.state is PhoneState.FAILED
    assert phone.message == "Given up after 5 minutes. The phone is in a call."
    # Checked twice a minute, not more often.
    assert 9 <= phone.tries <= 11
    assert batch.phones == Counts(done=11, failed=1, total=12)


async def test_idle_phones_do_not_wait(floor: Floor) -> None:
    floor.calls.talking.add(a_mac(1))

    batch = await floor.run_without(wait_minutes=0)

    phone = (await floor.phones_of(batch))[0]
    assert (phone.state, phone.tries) == (PhoneState.FAILED, 1)


async def test_waiting_phone_has_the_reason(floor: Floor) -> None:
    floor.calls.talking.add(a_mac(1))
    gate = floor.gate("upload")
    batch = await floor.begin(at_once=1)
    await gate.reached.wait()

    phone = (await floor.phones_of(batch))[0]

    assert (phone.state, phone.message) == (PhoneState.WAITING, "The phone is in a call.")
    await floor.batches.cancel(floor.root, batch.uuid)
    gate.open.set()
    batch = await floor.ended(batch)
    assert (await floor.phones_of(batch))[0].state is PhoneState.LEFT_OUT


async def test_phone_with_unknown_call_state_is_processed(floor: Floor) -> None:
    floor.calls.failure = TimedOut("no answer")

    batch = await floor.run()

    assert batch.phones == Counts(done=12, total=12)
    assert len(floor.calls.asked) == 12


@pytest.mark.parametrize("switches", [True, False], ids=["switch", "restart"])
async def test_phone_leased_by_another_worker_is_deferred(floor: Floor, switches: bool) -> None:
    async with floor.database.write() as tx:
        assert await tx.leases.take(a_mac(1), "another", 45) is not None

    batch = await (floor.run() if switches else floor.run_without())

    assert batch.phones == Counts(done=12, total=12)
    assert (await floor.phones_of(batch))[0].tries >= 2
