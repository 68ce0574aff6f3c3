"""Logging out at a phone, by hand, at the expiry, or because the account is gone."""

from pathlib import Path

import msgspec
import pytest

from phoneprov_core.features.desks.records import Due, end_use
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.deployments.model import Action
from support.hotdesk import LOBBY, PIN, Hotdesk, hotdesk
from support.switch_rig import MAC, XML


async def test_logout_asks_once_and_deploys_the_default_profile(office: Hotdesk) -> None:
    await office.log_in()
    question = await office.phone().choose(await office.phone().first(), "Log out")
    assert list(question.items) == ["Log out", "Cancel"]
    assert (await office.phone().choose(question, "Cancel")).title == "Services"

    answer = await office.phone().choose(question, "Log out")

    assert (answer.kind, answer.title) == ("Text", "Logged out")
    assert office.on_phone() == LOBBY.encode()
    await office.settled()
    assert (await office.desk())["user_uuid"] is None
    assert (await office.deployments())[-1].action is Action.LOGOUT
    # Its token was valid for one change.
    await office.log_in()
    assert (await office.phone().choose(question, "Log out")).title == "Not possible"
    assert (await office.desk())["user_uuid"] == office.ada.uuid


async def test_logout_failure_keeps_the_user_logged_in(office: Hotdesk) -> None:
    await office.log_in()
    office.world.fail_next(TimedOut("The FTP server 10.0.0.9:21 did not answer in time."))

    answer = await office.phone().log_out()

    assert (answer.title, "10.0.0.9" in answer.text) == ("Not possible", False)
    assert (await office.phone().fetch(answer.keys["Again"])).title == "Log out"
    assert (await office.desk())["user_uuid"] == office.ada.uuid
    assert office.on_phone() == XML.encode()


async def test_login_ends_at_its_expiry(tmp_path: Path) -> None:
    async with hotdesk(tmp_path, PHONEPROV_DESK_HOURS="1") as office:
        await office.log_in()
        desk = await office.desk()
        assert desk["until"] > desk["since"]
        assert await office.keep_desks() == 0
        async with office.api.database.write() as tx:
            await end_use(tx, await tx.desks.find(MAC), Due.EXPIRY)
        assert next(iter((await office.phone().first()).items)) == "Log in"

        assert await office.keep_desks() == 1
        assert office.on_phone() == LOBBY.encode()
        assert (await office.deployments())[-1].action is Action.EXPIRY


@pytest.mark.parametrize("change", ["delete", "deactivate"])
async def test_deleted_or_deactivated_user_is_logged_out(office: Hotdesk, change: str) -> None:
    await office.log_in()
    if change == "delete":
        await office.admin.delete(f"/users/{office.ada.uuid}")
    else:
        await office.admin.put(f"/users/{office.ada.uuid}", {"is_active": False})

    assert (await office.desk())["user_uuid"] is None
    assert next(iter((await office.phone().first()).items)) == "Log in"
    office.world.fail_next(Refused("The FTP server is away."))
    assert await office.keep_desks() == 0
    assert (await office.record()).due is not None
    async with office.api.database.write() as tx:
        await tx.desks.put(msgspec.structs.replace(await tx.desks.find(MAC), not_before=0))
    assert await office.keep_desks() == 1
    assert office.on_phone() == LOBBY.encode()


async def test_logout_without_default_profile_keeps_the_file(office: Hotdesk) -> None:
    await office.admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": None})
    await office.log_in()

    answer = await office.phone().log_out()

    assert answer.text == (
        "You are logged out. The phone keeps its configuration:"
        " it has no default profile that fits."
    )
    assert (await office.desk())["user_uuid"] is None
    assert office.on_phone() == XML.encode()


async def test_logout_during_a_call_is_deferred(office: Hotdesk) -> None:
    class Calls:
        busy = True

        async def in_call(self, _phone: object) -> bool:
            return self.busy

    calls = Calls()
    change = office.api.container.change_desk()
    await office.log_in()
    change.calls = calls

    answer = await office.phone().log_out()
    assert answer.text == "You are logged out. The phone restarts after the call."
    assert (await office.desk())["user_uuid"] is None
    assert "in a call" in (await office.phone().log_in("ada", PIN)).text
    assert await office.keep_desks() == 0
    assert office.on_phone() == XML.encode()
    calls.busy = False
    assert await office.keep_desks() == 1
    assert office.on_phone() == LOBBY.encode()
