"""Rollback of a phone."""

from typing import Any

import pytest

from support.api import data_of, error_of
from support.deploying import NEWER, Workplace, listed
from support.switch_rig import MAC, XML


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
