"""Undoing a stopped batch, with crashes in it: each phone gets what was there before the batch."""

import asyncio
import dataclasses
from contextlib import suppress
from datetime import timedelta

import msgspec
import pytest

from phoneprov_core.features.batches import work
from phoneprov_core.features.batches.model import (
    Batch,
    BatchAction,
    BatchPhone,
    BatchState,
    PhoneState,
)
from phoneprov_core.features.batches.ports import Claim, claimed
from phoneprov_core.features.batches.results import halt
from phoneprov_core.features.desks.occupancy import change_use
from phoneprov_core.inventory.phones.model import PhonePatch
from phoneprov_core.inventory.profiles.model import Profile
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Confirmation
from phoneprov_core.switching.deployments.order import new_record
from support.floor import Floor
from support.office import Settings
from support.records import a_mac
from support.store_tests import existing
from support.switching import XML

NEW = "<device>new</device>"


@pytest.fixture
async def floor() -> Floor:
    return await Floor.of(phones=3)


async def prepared(floor: Floor) -> Profile:
    """Phones that have a configuration, and a profile with another one."""
    for number in range(1, 4):
        await floor.switched(mac=a_mac(number))
    floor.uploader.uploads.clear()
    without_a_worker(floor)
    return await floor.profile_of(floor.root, NEW)


def without_a_worker(floor: Floor) -> None:
    """No worker runs by itself."""
    floor.batches = dataclasses.replace(floor.batches, background=lambda work: work.close())  # type: ignore[attr-defined]


async def killed(floor: Floor, most: int, *, placed: bool) -> list[Claim]:
    """A process that is killed when it began these phones, with the place of the file recorded or
    not."""
    work = floor.another_runner().work
    async with floor.database.write() as tx:
        hold = existing(await tx.batches.take("killed", 30))
        batch = existing(await tx.batches.find(hold.batch_uuid))
        await tx.batches.keep(hold, 30)
        claims = await tx.batches.claim(hold, most, claimed(hold, timestamp(floor.clock())))
    for claim in claims:
        async with floor.database.read() as tx:
            phone = existing(await tx.phones.find(claim.mac))
        order = await floor.deploy.texts(await work._order(floor.root, batch, claim, phone))
        async with floor.database.write() as tx:
            number = existing(await tx.leases.take(claim.mac, claim.attempt_uuid, 30))
            now = timestamp(floor.clock())
            record = new_record(order, claim.attempt_uuid, floor.root.user_uuid, "SEP.cnf.xml", now)
            place = "served" if placed else None
            record = msgspec.structs.replace(record, number=number, place=place)
            await tx.deployments.add(record)
            if placed:
                await change_use(tx, order, record, now)
    floor.clock.advance(61)
    return claims


async def stopped(floor: Floor, batch: Batch) -> None:
    async with floor.database.write() as tx:
        assert await halt(tx.batches, batch.uuid, BatchState.STOPPED, "for a test")


async def undone(floor: Floor, batch: Batch) -> tuple[Batch, list[BatchPhone]]:
    """Work until the end; the batch that undoes this one, and its phones."""
    await floor.another_runner()()
    ended = await floor.batches.get(floor.root, batch.uuid)
    undo = await floor.batches.get(floor.root, existing(ended.undone_by))
    assert (undo.action, undo.undo_of, undo.state) == (
        BatchAction.UNDO, batch.uuid, BatchState.DONE
    )  # fmt: skip
    return undo, await floor.phones_of(undo)


def there(floor: Floor) -> dict[str, str]:
    """The last uploaded text of each phone."""
    return {upload.filename[-9:-8]: upload.content.decode() for upload in floor.uploader.uploads}


@pytest.mark.parametrize("placed", [True, False])
@pytest.mark.parametrize("times", [1, 2])
async def test_phone_switched_after_an_interruption_gets_what_was_there(
    floor: Floor, times: int, placed: bool
) -> None:
    new = await prepared(floor)
    batch = await floor.begin(new, first=3, undo_on_stop=True)
    for _ in range(times):
        await killed(floor, 2, placed=placed)
        async with floor.database.write() as tx:  # the next worker is killed too
            hold = existing(await tx.batches.take("next", 30))
            await tx.deployments.interrupt_abandoned(timestamp(floor.clock()))
            for claim in await tx.batches.abandoned(hold, 9):
                await floor.another_runner().work.recover(tx, batch, claim)
        floor.clock.advance(31)

    # No phone is watched, so that the batch stops after its first phones.
    _, phones = await undone(floor, batch)

    assert [phone.state for phone in phones] == [PhoneState.DONE] * 3
    assert there(floor) == dict.fromkeys("123", XML)


@pytest.mark.parametrize("placed", [True, False])
async def test_phone_interrupted_before_the_stop_gets_what_was_there(
    floor: Floor, placed: bool
) -> None:
    new = await prepared(floor)
    batch = await floor.begin(new, undo_on_stop=True)
    await killed(floor, 1, placed=placed)
    await stopped(floor, batch)

    undo, phones = await undone(floor, batch)

    assert [(phone.mac, phone.state) for phone in phones] == [(a_mac(1), PhoneState.DONE)]
    assert there(floor) == {"1": XML}
    assert (await floor.batches.get(floor.root, batch.uuid)).phones.left_out == 3
    assert undo.phones.total == 1


