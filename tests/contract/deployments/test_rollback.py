"""Rollback of a phone."""

from typing import Any

import pytest

from phoneprov_core.kernel.errors import Refused, TimedOut
from support.api import STRANGER, data_of, error_of
from support.deploying import NEWER, OTHER, Workplace, listed
from support.switch_rig import MAC, XML, a_profile_of, switch


async def test_rollback_restores_the_previous_configuration(desk: Workplace) -> None:
    await desk.switch()
    await desk.save(NEWER)
    await desk.switch()
    await desk.switch()
    assert desk.on_phone() == NEWER

    reply = await desk.ada.ask("POST", f"/phones/{MAC}/rollback")

    made = data_of(reply, 200, "Configuration put back")
    assert desk.on_phone() == XML
    assert (made["action"], made["revision"], made["restart"]) == ("rollback", 1, "ok")
    assert made == (await listed(desk.ada, current="true"))[0]
    data_of(await desk.ada.post(f"/phones/{MAC}/rollback", {}))
    assert desk.on_phone() == NEWER


async def test_rollback_to_a_deployment_or_any_revision(desk: Workplace) -> None:
    await desk.switch()
    for xml in (NEWER, "<device/>"):
        await desk.save(xml)
        await desk.switch()
    first = (await listed(desk.ada))[0]["uuid"]
    path = f"/phones/{MAC}/rollback"

    data_of(await desk.ada.post(path, {"deployment_uuid": first}))
    assert desk.on_phone() == XML
    data_of(await desk.ada.post(path, {"profile_uuid": desk.profile, "revision": 2}))
    assert desk.on_phone() == NEWER


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"revision": 1}, {"profile_uuid"}),
        ({"profile_uuid": "PROFILE"}, {"revision"}),
        ({"profile_uuid": "PROFILE", "revision": 0}, {"revision"}),
        ({"profile_uuid": "PROFILE", "revision": 2**31}, {"revision"}),
        ({"profile_uuid": "PROFILE", "revision": "1"}, {"revision"}),
        (
            {"deployment_uuid": "DEPLOYMENT", "profile_uuid": "PROFILE"},
            {"profile_uuid", "revision"},
        ),
        ({"deployment_uuid": "DEPLOYMENT", "revision": 1}, {"revision"}),
        ({"deployment_uuid": None}, {"deployment_uuid"}),
        ({"deployment_uuid": "5"}, {"deployment_uuid"}),
        ({"mac": MAC}, {"mac"}),
    ],
)
async def test_rollback_invalid_body_is_named(
    desk: Workplace, body: dict[str, Any], fields: set[str]
) -> None:
    await desk.switch()
    known = {"PROFILE": desk.profile, "DEPLOYMENT": (await listed(desk.ada))[0]["uuid"]}
    sent = {name: known.get(str(value), value) for name, value in body.items()}

    reply = await desk.ada.post(f"/phones/{MAC}/rollback", sent)

    assert set(error_of(reply, 422, "invalid")) == fields
    assert len(await listed(desk.ada)) == 1


async def test_rollback_without_previous_deployment_is_refused(desk: Workplace) -> None:
    path = f"/phones/{MAC}/rollback"
    error_of(await desk.ada.ask("POST", path), 404)
    await desk.switch()
    await desk.switch()
    error_of(await desk.ada.ask("POST", path), 404)  # there was no other configuration
    error_of(await desk.ada.ask("POST", f"/phones/{OTHER}/rollback"), 404)
    error_of(await desk.ada.post(path, {"deployment_uuid": STRANGER}), 404)
    error_of(await desk.ada.post(path, {"profile_uuid": STRANGER, "revision": 1}), 404)
    error_of(await desk.ada.post(path, {"profile_uuid": desk.profile, "revision": 2}), 404)


async def test_rollback_of_another_users_profile_is_404(desk: Workplace) -> None:
    await desk.switch()
    of_bob = await a_profile_of(desk.bob, cnf_xml=NEWER)
    data_of(await switch(desk.bob, of_bob), metadata=False)
    first = (await listed(desk.admin))[0]["uuid"]
    path = f"/phones/{MAC}/rollback"

    error_of(await desk.bob.ask("POST", path), 404)
    error_of(await desk.bob.post(path, {"deployment_uuid": first}), 404)
    error_of(await desk.bob.post(path, {"profile_uuid": desk.profile, "revision": 1}), 404)
    assert desk.on_phone() == NEWER
    data_of(await desk.admin.ask("POST", path))
    assert desk.on_phone() == XML


async def test_rollback_has_the_failures_of_a_switch(desk: Workplace) -> None:
    await desk.switch()
    await desk.save(NEWER)
    await desk.switch()
    path = f"/phones/{MAC}/rollback"

    for error, status in ((Refused("No."), 502), (TimedOut("Nothing."), 504)):
        desk.world.fail_next(error)
        error_of(await desk.ada.ask("POST", path), status)
    await desk.admin.put(f"/phones/{MAC}", {"is_active": False})
    error_of(await desk.ada.ask("POST", path), 409, "phone_inactive")
    assert desk.on_phone() == NEWER


async def test_rollback_to_a_deleted_profile_is_refused(desk: Workplace) -> None:
    await desk.switch()
    second = await a_profile_of(desk.ada, cnf_xml=NEWER)
    await desk.switch(MAC, second)
    await desk.ada.delete(f"/phone-profiles/{desk.profile}")

    reply = await desk.ada.ask("POST", f"/phones/{MAC}/rollback")

    error_of(reply, 404)
    assert "was deleted" in reply.json()["message"]
