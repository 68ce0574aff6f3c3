"""Concurrent switches, and changes during a switch."""

import asyncio

import pytest

from phoneprov_core.deployments.errors import PhoneInactive
from phoneprov_core.deployments.model import Outcome
from phoneprov_core.deployments.order import order_of
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import (
    Conflict,
    NotFound,
    Unavailable,
)
from phoneprov_core.kernel.system import shown
from phoneprov_core.phones.model import PhonePatch
from phoneprov_core.profiles.model import Profile, Switched, SwitchRequest
from support.office import Office
from support.switching import (
    MAC,
    Journal,
    a_desk,
    deployments,
    is_free,
    last_deployment,
    services_user,
    switch,
)

# One switch at a time


async def test_switch_busy_phone_is_refused_at_once(
    office: Office, root: Actor, ada: Actor, profile: Profile, journal: Journal
) -> None:
    gate = journal.gate("upload")
    first = asyncio.create_task(switch(office, ada, profile))
    await gate.reached.wait()

    with pytest.raises(Conflict) as conflict:
        async with asyncio.timeout(5):
            await switch(office, root, profile)
    assert conflict.value.code == "phone_busy"

    gate.open.set()
    assert (await first).restart == "ok"
    assert [record.outcome for record in await deployments(office)] == [Outcome.DEPLOYED]
    assert (await switch(office, root, profile)).restart == "ok"


async def test_switch_revision_removed_before_the_record_is_not_found(
    office: Office, ada: Actor, profile: Profile
) -> None:
    request = SwitchRequest(profile_uuid=profile.uuid, mac=MAC)
    order = await order_of(office.database, ada, request)
    await office.profiles.delete(ada, profile.uuid)

    with pytest.raises(NotFound):
        await office.deploy(ada, order)

    assert await deployments(office) == []
    assert office.uploader.uploads == []
    assert await is_free(office)


@pytest.mark.parametrize("change", ["deactivated", "deleted"])
async def test_switch_phone_that_left_the_inventory_before_the_record_is_refused(
    office: Office, ada: Actor, root: Actor, profile: Profile, change: str
) -> None:
    request = SwitchRequest(profile_uuid=profile.uuid, mac=MAC)
    order = await order_of(office.database, ada, request)
    if change == "deleted":
        await office.phones.delete(root, MAC)
    else:
        await office.phones.update(root, MAC, PhonePatch(is_active=False))

    with pytest.raises(NotFound if change == "deleted" else PhoneInactive):
        await office.deploy(ada, order)

    assert await deployments(office) == []
    assert office.uploader.uploads == []
    assert await is_free(office)


async def test_switch_concurrent_requests_for_a_phone_run_one(
    office: Office, ada: Actor, profile: Profile
) -> None:
    outcomes = await asyncio.gather(
        *(switch(office, ada, profile) for _ in range(20)), return_exceptions=True
    )

    assert sum(isinstance(outcome, Switched) for outcome in outcomes) >= 1
    for outcome in outcomes:
        assert isinstance(outcome, Switched) or getattr(outcome, "code", "") == "phone_busy"
    assert len(office.uploader.uploads) == len(await deployments(office))


async def test_switch_record_starts_after_the_lease(
    office: Office, ada: Actor, profile: Profile
) -> None:
    """Not at its request: then it could start before the end of the earlier one."""
    async with office.database.write():
        waiting = asyncio.create_task(switch(office, ada, profile))
        await asyncio.sleep(0.01)
        office.clock.advance(5)
        since = shown(office.clock())

    await waiting
    assert (await last_deployment(office)).created_at == since


async def test_other_phones_are_switched_concurrently(
    office: Office, root: Actor, ada: Actor, profile: Profile, journal: Journal
) -> None:
    other = "00:1B:D4:12:34:99"
    await a_desk(office, root, ada, mac=other)
    gate = journal.gate("upload")
    first = asyncio.create_task(switch(office, ada, profile))
    await gate.reached.wait()

    assert (await switch(office, ada, profile, other)).mac == other

    gate.open.set()
    await first


async def test_switch_has_no_open_transaction_during_network_calls(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    async def write() -> None:
        async with asyncio.timeout(5), office.database.write() as tx:
            await tx.attempts.clear("anything")

    for step in ("upload", "clear", "restart"):
        journal.at(step, write)

    await switch(office, ada, profile)

    assert journal.steps == ["upload", "clear", "restart"]


# Changes during a switch


async def test_switch_lost_lease_is_not_taken_from_its_holder(
    office: Office, root: Actor, ada: Actor, profile: Profile, journal: Journal
) -> None:
    async def lose_lease() -> None:
        office.clock.advance(61)
        async with office.database.write() as tx:
            assert await tx.leases.take(MAC, "another", 60) is not None

    journal.at("upload", lose_lease)
    await switch(office, ada, profile)

    assert not await is_free(office)


async def test_owner_deleted_during_a_switch_keeps_the_record(
    office: Office, root: Actor, ada: Actor, profile: Profile, journal: Journal
) -> None:
    async def delete() -> None:
        await office.users.delete(root, ada.user_uuid)

    journal.at("restart", delete)

    answer = await switch(office, root, profile)

    assert answer.restart == "ok"
    assert (await last_deployment(office)).outcome is Outcome.DEPLOYED
    assert await services_user(office) is None
    assert await is_free(office)


@pytest.mark.parametrize(
    ("step", "outcome", "succeeded", "reached"),
    [
        ("upload", Outcome.INTERRUPTED, [False], ["upload"]),
        ("restart", Outcome.DEPLOYED, [True, True, False], ["upload", "clear", "restart"]),
    ],
)
async def test_switch_cancelled_after_the_upload_is_deployed_and_before_is_interrupted(
    office: Office,
    ada: Actor,
    profile: Profile,
    journal: Journal,
    step: str,
    outcome: Outcome,
    succeeded: list[bool],
    reached: list[str],
) -> None:
    gate = journal.gate(step)
    task = asyncio.create_task(switch(office, ada, profile))
    await gate.reached.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    record = await last_deployment(office)
    assert (record.outcome, [one.ok for one in record.steps]) == (outcome, succeeded)
    assert journal.steps == reached
    assert await is_free(office)


async def test_database_lost_during_a_switch_leaves_a_running_record(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    journal.at("restart", office.database.close)
    with pytest.raises(Unavailable):
        await switch(office, ada, profile)

    await office.database.open()
    office.clock.advance(61)
    async with office.database.write() as tx:
        assert await tx.deployments.interrupt_abandoned(shown(office.clock())) == 1
    assert (await last_deployment(office)).outcome is Outcome.INTERRUPTED
    assert await is_free(office)
