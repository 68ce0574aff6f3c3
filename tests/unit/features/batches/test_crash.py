"""Resuming the batch of another process: no phone is switched twice, none is skipped."""

import asyncio
import dataclasses
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from phoneprov_adapters.runtime.tasks import OwnedTasks
from phoneprov_core.features.batches.model import Batch, BatchState, Counts, PhoneState
from phoneprov_core.features.batches.ports import SENT, Claim, Transition, claimed
from phoneprov_core.features.batches.work import PhoneWork
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import RESTART_BEGUN, Confirmation, Outcome
from phoneprov_core.switching.deployments.steps import FOUND_IN_PLACE
from support.floor import Floor
from support.phone_records import a_deployment
from support.records import a_mac


async def crashed(floor: Floor, most: int, *, switches: bool = True) -> list[Claim]:
    """A batch, and the phones that its process had claimed when it was killed."""
    floor.background = lambda work: work.close()  # type: ignore[assignment]
    floor.batches = dataclasses.replace(floor.batches, background=floor.background)
    await (floor.begin() if switches else floor.begin_without())
    async with floor.database.write() as tx:
        hold = await tx.batches.take("ended process", 30)
        assert hold is not None
        await tx.batches.keep(hold, 30)
        return await tx.batches.claim(hold, most, claimed(hold, timestamp(floor.clock())))


async def the_batch(floor: Floor) -> Batch:
    return (await floor.batches.all(floor.root)).first[0]


async def test_resume_processes_pending_phones(floor: Floor) -> None:
    await crashed(floor, 3)
    await floor.run_batches()
    assert floor.steps == []  # the batch is leased
    floor.clock.advance(31)

    await floor.run_batches()

    batch = await the_batch(floor)
    assert (batch.state, batch.phones) == (BatchState.DONE, Counts(done=12, total=12))
    assert len(await floor.records()) == 12
    assert [phone.tries for phone in await floor.phones_of(batch)] == [2] * 3 + [1] * 9


@pytest.mark.parametrize(
    ("outcome", "state", "tries"),
    [
        (Outcome.DEPLOYED, PhoneState.DONE, 1),
        (Outcome.FAILED, PhoneState.FAILED, 1),
        (Outcome.UNKNOWN, PhoneState.UNKNOWN, 1),
        (Outcome.INTERRUPTED, PhoneState.DONE, 2),
        (Outcome.RUNNING, PhoneState.DONE, 2),  # the lease has expired: it was interrupted
    ],
)
async def test_resume_uses_the_outcome_of_the_deployment(
    floor: Floor, outcome: Outcome, state: PhoneState, tries: int
) -> None:
    (claim,) = await crashed(floor, 1)
    ended_at = None if outcome is Outcome.RUNNING else timestamp(floor.clock())
    record = a_deployment(
        0,
        claim.mac,
        uuid=claim.attempt_uuid,
        outcome=outcome,
        restart="ok",
        message="why",
        ended_at=ended_at,
    )
    async with floor.database.write() as tx:
        await tx.deployments.add(record)
    floor.clock.advance(31)

    await floor.run_batches()

    phone = (await floor.phones_of(await the_batch(floor)))[0]
    assert (phone.state, phone.tries) == (state, tries)
    assert (phone.deployment_uuid == claim.attempt_uuid) == (tries == 1)
    assert len(await floor.records()) == 11 + tries


async def interrupted_at_the_restart(floor: Floor, **changes: Any) -> Claim:
    """A phone with its new file whose process was killed while it restarted the phone."""
    (claim,) = await crashed(floor, 1)
    record = a_deployment(1, claim.mac, uuid=claim.attempt_uuid, place="a server/its file")
    record = msgspec.structs.replace(record.restart_begins(None), **changes)
    async with floor.database.write() as tx:
        await tx.deployments.add(record)
    floor.clock.advance(31)
    return claim


async def test_phone_that_may_have_been_restarted_is_not_switched_again(floor: Floor) -> None:
    claim = await interrupted_at_the_restart(floor)

    await floor.run_batches()

    phone = (await floor.phones_of(await the_batch(floor)))[0]
    assert (phone.state, phone.tries) == (PhoneState.UNKNOWN, 1)
    assert phone.deployment_uuid == claim.attempt_uuid
    assert phone.message == (
        "The file is in place, and the service was interrupted while it restarted the phone. "
        "The restart may have been sent to the phone; its result is not recorded."
    )
    assert len(await floor.records()) == 12


