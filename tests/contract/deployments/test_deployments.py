"""Deployments and the history of a phone."""

from typing import Any

import pytest

from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.deployments.observation import DeviceInformation
from support.api import data_of, error_of
from support.deploying import NEWER, OTHER, Workplace, listed
from support.switch_rig import FILE, MAC, XML, a_desk_phone, a_profile_of, switch


async def test_switch_creates_a_deployment_with_its_steps(desk: Workplace) -> None:
    await desk.switch()

    (row,) = await listed(desk.ada)

    assert row == data_of(
        await desk.ada.get(f"/deployments/{row['uuid']}"), 200, "Deployment found"
    )
    assert (row["mac"], row["action"], row["outcome"]) == (MAC, "switch", "deployed")
    assert (row["profile_uuid"], row["profile_name"], row["revision"]) == (desk.profile, "Ada's", 1)
    assert row["user_uuid"] == row["owner_uuid"] == desk.ada.uuid
    assert [(s["name"], s["ok"]) for s in row["steps"]] == [
        ("upload", True),
        ("clear_session", True),
        ("restart", True),
    ]
    assert (row["place"], row["restart"]) == (f"10.0.0.5:21/{FILE}", "ok")
    assert row["confirmation"] == "none"  # the phone does not state its identity
    assert XML not in (await desk.ada.get("/deployments")).text


@pytest.mark.parametrize("error", [Refused("It said no."), TimedOut("It said nothing.")])
async def test_failed_switch_names_the_step_and_the_reason(desk: Workplace, error: Any) -> None:
    desk.world.fail_next(error)
    await switch(desk.ada, desk.profile)

    (row,) = await listed(desk.ada, outcome="failed")

    assert (row["failed_step"], row["message"], row["place"]) == ("upload", error.message, None)
    assert [step["ok"] for step in row["steps"]] == [False]
    assert row["restart"] is None


async def test_watched_phone_has_a_pending_confirmation(desk: Workplace) -> None:
    desk.world.phones.tells["10.0.0.5"] = DeviceInformation(mac=MAC)
    await desk.switch()

    (row,) = await listed(desk.ada)

    assert (row["confirmation"], row["confirmation_at"]) == ("pending", None)
    assert row["confirmation_by"] > row["ended_at"]
    await desk.api.container.tasks().drain(0)


async def test_deployments_are_filtered(desk: Workplace) -> None:
    await a_desk_phone(desk.admin, mac=OTHER)
    second = await a_profile_of(desk.ada, cnf_xml=NEWER)
    await desk.switch()
    await desk.switch(OTHER)
    await desk.switch(MAC, second)
    desk.world.fail_next(Refused("no"))
    await switch(desk.ada, desk.profile)
    every = await listed(desk.admin)

    async def numbers(**query: Any) -> list[int]:
        return [every.index(row) for row in await listed(desk.admin, **query)]

    assert await numbers() == [0, 1, 2, 3]
    assert await numbers(mac="001bd4123456") == [0, 2, 3]
    assert await numbers(profile_uuid=second.upper()) == [2]
    assert await numbers(outcome="failed") == [3]
    assert await numbers(outcome="running") == []
    assert await numbers(current="true") == [1, 2]
    assert await numbers(current="false", mac=OTHER, outcome="deployed") == [1]
    assert await numbers(limit=2, offset=1) == [1, 2]
    assert await numbers(mac=MAC, limit=1, offset=1) == [2]
    assert list(error_of(await desk.admin.get("/deployments", unheard_of="1"), 422)) == [
        "unheard_of"
    ]


@pytest.mark.parametrize(
    "query",
    [
        {"mac": "nonsense"},
        {"mac": ["001bd4123456", "001bd4123457"]},
        {"profile_uuid": "5", "outcome": "", "current": "1"},
        {"outcome": "DEPLOYED", "current": "yes", "limit": "0"},
    ],
)
async def test_filter_invalid_is_named(desk: Workplace, query: dict[str, Any]) -> None:
    assert set(error_of(await desk.admin.get("/deployments", **query), 422)) == set(query)
    if "mac" not in query:
        path = f"/phones/{MAC}/deployments"
        assert set(error_of(await desk.admin.get(path, **query), 422)) == set(query)


async def test_phone_history_and_current_deployment_are_returned(desk: Workplace) -> None:
    await a_desk_phone(desk.admin, mac=OTHER)
    await desk.switch()
    await desk.save(NEWER)
    await desk.switch()
    await desk.switch(OTHER)

    history = await listed(desk.ada, "/phones/001bd4123456/deployments")
    now = await listed(desk.ada, f"/phones/{MAC}/deployments", current="true")

    assert [row["revision"] for row in history] == [1, 2]
    assert now == history[1:]
    assert await listed(desk.ada, f"/phones/{MAC}/deployments", limit=1) == history[:1]


async def test_phone_history_remains_after_the_phone_is_deleted(desk: Workplace) -> None:
    await desk.switch()
    await desk.admin.delete(f"/phones/{MAC}")

    assert len(await listed(desk.ada, f"/phones/{MAC}/deployments")) == 1
    error_of(await desk.bob.get(f"/phones/{MAC}/deployments"), 404)


@pytest.mark.parametrize("mac", [OTHER, "nonsense", "00:00:00:00:00:00"])
async def test_phone_history_of_unknown_phone_is_not_found(desk: Workplace, mac: str) -> None:
    error_of(await desk.admin.get(f"/phones/{mac}/deployments"), 404)
    error_of(await desk.admin.get(f"/phones/{mac}/deployments", outcome="failed"), 404)


async def test_phone_history_mac_in_the_query_must_match_the_path(desk: Workplace) -> None:
    path = f"/phones/{MAC}/deployments"

    assert list(error_of(await desk.admin.get(path, mac=OTHER), 422)) == ["mac"]
    assert await listed(desk.admin, path, mac="001bd4123456") == []


async def test_phone_of_an_extension_is_found_before_macs_with_its_digits(desk: Workplace) -> None:
    for number in (1, 2):
        data_of(await desk.admin.post("/phones", {"mac": f"00:1B:20:03:00:0{number}"}), 201)
    await a_desk_phone(desk.admin, mac=OTHER)
    await desk.switch(mac=OTHER)
    new = {"type": "custom", "extension": "2003", "name": "Hall", "password": "secret-enough"}
    extension = data_of(await desk.admin.post("/extensions", new), 201)["uuid"]
    link = {"user_uuid": desk.ada.uuid, "extension_uuid": extension}
    data_of(await desk.admin.post("/user-extensions", link), 201)

    found = [row["mac"] for row in data_of(await desk.admin.get("/phones", q="2003"))]

    assert found == [OTHER, "00:1B:20:03:00:01", "00:1B:20:03:00:02"]