async def test_undo_that_is_killed_is_completed(floor: Floor) -> None:
    new = await prepared(floor)
    batch = await floor.begin(new, first=3, undo_on_stop=True)
    await stop_before_the_undo(floor, batch)
    await killed(floor, 2, placed=True)

    _, phones = await undone(floor, batch)

    assert [(phone.state, phone.tries) for phone in phones] == [
        (PhoneState.DONE, 2), (PhoneState.DONE, 2), (PhoneState.DONE, 1)
    ]  # fmt: skip
    assert there(floor) == dict.fromkeys("123", XML)


async def test_phone_changed_after_an_interrupted_undo_is_left_alone(floor: Floor) -> None:
    new = await prepared(floor)
    other = await floor.profile_of(floor.root, "<other/>")
    batch = await floor.begin(new, first=3, undo_on_stop=True)
    await stop_before_the_undo(floor, batch)
    await killed(floor, 1, placed=True)
    await floor.switched(floor.root, other, a_mac(1))
    floor.uploader.uploads.clear()

    _, phones = await undone(floor, batch)

    assert [(phone.mac[-1], phone.state) for phone in phones] == [
        ("1", PhoneState.LEFT_OUT), ("2", PhoneState.DONE), ("3", PhoneState.DONE)
    ]  # fmt: skip
    assert phones[0].message == "Another deployment followed; the phone was left unchanged."
    assert there(floor) == {"2": XML, "3": XML}


@pytest.mark.parametrize("is_late", [False, True])
async def test_phone_deactivated_or_deleted_before_the_undo_is_left_alone(
    floor: Floor, monkeypatch: pytest.MonkeyPatch, is_late: bool
) -> None:
    new = await prepared(floor)
    batch = await floor.begin(new, first=3, undo_on_stop=True)
    await stop_before_the_undo(floor, batch)

    async def withdraw(*_: object) -> bool:
        await floor.phones.update(floor.root, a_mac(1), PhonePatch(is_active=False))
        with suppress(NotFound):
            await floor.phones.delete(floor.root, a_mac(2))
        return False

    if is_late:  # between the look at the phone and its deployment
        monkeypatch.setattr(work, "is_in_call", withdraw)
    else:
        await withdraw()
    floor.uploader.uploads.clear()

    _, phones = await undone(floor, batch)

    assert [(phone.mac[-1], phone.state) for phone in phones] == [
        ("1", PhoneState.LEFT_OUT), ("2", PhoneState.LEFT_OUT), ("3", PhoneState.DONE)
    ]  # fmt: skip
    assert all(str(phone.message).endswith(" It was left unchanged.") for phone in phones[:2])
    assert there(floor) == {"3": XML}


async def stop_before_the_undo(floor: Floor, batch: Batch) -> None:
    """Work on the batch until it ended; the worker does not begin the undo."""
    runner = floor.another_runner()
    hold = existing(await runner._taken())
    await runner._run(hold)
    async with floor.database.read() as tx:
        assert existing(await tx.batches.find(batch.uuid)).ended_at is not None


async def test_undo_waits_for_a_phone_that_restarts(floor: Floor) -> None:
    """It would answer no restart, and keep what is undone."""
    new = await prepared(floor)
    batch = await floor.begin(new, first=3, undo_on_stop=True)
    await stop_before_the_undo(floor, batch)
    by = timestamp(floor.clock() + timedelta(seconds=60))
    pending = {"confirmation": Confirmation.PENDING, "confirmation_by": by}
    async with floor.database.write() as tx:
        record = existing(await tx.deployments.current(a_mac(1)))
        await tx.deployments.put(msgspec.structs.replace(record, **pending))
    floor.uploader.uploads.clear()

    undo, phones = await undone(floor, batch)

    assert [phone.state for phone in phones] == [PhoneState.DONE] * 3
    assert [upload.filename[-9:-8] for upload in floor.uploader.uploads] == ["2", "3", "1"]
    assert existing(undo.ended_at) > by


async def test_changed_only_repeats_an_interrupted_phone(floor: Floor) -> None:
    new = await prepared(floor)
    batch = await floor.begin(new, only_changed=True)
    await killed(floor, 1, placed=True)

    await floor.another_runner()()

    phones = await floor.phones_of(batch)
    assert [(phone.message, phone.tries) for phone in phones] == [(None, 2), (None, 1), (None, 1)]
    assert there(floor) == dict.fromkeys("123", NEW)


async def test_batch_of_first_phones_alone_is_judged() -> None:
    floor = await Floor.of(Settings(with_watch=True), phones=2)
    batch = await floor.begin(first=5, undo_on_stop=True)
    for _ in range(300):
        await asyncio.sleep(0)
    batch = await floor.batches.get(floor.root, batch.uuid)
    assert (batch.state, batch.phones.done) == (BatchState.RUNNING, 2)

    batch = await floor.until_it_ended(batch, {a_mac(1)})

    assert (batch.state, batch.phones.done) == (BatchState.STOPPED, 2)
    assert batch.undone_by is not None
