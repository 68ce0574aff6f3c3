"""Changes of a desk that a stopped process left unfinished."""

import dataclasses
from typing import Any

import pytest

from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.kernel.errors import Refused, Unavailable
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Action, Outcome
from support.hotdesk import IP, LOBBY, OTHER_IP, OTHER_MAC, Hotdesk
from support.phone_records import a_deployment
from support.switch_rig import MAC, XML, a_desk_phone


async def test_interrupted_pin_change_is_repaired(office: Hotdesk) -> None:
    await office.log_in()
    async with office.api.database.write() as tx:
        desk = await tx.desks.find(MAC)
        await tx.desks.put(desk.changing((await office.deployments())[-1].uuid, office.ada.uuid))
    office.world.files[f"{IP}:21"].clear()

    assert await office.keep_desks() == 1

    assert office.on_phone() == XML.encode()
    assert (await office.desk())["user_uuid"] == office.ada.uuid
    assert (await office.record()).change_uuid is None


async def test_interrupted_change_leaves_the_phone_to_its_caller_for_a_while(
    office: Hotdesk,
) -> None:
    ended_at = timestamp(office.api.container.clock()())
    change = a_deployment(
        1, MAC, number=0, outcome=Outcome.INTERRUPTED, profile_uuid=office.lobby, ended_at=ended_at
    )
    async with office.api.database.write() as tx:
        await tx.deployments.add(change)
        await tx.desks.put((await tx.desks.find(MAC)).changing(change.uuid))

    assert await office.keep_desks() == 0
    assert (await office.record()).change_uuid == change.uuid

    later = dataclasses.replace(office.api.container.keep_desks(), repeat_seconds=0)
    assert await later() == 1
    assert office.on_phone() == LOBBY.encode()


async def test_interrupted_login_restores_the_default_profile(office: Hotdesk) -> None:
    async with office.api.database.write() as tx:
        desk = await tx.desks.find(MAC)
        await tx.desks.put(desk.changing(office.profile, office.ada.uuid))

    assert await office.keep_desks() == 1

    assert office.on_phone() == LOBBY.encode()
    assert (await office.desk())["user_uuid"] is None


@pytest.mark.parametrize(
    ("action", "is_elsewhere"),
    [(Action.SWITCH, False), (Action.LOGIN, False), (Action.LOGIN, True)],
)
async def test_interrupted_first_change_is_completed_without_a_default_profile(
    office: Hotdesk, action: Action, *, is_elsewhere: bool
) -> None:
    """Unless the user has logged in at another phone since."""
    await a_desk_phone(office.admin, mac=OTHER_MAC, phone_ip=OTHER_IP)
    interrupted = a_deployment(
        1,
        OTHER_MAC,
        number=0,
        outcome=Outcome.INTERRUPTED,
        action=action,
        profile_uuid=office.profile,
        owner_uuid=office.ada.uuid,
    )
    if is_elsewhere:
        await office.log_in()
    async with office.api.database.write() as tx:
        await tx.deployments.add(interrupted)
        desk = await tx.desks.find(OTHER_MAC)
        await tx.desks.put(desk.changing(interrupted.uuid))

    assert await office.keep_desks() == 1

    assert office.on_phone(OTHER_IP, OTHER_MAC) == XML.encode()
    users = [(await office.desk(mac))["user_uuid"] for mac in (OTHER_MAC, MAC)]
    assert users == ([None, office.ada.uuid] if is_elsewhere else [office.ada.uuid, None])
    left = (await office.record(OTHER_MAC)).left_user_uuid
    assert left == (office.ada.uuid if is_elsewhere else None)
    repaired = max(await office.deployments(OTHER_MAC), key=lambda one: one.created_at)
    assert (repaired.action, repaired.outcome) == (action, Outcome.DEPLOYED)


@pytest.mark.parametrize("outcome", [Outcome.RUNNING, Outcome.INTERRUPTED, Outcome.UNKNOWN])
async def test_interrupted_logout_is_completed(office: Hotdesk, outcome: Outcome) -> None:
    await office.log_in()
    interrupted = a_deployment(
        1, MAC, number=9, outcome=outcome, action=Action.LOGOUT, profile_uuid=office.lobby
    )
    async with office.api.database.write() as tx:
        await tx.deployments.add(interrupted)
        desk = await tx.desks.find(MAC)
        await tx.desks.put(desk.changing(interrupted.uuid))
    office.world.files[f"{IP}:21"][f"SEP{MAC.replace(':', '')}.cnf.xml"] = LOBBY.encode()

    assert await office.keep_desks() == 1

    assert office.on_phone() == LOBBY.encode()
    assert (await office.desk())["user_uuid"] is None
    assert (await office.record()).change_uuid is None


async def test_logout_with_the_database_away_after_the_upload_is_recorded_at_its_end(
    office: Hotdesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await office.log_in()
    async with office.api.database.write() as tx:
        stores = type(tx.desks)
    put, failures = stores.put, iter([Unavailable("The database is away.")])

    async def fails_once(self: Any, desk: DeskRecord) -> None:
        if desk.user_uuid is None and (failure := next(failures, None)):
            raise failure
        await put(self, desk)

    monkeypatch.setattr(stores, "put", fails_once)

    await office.log_out()

    assert office.on_phone() == LOBBY.encode()
    assert (await office.desk())["user_uuid"] is None


@pytest.mark.parametrize("fails", [False, True])
async def test_completed_switch_leaves_nothing_to_repair(office: Hotdesk, fails: bool) -> None:
    if fails:
        office.world.fail_next(Refused("The FTP server refused the upload."))
    body = {"profile_uuid": office.profile, "mac": MAC}
    answer = await office.admin.post("/phone-profiles/switch", body)
    assert (answer.status_code == 200) is not fails

    assert (await office.record()).change_uuid is None
    assert await office.keep_desks() == 0
