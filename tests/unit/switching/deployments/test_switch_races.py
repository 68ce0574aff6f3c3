"""Concurrent switches, and changes during a switch."""

import asyncio

import pytest

from phoneprov_core.inventory.profiles.model import Switched
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Outcome
from phoneprov_core.switching.deployments.order import order_of
from phoneprov_core.switching.errors import NotRecorded, PhoneInactive
from support.switching import MAC, Desk

# One switch at a time


async def test_switch_busy_phone_is_refused_at_once(desk: Desk) -> None:
    gate = desk.gate("upload")
    first = asyncio.create_task(desk.switched())
    await gate.reached.wait()

    with pytest.raises(Conflict) as conflict:
        async with asyncio.timeout(60):
            await desk.switched(desk.root)
    assert conflict.value.code == "phone_busy"

    gate.open.set()
    assert (await first).restart == "ok"
    assert [record.outcome for record in await desk.records()] == [Outcome.DEPLOYED]
    assert (await desk.switched(desk.root)).restart == "ok"


async def test_switch_revision_removed_before_the_record_is_not_found(desk: Desk) -> None:
    request = desk.request()
    order = await order_of(desk.database, desk.ada, request)
    await desk.profiles.delete(desk.ada, desk.profile.uuid)

    with pytest.raises(NotFound):
        await desk.deploy(desk.ada, order)

    assert await desk.records() == []
    assert desk.uploader.uploads == []
    assert await desk.is_free()


@pytest.mark.parametrize("change", ["deactivated", "deleted"])
async def test_switch_phone_that_left_the_inventory_before_the_record_is_refused(
    desk: Desk, change: str
) -> None:
    request = desk.request()
    order = await order_of(desk.database, desk.ada, request)
    if change == "deleted":
        await desk.phones.delete(desk.root, MAC)
    else:
        await desk.change_phone(is_active=False)

    with pytest.raises(NotFound if change == "deleted" else PhoneInactive):
        await desk.deploy(desk.ada, order)

    assert await desk.records() == []
    assert desk.uploader.uploads == []
    assert await desk.is_free()


async def test_switch_concurrent_requests_for_a_phone_run_one(desk: Desk) -> None:
    outcomes = await asyncio.gather(*(desk.switched() for _ in range(20)), return_exceptions=True)

    assert sum(isinstance(outcome, Switched) for outcome in outcomes) >= 1
    for outcome in outcomes:
        assert isinstance(outcome, Switched) or getattr(outcome, "code", "") == "phone_busy"
    assert len(desk.uploader.uploads) == len(await desk.records())


async def test_switch_record_starts_after_the_lease(desk: Desk) -> None:
    """Not at its request: then it could start before the end of the earlier one."""
    async with desk.database.write():
        waiting = asyncio.create_task(desk.switched())
        await asyncio.sleep(0.01)
        desk.clock.advance(5)
        since = timestamp(desk.clock())

    await waiting
    assert (await desk.last()).created_at == since


async def test_other_phones_are_switched_concurrently(desk: Desk) -> None:
    other = "00:1B:D4:12:34:99"
    await desk.add_phone(other)
    gate = desk.gate("upload")
    first = asyncio.create_task(desk.switched())
    await gate.reached.wait()

    assert (await desk.switched(mac=other)).mac == other

    gate.open.set()
    await first


async def test_switch_has_no_open_transaction_during_network_calls(desk: Desk) -> None:
    async def write() -> None:
        async with asyncio.timeout(60), desk.database.write() as tx:
            await tx.attempts.clear("anything")

    for step in ("upload", "clear", "restart"):
        desk.at(step, write)

    await desk.switched()

    assert desk.steps == ["upload", "clear", "restart"]


# Changes during a switch


async def test_owner_deleted_during_a_switch_keeps_the_record(desk: Desk) -> None:
    async def delete() -> None:
        await desk.users.delete(desk.root, desk.ada.user_uuid)

    desk.at("restart", delete)

    answer = await desk.switched(desk.root)

    assert answer.restart == "ok"
    assert (await desk.last()).outcome is Outcome.DEPLOYED
    assert await desk.services_user() is None
    assert await desk.is_free()


@pytest.mark.parametrize(
    ("step", "outcome", "succeeded", "reached"),
    [
        ("upload", Outcome.INTERRUPTED, [False], ["upload"]),
        ("restart", Outcome.DEPLOYED, [True, True, None], ["upload", "clear", "restart"]),
    ],
)
async def test_switch_cancelled_after_the_upload_is_deployed_and_before_is_interrupted(
    desk: Desk, step: str, outcome: Outcome, succeeded: list[bool | None], reached: list[str]
) -> None:
    gate = desk.gate(step)
    task = asyncio.create_task(desk.switched())
    await gate.reached.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    record = await desk.last()
    assert (record.outcome, [one.ok for one in record.steps]) == (outcome, succeeded)
    assert desk.steps == reached
    assert await desk.is_free()


async def test_database_lost_for_ever_during_a_switch_leaves_a_running_record(desk: Desk) -> None:
    desk.at("restart", desk.database.close)
    with pytest.raises(NotRecorded):
        await desk.switched()

    await desk.database.open()
    desk.clock.advance(61)
    async with desk.database.write() as tx:
        assert await tx.deployments.interrupt_abandoned(timestamp(desk.clock())) == 1
    assert (await desk.last()).outcome is Outcome.INTERRUPTED
    assert await desk.is_free()
