"""Resuming the batch of another process: no phone is switched twice, none is skipped."""

import asyncio
import dataclasses

import msgspec
import pytest

from phoneprov_core.batches.model import Batch, BatchState, Counts, PhoneState
from phoneprov_core.batches.transitions import Claim, claimed
from phoneprov_core.deployments.model import Outcome
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.system import shown
from phoneprov_core.profiles.model import Profile
from support.floor import begin, ended, phones_of
from support.office import Office
from support.phone_records import a_deployment
from support.records import a_mac
from support.switching import Journal, deployments


async def crashed(office: Office, root: Actor, profile: Profile | None, most: int) -> list[Claim]:
    """A batch, and the phones that its process had claimed when it was killed."""
    office.background = lambda work: work.close()  # type: ignore[assignment]
    office.batches = dataclasses.replace(office.batches, background=office.background)
    await begin(office, root, profile)
    async with office.database.write() as tx:
        hold = await tx.batches.take("ended process", 30)
        assert hold is not None
        await tx.batches.keep(hold, 30)
        return await tx.batches.claim(hold, most, claimed(hold, shown(office.clock())))


async def the_batch(office: Office, root: Actor) -> Batch:
    return (await office.batches.all(root)).first[0]


async def test_leased_batch_is_not_claimed(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    await crashed(office, root, profile, 3)

    await office.run_batches()

    assert journal.steps == []


async def test_resume_processes_pending_phones(
    office: Office, root: Actor, profile: Profile
) -> None:
    await crashed(office, root, profile, 3)
    office.clock.advance(31)

    await office.run_batches()

    batch = await the_batch(office, root)
    assert (batch.state, batch.phones) == (BatchState.DONE, Counts(done=12, total=12))
    assert len(await deployments(office)) == 12
    assert [phone.tries for phone in await phones_of(office, root, batch)] == [2] * 3 + [1] * 9


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
    office: Office, root: Actor, profile: Profile, outcome: Outcome, state: PhoneState, tries: int
) -> None:
    (claim,) = await crashed(office, root, profile, 1)
    ended_at = None if outcome is Outcome.RUNNING else shown(office.clock())
    record = a_deployment(
        0,
        claim.mac,
        uuid=claim.attempt_uuid,
        outcome=outcome,
        restart="ok",
        message="why",
        ended_at=ended_at,
    )
    async with office.database.write() as tx:
        await tx.deployments.add(record)
    office.clock.advance(31)

    await office.run_batches()

    phone = (await phones_of(office, root, await the_batch(office, root)))[0]
    assert (phone.state, phone.tries) == (state, tries)
    assert (phone.deployment_uuid == claim.attempt_uuid) == (tries == 1)
    assert len(await deployments(office)) == 11 + tries


async def test_resume_waits_for_running_deployments(
    office: Office, root: Actor, profile: Profile
) -> None:
    (claim,) = await crashed(office, root, profile, 1)
    running = a_deployment(1, claim.mac, uuid=claim.attempt_uuid, restart="ok")
    async with office.database.write() as tx:
        await tx.leases.take(claim.mac, claim.attempt_uuid, 60)
        await tx.deployments.add(running)
    office.clock.advance(31)

    working = asyncio.create_task(office.run_batches())
    async with asyncio.timeout(10):
        while (await the_batch(office, root)).phones.done < 11:  # noqa: ASYNC110
            await asyncio.sleep(0)
    assert (await the_batch(office, root)).phones == Counts(done=11, running=1, total=12)
    async with office.database.write() as tx:
        await tx.deployments.put(msgspec.structs.replace(running, outcome=Outcome.DEPLOYED))
        await tx.leases.release(claim.mac, claim.attempt_uuid, 1)
    await working

    phone = (await phones_of(office, root, await the_batch(office, root)))[0]
    assert (phone.state, phone.tries) == (PhoneState.DONE, 1)


