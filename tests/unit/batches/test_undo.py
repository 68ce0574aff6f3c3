"""Undoing a stopped batch, with crashes in it: each phone gets what was there before the batch."""

import asyncio
import dataclasses
from datetime import timedelta

import msgspec
import pytest

from phoneprov_core.batches.changes import halt
from phoneprov_core.batches.model import Batch, BatchAction, BatchPhone, BatchState, PhoneState
from phoneprov_core.batches.transitions import Claim, claimed
from phoneprov_core.deployments.model import Confirmation
from phoneprov_core.deployments.order import new_record
from phoneprov_core.deployments.use import change_use
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.system import shown
from phoneprov_core.profiles.model import CreateProfile, Profile
from support.floor import begin, create_floor, phones_of
from support.office import Office, Settings
from support.records import a_mac
from support.store_tests import existing
from support.switching import XML, switch
from unit.batches.test_rollouts import until_it_ended

NEW = "<device>new</device>"


async def prepared(office: Office, root: Actor, phones: int = 3) -> Profile:
    """Phones that have a configuration, and a profile with another one."""
    old = await create_floor(office, root, root, phones)
    for number in range(1, phones + 1):
        await switch(office, root, old, a_mac(number))
    office.uploader.uploads.clear()
    without_a_worker(office)
    return await office.profiles.create(
        root, CreateProfile(user_uuid=root.user_uuid, name="New", cnf_xml=NEW)
    )


def without_a_worker(office: Office) -> None:
    """No worker runs by itself."""
    office.batches = dataclasses.replace(office.batches, background=lambda work: work.close())  # type: ignore[attr-defined]


async def killed(office: Office, root: Actor, most: int, *, placed: bool) -> list[Claim]:
    """A process that is killed when it began these phones, with the place of the file recorded or
    not."""
    work = office.another_runner().work
    async with office.database.write() as tx:
        hold = existing(await tx.batches.take("killed", 30))
        batch = existing(await tx.batches.find(hold.batch_uuid))
        await tx.batches.keep(hold, 30)
        claims = await tx.batches.claim(hold, most, claimed(hold, shown(office.clock())))
    for claim in claims:
        async with office.database.read() as tx:
            phone = existing(await tx.phones.find(claim.mac))
        order = await office.deploy.rendered(await work._order(root, batch, claim, phone))
        async with office.database.write() as tx:
            number = existing(await tx.leases.take(claim.mac, claim.attempt_uuid, 30))
            now = shown(office.clock())
            record = new_record(order, claim.attempt_uuid, root.user_uuid, "SEP.cnf.xml", now)
            place = "served" if placed else None
            record = msgspec.structs.replace(record, number=number, place=place)
            await tx.deployments.add(record)
            if placed:
                await change_use(tx, order, record, now)
    office.clock.advance(61)
    return claims


async def stopped(office: Office, batch: Batch) -> None:
    async with office.database.write() as tx:
        assert await halt(tx.batches, batch.uuid, BatchState.STOPPED, "for a test")


async def undone(office: Office, root: Actor, batch: Batch) -> tuple[Batch, list[BatchPhone]]:
    """Work until the end; the batch that undoes this one, and its phones."""
    await office.another_runner()()
    ended = await office.batches.get(root, batch.uuid)
    undo = await office.batches.get(root, existing(ended.undone_by))
    assert (undo.action, undo.undo_of, undo.state) == (
        BatchAction.UNDO, batch.uuid, BatchState.DONE
    )  # fmt: skip
    return undo, await phones_of(office, root, undo)


def there(office: Office) -> dict[str, str]:
    """The last uploaded text of each phone."""
    return {upload.filename[-9:-8]: upload.content.decode() for upload in office.uploader.uploads}


@pytest.mark.parametrize("placed", [True, False])
@pytest.mark.parametrize("times", [1, 2])
async def test_phone_switched_after_an_interruption_gets_what_was_there(
    office: Office, root: Actor, times: int, placed: bool
) -> None:
    new = await prepared(office, root)
    batch = await begin(office, root, new, first=3, undo_on_stop=True)
    for _ in range(times):
        await killed(office, root, 2, placed=placed)
        async with office.database.write() as tx:  # the next worker is killed too
            hold = existing(await tx.batches.take("next", 30))
            await tx.deployments.interrupt_abandoned(shown(office.clock()))
            for claim in await tx.batches.abandoned(hold, 9):
                await office.another_runner().work.recover(tx, batch, claim)
        office.clock.advance(31)

    # No phone is watched, so that the batch stops after its first phones.
    _, phones = await undone(office, root, batch)

    assert [phone.state for phone in phones] == [PhoneState.DONE] * 3
    assert there(office) == dict.fromkeys("123", XML)