async def test_phone_that_may_have_been_restarted_is_done_when_it_is_seen(floor: Floor) -> None:
    by = timestamp(floor.clock() + timedelta(minutes=5))
    claim = await interrupted_at_the_restart(floor, confirmation_by=by)

    working = asyncio.create_task(floor.run_batches())
    async with asyncio.timeout(60):
        while (await the_batch(floor)).phones.done < 11:  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert (await the_batch(floor)).phones == Counts(done=11, running=1, total=12)
    async with floor.database.write() as tx:
        record = await tx.deployments.find(claim.attempt_uuid)
        assert record is not None
        assert (record.outcome, record.confirmation) == (
            Outcome.INTERRUPTED, Confirmation.PENDING
        )  # fmt: skip
        seen = record.decided(Confirmation.CONFIRMED, "It registered again.", by)
        await tx.deployments.put(seen)
    await working

    phone = (await floor.phones_of(await the_batch(floor)))[0]
    assert (phone.state, phone.tries) == (PhoneState.DONE, 1)
    assert (phone.message or "").endswith("restarted the phone. It registered again.")


async def test_restart_that_may_have_been_sent_is_not_repeated(floor: Floor) -> None:
    (claim, _) = await crashed(floor, 2, switches=False)
    async with floor.database.write() as tx:
        assert await tx.batches.move(claim, SENT)
    floor.clock.advance(31)

    await floor.run_batches()

    phone = (await floor.phones_of(await the_batch(floor)))[0]
    assert (phone.state, phone.message) == (PhoneState.UNKNOWN, RESTART_BEGUN)
    assert floor.steps == ["restart"] * 11


async def test_file_that_an_interrupted_attempt_put_in_place_is_not_uploaded_again(
    floor: Floor,
) -> None:
    (claim,) = await crashed(floor, 1)
    await floor.run_batches.work(floor.root, await the_batch(floor), claim)
    async with floor.database.write() as tx:
        record = await tx.deployments.find(claim.attempt_uuid)
        assert record is not None
        cut = {"outcome": Outcome.INTERRUPTED, "restart": None, "steps": ()}
        await tx.deployments.put(msgspec.structs.replace(record, **cut))
        await tx.batches.move_all(claim.batch_uuid, Transition(PhoneState.DONE, PhoneState.RUNNING))
    floor.clock.advance(31)

    await floor.run_batches()

    again = [one for one in await floor.records() if one.mac == claim.mac][-1]
    assert (again.outcome, again.place) == (Outcome.DEPLOYED, record.place)
    assert again.steps[0].message == FOUND_IN_PLACE
    assert floor.steps.count("upload") == 12


async def test_resume_waits_for_running_deployments(floor: Floor) -> None:
    (claim,) = await crashed(floor, 1)
    running = a_deployment(1, claim.mac, uuid=claim.attempt_uuid, restart="ok")
    async with floor.database.write() as tx:
        await tx.leases.take(claim.mac, claim.attempt_uuid, 60)
        await tx.deployments.add(running)
    floor.clock.advance(31)

    working = asyncio.create_task(floor.run_batches())
    async with asyncio.timeout(60):
        while (await the_batch(floor)).phones.done < 11:  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert (await the_batch(floor)).phones == Counts(done=11, running=1, total=12)
    async with floor.database.write() as tx:
        await tx.deployments.put(msgspec.structs.replace(running, outcome=Outcome.DEPLOYED))
        await tx.leases.release(claim.mac, claim.attempt_uuid, 1)
    await working

    phone = (await floor.phones_of(await the_batch(floor)))[0]
    assert (phone.state, phone.tries) == (PhoneState.DONE, 1)


@pytest.mark.parametrize("switches", [True, False])
async def test_worker_that_stood_still_calls_no_phone_that_another_took_over(
    floor: Floor, switches: bool
) -> None:
    (claim,) = await crashed(floor, 1, switches=switches)
    batch = await the_batch(floor)
    floor.clock.advance(31)
    await floor.run_batches()
    steps, records = list(floor.steps), await floor.records()

    await floor.run_batches.work(floor.root, batch, claim)

    assert floor.steps == steps
    assert await floor.records() == records
    async with floor.database.read() as tx:
        assert await tx.leases.holder(claim.mac) is None


