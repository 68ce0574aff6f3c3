"""Records that change while a page of a phone is answered: the page is refused."""

import dataclasses
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from phoneprov_core.features.desks.model import AtPhone
from phoneprov_core.features.desks.records import DeskChanged
from phoneprov_core.kernel.errors import NotFound, Unauthenticated
from support.hotdesk import IP, LOBBY, PIN, Hotdesk
from support.switch_rig import MAC, XML

NEW_PIN = "13579135"


def during_the_look_at_calls(
    office: Hotdesk, change: Callable[[], Awaitable[Any]], *, in_call: bool = False
) -> None:
    """Change something while the exchange is asked for calls of the phone."""

    class Calls:
        async def in_call(self, _phone: object) -> bool:
            assert (await change()).status_code == 200
            return in_call

    office.api.container.change_desk().calls = Calls()


async def at_phone(office: Hotdesk) -> AtPhone:
    """The phone as a request finds it at its beginning."""
    return await office.api.container.phone_services().identify(f"SEP{MAC.replace(':', '')}", IP)


async def test_login_whose_profile_is_deleted_meanwhile_is_refused(office: Hotdesk) -> None:
    path = f"/phone-profiles/{office.profile}"
    during_the_look_at_calls(office, lambda: office.ada.delete(path))

    answer = await office.phone().log_in("ada", PIN)

    assert answer.text == "You have no profile that fits this phone. Ask an administrator."
    assert (await office.desk())["user_uuid"] is None
    assert office.world.happened == []


async def test_login_at_a_desk_that_changed_meanwhile_is_refused(office: Hotdesk) -> None:
    bob = await office.person("bob")
    profile = (await bob.get("/phone-profiles")).json()["data"][0]["uuid"]
    body = {"profile_uuid": profile, "mac": MAC}
    during_the_look_at_calls(office, lambda: office.admin.post("/phone-profiles/switch", body))

    assert (await office.phone().log_in("ada", PIN)).title == "Not possible"

    assert (await office.desk())["user_uuid"] == bob.uuid
    assert office.on_phone() == b"<device><name>bob</name></device>"


@pytest.mark.parametrize("in_call", [False, True])
@pytest.mark.parametrize("way", ["phone", "api"])
async def test_logout_of_a_desk_that_changed_meanwhile_is_refused(
    office: Hotdesk, way: str, in_call: bool
) -> None:
    bob = await office.person("bob")
    profile = (await bob.get("/phone-profiles")).json()["data"][0]["uuid"]
    if not in_call:
        await office.admin.put(f"/phones/{MAC}/desk", {"default_profile_uuid": None})
    await office.log_in()
    body = {"profile_uuid": profile, "mac": MAC}
    during_the_look_at_calls(
        office, lambda: office.admin.post("/phone-profiles/switch", body), in_call=in_call
    )

    if way == "phone":
        assert (await office.phone().log_out()).title == "Not possible"
    else:
        refused = await office.admin.post(f"/phones/{MAC}/desk/logout", {})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "desk_changed")

    assert (await office.desk())["user_uuid"] == bob.uuid
    assert (await office.record()).due is None
    assert office.on_phone() == b"<device><name>bob</name></device>"


async def test_change_of_the_pin_at_a_desk_that_changed_meanwhile_keeps_the_old_one(
    office: Hotdesk,
) -> None:
    change_pin = office.api.container.phone_services().change_pin
    await office.log_in()
    at = await at_phone(office)
    token = change_pin.form(at)
    await office.log_out()

    with pytest.raises(DeskChanged):
        await change_pin(at, PIN, NEW_PIN, NEW_PIN, token)

    assert (await office.phone().log_in("ada", PIN)).title == "Logged in"


async def test_change_of_the_pin_with_the_pin_of_who_took_the_name_meanwhile_is_refused(
    office: Hotdesk,
) -> None:
    change_pin = office.api.container.phone_services().change_pin
    bob = await office.person("bob", pin="97531864")
    await office.log_in()
    at = await at_phone(office)
    token = change_pin.form(at)
    for uuid, name in ((office.ada.uuid, "countess"), (bob.uuid, "ada")):
        renamed = await office.admin.put(f"/users/{uuid}", {"username": name})
        assert renamed.status_code == 200

    with pytest.raises(Unauthenticated):
        await change_pin(at, "97531864", NEW_PIN, NEW_PIN, token)

    await office.log_out()
    assert office.on_phone() == LOBBY.encode()
    assert (await office.phone().log_in("countess", PIN)).title == "Logged in"
    await office.settled()
    assert office.on_phone() == XML.encode()


async def test_logout_at_a_phone_that_is_deleted_meanwhile_finds_no_desk(office: Hotdesk) -> None:
    desks = office.api.container.use_cases().desks
    await office.log_in()

    async def log_out_and_delete(actor: Any, mac: str) -> str:
        mac = await desks.log_out_at_phone(actor, mac)
        assert (await office.admin.delete(f"/phones/{mac}")).status_code == 200
        return mac

    actor = office.api.container.use_cases().system_actor()
    instead: Any = log_out_and_delete
    racing = dataclasses.replace(desks, log_out_at_phone=instead)
    with pytest.raises(NotFound, match="There is no such desk"):
        await racing.log_out(actor, MAC)