async def test_interrupted_restart_is_repeated(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    await crashed(office, root, None, 2)
    office.clock.advance(31)

    await office.run_batches()

    assert (await the_batch(office, root)).phones == Counts(done=12, total=12)
    assert journal.steps == ["restart"] * 12


@pytest.mark.parametrize("switched", [True, False])
async def test_phone_interrupted_repeatedly_fails(
    office: Office, root: Actor, profile: Profile, switched: bool
) -> None:
    claims = await crashed(office, root, profile if switched else None, 1)
    for times in range(3):
        if switched:
            record = a_deployment(
                times, claims[0].mac, uuid=claims[0].attempt_uuid, outcome=Outcome.INTERRUPTED
            )
            async with office.database.write() as tx:
                await tx.deployments.add(record)
        office.clock.advance(31)
        claims = await run_crashing_worker(office)

    phone = (await phones_of(office, root, await the_batch(office, root)))[0]
    assert phone.state is PhoneState.FAILED
    assert phone.message == "The attempt was interrupted 3 times."


async def run_crashing_worker(office: Office) -> list[Claim]:
    """Claims the batch, checks the remaining phones, starts again, and is killed."""
    work = office.another_runner().work
    async with office.database.write() as tx:
        hold = await tx.batches.take("next", 30)
        assert hold is not None
        batch = await tx.batches.find(hold.batch_uuid)
        assert batch is not None
        for claim in await tx.batches.abandoned(hold, 1):
            await work.recover(tx, batch, claim)
        claims = await tx.batches.claim(hold, 99, claimed(hold, shown(office.clock())))
    return [claim for claim in claims if claim.position == 1]


async def test_phone_of_two_concurrent_workers_is_switched_once(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    """One process was suspended so long that the other claimed its batch."""
    (claim,) = await crashed(office, root, profile, 1)
    batch = await the_batch(office, root)
    office.clock.advance(31)
    sleeper = office.another_runner().work

    await asyncio.gather(office.run_batches(), sleeper(root, batch, claim))

    assert [record.mac for record in await deployments(office)].count(claim.mac) == 1
    batch = await the_batch(office, root)
    assert (batch.state, batch.phones) == (BatchState.DONE, Counts(done=12, total=12))
    assert len(office.uploader.uploads) == 12


async def test_cancelled_batch_without_worker_is_closed(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    await crashed(office, root, profile, 2)
    await office.batches.cancel(root, (await the_batch(office, root)).uuid)
    office.clock.advance(31)

    await office.run_batches()

    batch = await the_batch(office, root)
    assert batch.phones == Counts(left_out=12, total=12)
    assert (batch.state, batch.ended_at is None) == (BatchState.CANCELLED, False)
    assert journal.steps == []


async def test_stopped_worker_releases_the_batch(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    gate = journal.gate("upload")
    await begin(office, root, profile, at_once=1)
    await gate.reached.wait()
    (task,) = office.background._tasks

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await office.another_runner()()

    batch = await the_batch(office, root)
    assert (batch.state, batch.phones) == (BatchState.DONE, Counts(done=12, total=12))


async def test_unavailable_database_postpones_the_batch(
    office: Office, root: Actor, profile: Profile, journal: Journal
) -> None:
    async def away() -> None:
        if len(office.uploader.uploads) == 5:
            await office.database.close()

    journal.at("upload", away)
    await begin(office, root, profile, at_once=2)
    with pytest.raises(Unavailable):
        await office.background.done()
    journal.at("upload", lambda: asyncio.sleep(0))
    await office.database.open()
    office.clock.advance(61)

    await office.run_batches()

    batch = await the_batch(office, root)
    assert (batch.state, batch.phones) == (BatchState.DONE, Counts(done=12, total=12))
    macs = [record.mac for record in await deployments(office)]
    again = {mac for mac in macs if macs.count(mac) > 1}
    interrupted = {
        record.mac for record in await deployments(office) if record.outcome is Outcome.INTERRUPTED
    }
    assert again == interrupted
    assert 1 <= len(again) <= 2


async def test_processes_share_no_phone(office: Office, root: Actor, profile: Profile) -> None:
    batch = await begin(office, root, profile, at_once=2)
    others = [office.another_runner() for _ in range(4)]

    await asyncio.gather(*(other() for other in others))
    batch = await ended(office, root, batch)

    assert batch.phones == Counts(done=12, total=12)
    assert sorted(record.mac for record in await deployments(office)) == [
        a_mac(number) for number in range(1, 13)
    ]