async def test_restart_that_stood_still_after_it_got_the_lease_calls_no_phone(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    (claim,) = await crashed(floor, 1, switches=False)
    work = floor.run_batches.work
    taken = PhoneWork._taken

    async def taken_long_ago(self: PhoneWork, claim: Claim, phone: Phone) -> Any:
        found = await taken(self, claim, phone)
        floor.clock.advance(61)
        return found

    monkeypatch.setattr(PhoneWork, "_taken", taken_long_ago)
    await work(floor.root, await the_batch(floor), claim)

    assert floor.steps == []


async def test_interrupted_restart_is_repeated(floor: Floor) -> None:
    await crashed(floor, 2, switches=False)
    floor.clock.advance(31)

    await floor.run_batches()

    assert (await the_batch(floor)).phones == Counts(done=12, total=12)
    assert floor.steps == ["restart"] * 12


@pytest.mark.parametrize("switched", [True, False])
async def test_phone_interrupted_repeatedly_fails(floor: Floor, switched: bool) -> None:
    claims = await crashed(floor, 1, switches=switched)
    for times in range(3):
        if switched:
            record = a_deployment(
                times, claims[0].mac, uuid=claims[0].attempt_uuid, outcome=Outcome.INTERRUPTED
            )
            async with floor.database.write() as tx:
                await tx.deployments.add(record)
        floor.clock.advance(31)
        claims = await run_crashing_worker(floor)

    phone = (await floor.phones_of(await the_batch(floor)))[0]
    assert phone.state is PhoneState.FAILED
    assert phone.message == "The attempt was interrupted 3 times."


async def run_crashing_worker(floor: Floor) -> list[Claim]:
    """Claims the batch, checks the remaining phones, starts again, and is killed."""
    work = floor.another_runner().work
    async with floor.database.write() as tx:
        hold = await tx.batches.take("next", 30)
        assert hold is not None
        batch = await tx.batches.find(hold.batch_uuid)
        assert batch is not None
        for claim in await tx.batches.abandoned(hold, 1):
            await work.recover(tx, batch, claim)
        claims = await tx.batches.claim(hold, 99, claimed(hold, timestamp(floor.clock())))
    return [claim for claim in claims if claim.position == 1]


async def test_phone_of_two_concurrent_workers_is_switched_once(floor: Floor) -> None:
    """One process was suspended so long that the other claimed its batch."""
    (claim,) = await crashed(floor, 1)
    batch = await the_batch(floor)
    floor.clock.advance(31)
    sleeper = floor.another_runner().work

    await asyncio.gather(floor.run_batches(), sleeper(floor.root, batch, claim))

    assert [record.mac for record in await floor.records()].count(claim.mac) == 1
    batch = await the_batch(floor)
    assert (batch.state, batch.phones) == (BatchState.DONE, Counts(done=12, total=12))
    assert len(floor.uploader.uploads) == 12


async def test_cancelled_batch_without_worker_is_closed(floor: Floor) -> None:
    await crashed(floor, 2)
    await floor.batches.cancel(floor.root, (await the_batch(floor)).uuid)
    floor.clock.advance(31)

    await floor.run_batches()

    batch = await the_batch(floor)
    assert batch.phones == Counts(left_out=12, total=12)
    assert (batch.state, batch.ended_at is None) == (BatchState.CANCELLED, False)
    assert floor.steps == []


async def test_stopped_worker_releases_the_batch(floor: Floor) -> None:
    gate = floor.gate("upload")
    await floor.begin(at_once=1)
    await gate.reached.wait()
    (task,) = floor.background._tasks

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await floor.another_runner()()

    batch = await the_batch(floor)
    assert (batch.state, batch.phones) == (BatchState.DONE, Counts(done=12, total=12))


async def test_unavailable_database_postpones_the_batch_and_repeats_no_switch(floor: Floor) -> None:
    async def away() -> None:
        if len(floor.uploader.uploads) == 5:
            await floor.database.close()

    tasks = OwnedTasks()
    work = floor.run_batches.work
    deploy = dataclasses.replace(work.deploy, run_to_end=tasks.run)
    floor.run_batches.work = dataclasses.replace(work, deploy=deploy, run_to_end=tasks.run)
    floor.at("upload", away)
    await floor.begin(at_once=2)
    with pytest.raises(Unavailable):
        await floor.background.done()
    floor.at("upload", lambda: asyncio.sleep(0))
    await floor.database.open()
    await tasks.drain(5)
    floor.clock.advance(61)

    await floor.run_batches()

    batch = await the_batch(floor)
    assert (batch.state, batch.phones) == (BatchState.DONE, Counts(done=12, total=12))
    macs = [record.mac for record in await floor.records()]
    assert len(macs) == len(set(macs)) == 12
    assert {record.outcome for record in await floor.records()} == {Outcome.DEPLOYED}
    assert [floor.steps.count(step) for step in ("upload", "restart")] == [12, 12]


async def test_processes_share_no_phone(floor: Floor) -> None:
    batch = await floor.begin(at_once=2)
    others = [floor.another_runner() for _ in range(4)]

    await asyncio.gather(*(other() for other in others))
    batch = await floor.ended(batch)

    assert batch.phones == Counts(done=12, total=12)
    assert sorted(record.mac for record in await floor.records()) == [
        a_mac(number) for number in range(1, 13)
    ]