@pytest.mark.parametrize("placed", [True, False])
async def test_phone_interrupted_before_the_stop_gets_what_was_there(
    office: Office, root: Actor, placed: bool
) -> None:
    new = await prepared(office, root)
    batch = await begin(office, root, new, undo_on_stop=True)
    await killed(office, root, 1, placed=placed)
    await stopped(office, batch)

    undo, phones = await undone(office, root, batch)

    assert [(phone.mac, phone.state) for phone in phones] == [(a_mac(1), PhoneState.DONE)]
    assert there(office) == {"1": XML}
    assert (await office.batches.get(root, batch.uuid)).phones.left_out == 3
    assert undo.phones.total == 1


async def test_undo_that_is_killed_is_completed(office: Office, root: Actor) -> None:
    new = await prepared(office, root)
    batch = await begin(office, root, new, first=3, undo_on_stop=True)
    await stop_before_the_undo(office, batch)
    await killed(office, root, 2, placed=True)

    _, phones = await undone(office, root, batch)

    assert [(phone.state, phone.tries) for phone in phones] == [
        (PhoneState.DONE, 2), (PhoneState.DONE, 2), (PhoneState.DONE, 1)
    ]  # fmt: skip
    assert there(office) == dict.fromkeys("123", XML)


async def test_phone_changed_after_an_interrupted_undo_is_left_alone(
    office: Office, root: Actor
) -> None:
    new = await prepared(office, root)
    other = await office.profiles.create(
        root, CreateProfile(user_uuid=root.user_uuid, name="Other", cnf_xml="<other/>")
    )
    batch = await begin(office, root, new, first=3, undo_on_stop=True)
    await stop_before_the_undo(office, batch)
    await killed(office, root, 1, placed=True)
    await switch(office, root, other, a_mac(1))
    office.uploader.uploads.clear()

    _, phones = await undone(office, root, batch)

    assert [(phone.mac[-1], phone.state) for phone in phones] == [
        ("1", PhoneState.LEFT_OUT), ("2", PhoneState.DONE), ("3", PhoneState.DONE)
    ]  # fmt: skip
    assert phones[0].message == "Another deployment followed; the phone was left unchanged."
    assert there(office) == {"2": XML, "3": XML}


async def stop_before_the_undo(office: Office, batch: Batch) -> None:
    """Work on the batch until it ended; the worker does not begin the undo."""
    runner = office.another_runner()
    hold = existing(await runner._taken())
    await runner._run(hold)
    async with office.database.read() as tx:
        assert existing(await tx.batches.find(batch.uuid)).ended_at is not None


async def test_undo_waits_for_a_phone_that_restarts(office: Office, root: Actor) -> None:
    """It would answer no restart, and keep what is undone."""
    new = await prepared(office, root)
    batch = await begin(office, root, new, first=3, undo_on_stop=True)
    await stop_before_the_undo(office, batch)
    by = shown(office.clock() + timedelta(seconds=60))
    pending = {"confirmation": Confirmation.PENDING, "confirmation_by": by}
    async with office.database.write() as tx:
        record = existing(await tx.deployments.current(a_mac(1)))
        await tx.deployments.put(msgspec.structs.replace(record, **pending))
    office.uploader.uploads.clear()

    undo, phones = await undone(office, root, batch)

    assert [phone.state for phone in phones] == [PhoneState.DONE] * 3
    assert [upload.filename[-9:-8] for upload in office.uploader.uploads] == ["2", "3", "1"]
    assert existing(undo.ended_at) > by


async def test_changed_only_repeats_an_interrupted_phone(office: Office, root: Actor) -> None:
    new = await prepared(office, root)
    batch = await begin(office, root, new, only_changed=True)
    await killed(office, root, 1, placed=True)

    await office.another_runner()()

    phones = await phones_of(office, root, batch)
    assert [(phone.message, phone.tries) for phone in phones] == [(None, 2), (None, 1), (None, 1)]
    assert there(office) == dict.fromkeys("123", NEW)


async def test_batch_of_first_phones_alone_is_judged() -> None:
    office = Office(Settings(with_watch=True))
    root = await office.add_user("root", level=0)
    new = await create_floor(office, root, root, 2)
    batch = await begin(office, root, new, first=5, undo_on_stop=True)
    for _ in range(300):
        await asyncio.sleep(0)
    batch = await office.batches.get(root, batch.uuid)
    assert (batch.state, batch.phones.done) == (BatchState.RUNNING, 2)

    batch = await until_it_ended(office, root, batch, {a_mac(1)})

    assert (batch.state, batch.phones.done) == (BatchState.STOPPED, 2)
    assert batch.undone_by is not None
