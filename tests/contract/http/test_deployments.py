"""Deployments, preview, rollback and revisions: our addition to the interface."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_core.deployments.observation import DeviceInformation
from phoneprov_core.kernel.errors import Refused, TimedOut
from support.api import STRANGER, Api, Caller, data_of, error_of, opened_api
from support.switch_rig import FILE, MAC, XML, World, a_desk_phone, a_profile_of, switch

bare_data_of = partial(data_of, metadata=False)

OTHER = "00:1B:D4:12:34:99"
NEWER = XML.replace("name", "label")


class Office:
    """One desk, a superadmin, and two people."""

    def __init__(self, api: Api, world: World, admin: Caller, ada: Caller, bob: Caller) -> None:
        self.api, self.world, self.admin, self.ada, self.bob = api, world, admin, ada, bob
        self.profile = ""

    async def switch(self, mac: str = MAC, profile: str = "") -> None:
        data_of(await switch(self.ada, profile or self.profile, mac), metadata=False)

    async def save(self, xml: str) -> None:
        reply = await self.ada.put(f"/phone-profiles/{self.profile}", {"cnf_xml": xml})
        assert reply.status_code == 200

    def on_phone(self) -> str:
        return self.world.files["10.0.0.5:21"][FILE].decode()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Office]:
    world = World()
    adapters = {**world.adapters(), "hasher": PlainHasher()}
    async with opened_api(tmp_path, database_kind="memory", overrides=adapters) as api:
        people = [await api.account(name) for name in ("ada", "bob")]
        office = Office(api, world, await api.account("admin", level=0), *people)
        await a_desk_phone(office.admin)
        office.profile = await a_profile_of(office.ada)
        yield office


async def listed(caller: Caller, path: str = "/deployments", **query: Any) -> list[Any]:
    rows = data_of(await caller.get(path, **query))
    assert isinstance(rows, list)
    return rows


# What was deployed


async def test_switch_creates_a_deployment_with_its_steps(desk: Office) -> None:
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
    assert row["confirmation"] == "none"  # the phone does not say who it is
    assert XML not in (await desk.ada.get("/deployments")).text


@pytest.mark.parametrize("error", [Refused("It said no."), TimedOut("It said nothing.")])
async def test_failed_switch_names_the_step_and_the_reason(desk: Office, error: Any) -> None:
    desk.world.fail_next(error)
    await switch(desk.ada, desk.profile)

    (row,) = await listed(desk.ada, outcome="failed")

    assert (row["failed_step"], row["message"], row["place"]) == ("upload", error.message, None)
    assert [step["ok"] for step in row["steps"]] == [False]
    assert row["restart"] is None


async def test_watched_phone_has_a_pending_confirmation(desk: Office) -> None:
    desk.world.phones.tells["10.0.0.5"] = DeviceInformation(mac=MAC)
    await desk.switch()

    (row,) = await listed(desk.ada)

    assert (row["confirmation"], row["confirmation_at"]) == ("pending", None)
    assert row["confirmation_by"] > row["ended_at"]
    await desk.api.container.tasks().drain(0)


async def test_deployments_are_filtered(desk: Office) -> None:
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
    assert await numbers(unheard_of="passed over") == [0, 1, 2, 3]


async def test_page_total_is_the_number_of_matches(desk: Office) -> None:
    for _ in range(3):
        await desk.switch()

    reply = await desk.admin.get("/deployments", outcome="deployed", limit=2)

    assert reply.json()["message"] == "2 deployment(s) found"
    assert reply.json()["metadata"] == {"total": 3, "limit": 2, "offset": 0}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"mac": "nonsense"}, "mac"),
        ({"mac": ["001bd4123456", "001bd4123457"]}, "mac"),
        ({"profile_uuid": "5"}, "profile_uuid"),
        ({"outcome": "DEPLOYED"}, "outcome"),
        ({"outcome": ""}, "outcome"),
        ({"current": "1"}, "current"),
        ({"current": "yes"}, "current"),
        ({"limit": "0"}, "limit"),
    ],
)
async def test_filter_invalid_is_named(desk: Office, query: dict[str, Any], field: str) -> None:
    assert list(error_of(await desk.admin.get("/deployments", **query), 422)) == [field]
    if field != "mac":
        path = f"/phones/{MAC}/deployments"
        assert list(error_of(await desk.admin.get(path, **query), 422)) == [field]


async def test_filter_every_invalid_one_is_named(desk: Office) -> None:
    reply = await desk.admin.get("/deployments", mac="x", current="maybe", outcome="well")

    assert set(error_of(reply, 422, "invalid")) == {"mac", "current", "outcome"}


async def test_filter_over_the_length_limit_is_refused(desk: Office) -> None:
    error_of(await desk.admin.get("/deployments", mac="1" * 3000), 400, "malformed")


async def test_deployments_are_visible_to_their_account_and_level_0(desk: Office) -> None:
    of_bob = await a_profile_of(desk.bob)
    await desk.switch()
    data_of(await switch(desk.admin, of_bob), metadata=False)
    every = await listed(desk.admin)

    assert await listed(desk.ada) == every[:1]
    assert await listed(desk.bob) == every[1:]
    assert await listed(desk.ada, f"/phones/{MAC}/deployments") == every[:1]
    assert await listed(desk.ada, current="true") == []
    hidden = await desk.ada.get(f"/deployments/{every[1]['uuid']}")
    missing = await desk.ada.get(f"/deployments/{STRANGER}")
    assert hidden.json()["message"] == missing.json()["message"]
    assert error_of(hidden, 404, "not_found") == {}


async def test_phone_history_and_current_deployment_are_returned(desk: Office) -> None:
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


async def test_phone_history_remains_after_the_phone_is_deleted(desk: Office) -> None:
    await desk.switch()
    await desk.admin.delete(f"/phones/{MAC}")

    assert len(await listed(desk.ada, f"/phones/{MAC}/deployments")) == 1
    error_of(await desk.bob.get(f"/phones/{MAC}/deployments"), 404)


@pytest.mark.parametrize("mac", [OTHER, "nonsense", "00:00:00:00:00:00"])
async def test_phone_history_of_unknown_phone_is_not_found(desk: Office, mac: str) -> None:
    error_of(await desk.admin.get(f"/phones/{mac}/deployments"), 404)
    error_of(await desk.admin.get(f"/phones/{mac}/deployments", outcome="failed"), 404)


async def test_phone_history_mac_in_the_query_must_match_the_path(desk: Office) -> None:
    path = f"/phones/{MAC}/deployments"

    assert list(error_of(await desk.admin.get(path, mac=OTHER), 422)) == ["mac"]
    assert await listed(desk.admin, path, mac="001bd4123456") == []


# Revisions


async def test_update_with_changed_configuration_creates_a_revision(desk: Office) -> None:
    await desk.ada.put(f"/phone-profiles/{desk.profile}", {"name": "Another name"})
    await desk.save(XML)
    await desk.save(NEWER)
    path = f"/phone-profiles/{desk.profile}/revisions"

    revisions = bare_data_of(await desk.ada.get(path), 200, "2 revision(s) found")

    assert [row["number"] for row in revisions] == [1, 2]
    assert [row["size"] for row in revisions] == [len(XML.encode()), len(NEWER.encode())]
    assert {row["created_by"] for row in revisions} == {desk.ada.uuid}
    assert bare_data_of(await desk.ada.get(path, limit=1, offset=1)) == revisions[1:]
    error_of(await desk.bob.get(path), 404)


# The dry run


async def preview(caller: Caller, profile: str, mac: str = MAC) -> Any:
    body = {"profile_uuid": profile, "mac": mac}
    return await caller.post("/phone-profiles/switch/preview", body)


async def test_preview_shows_the_changes_and_applies_none(desk: Office) -> None:
    desk.world.phones.tells["10.0.0.5"] = DeviceInformation(mac=MAC, model="CP-7945G")
    await desk.switch()
    await desk.save(NEWER)
    happened, rows = list(desk.world.happened), await listed(desk.admin)

    found = bare_data_of(await preview(desk.ada, desk.profile), 200, "Switch previewed")

    assert (found["profile"], found["mac"], found["filename"]) == ("Ada's", MAC, FILE)
    assert (found["revision"], found["compatible"], found["changed"]) == (2, True, True)
    assert found["on_phone"]["uuid"] == rows[0]["uuid"]
    assert "-<device><name>" in found["diff"]
    assert "+<device><label>" in found["diff"]
    assert found["server"]["reachable"] is None  # the uploader of the tests cannot be asked
    assert found["phone"]["message"] == "The phone answers: CP-7945G."
    assert {"error", "note"} <= {finding["severity"] for finding in found["findings"]}
    assert desk.world.happened == happened
    assert await listed(desk.admin) == rows
    assert desk.on_phone() == XML


async def test_preview_masks_secrets(desk: Office) -> None:
    for secret in ("enchantress", "of numbers"):
        await desk.save(f"<device><sshPassword>{secret}</sshPassword></device>")
        if secret == "enchantress":
            await desk.switch()

    reply = await preview(desk.ada, desk.profile)

    assert "***1" in reply.json()["data"]["diff"]
    assert "***2" in reply.json()["data"]["diff"]
    assert "enchantress" not in reply.text
    assert "of numbers" not in reply.text


async def test_preview_hides_records_of_other_users(desk: Office) -> None:
    await desk.switch()
    of_bob = await a_profile_of(desk.bob, cnf_xml=NEWER)

    found = bare_data_of(await preview(desk.bob, of_bob))

    assert (found["on_phone"], found["changed"], found["diff"]) == (None, None, None)
    assert "another user" in found["diff_note"]


async def test_preview_contains_the_obstacles_of_a_switch(desk: Office) -> None:
    for_others = await a_profile_of(desk.ada, compatible_models=["8841"])

    found = bare_data_of(await preview(desk.ada, for_others))

    assert found["compatible"] is False
    assert "8841" in found["objection"]
    assert found["diff_note"]


async def test_preview_has_the_refusals_of_a_switch(desk: Office) -> None:
    error_of(await preview(desk.bob, desk.profile), 404)
    error_of(await preview(desk.ada, desk.profile, OTHER), 404)
    assert list(error_of(await preview(desk.ada, desk.profile, "nonsense"), 422)) == ["mac"]


# Putting back


async def test_rollback_restores_the_previous_configuration(desk: Office) -> None:
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


async def test_rollback_to_a_deployment_or_any_revision(desk: Office) -> None:
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
    desk: Office, body: dict[str, Any], fields: set[str]
) -> None:
    await desk.switch()
    known = {"PROFILE": desk.profile, "DEPLOYMENT": (await listed(desk.ada))[0]["uuid"]}
    sent = {name: known.get(str(value), value) for name, value in body.items()}

    reply = await desk.ada.post(f"/phones/{MAC}/rollback", sent)

    assert set(error_of(reply, 422, "invalid")) == fields
    assert len(await listed(desk.ada)) == 1


async def test_rollback_without_previous_deployment_is_refused(desk: Office) -> None:
    path = f"/phones/{MAC}/rollback"
    error_of(await desk.ada.ask("POST", path), 404)
    await desk.switch()
    await desk.switch()
    error_of(await desk.ada.ask("POST", path), 404)  # there was never anything else
    error_of(await desk.ada.ask("POST", f"/phones/{OTHER}/rollback"), 404)
    error_of(await desk.ada.post(path, {"deployment_uuid": STRANGER}), 404)
    error_of(await desk.ada.post(path, {"profile_uuid": STRANGER, "revision": 1}), 404)
    error_of(await desk.ada.post(path, {"profile_uuid": desk.profile, "revision": 2}), 404)


async def test_rollback_of_another_users_profile_is_404(desk: Office) -> None:
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


async def test_rollback_has_the_failures_of_a_switch(desk: Office) -> None:
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


async def test_rollback_to_a_deleted_profile_is_refused(desk: Office) -> None:
    await desk.switch()
    second = await a_profile_of(desk.ada, cnf_xml=NEWER)
    await desk.switch(MAC, second)
    await desk.ada.delete(f"/phone-profiles/{desk.profile}")

    reply = await desk.ada.ask("POST", f"/phones/{MAC}/rollback")

    error_of(reply, 404)
    assert "was deleted" in reply.json()["message"]


# Lint and the difference of two revisions


async def lint(caller: Caller, **body: Any) -> Any:
    return await caller.post("/phone-profiles/lint", body)


async def test_lint_returns_findings_with_positions(desk: Office) -> None:
    found = bare_data_of(await lint(desk.bob, cnf_xml="<device>\n<name>x</device>"))["findings"]

    assert [(one["severity"], one["line"], one["code"]) for one in found] == [
        ("error", 2, "not_well_formed")
    ]
    assert bare_data_of(await lint(desk.bob, cnf_xml=NEWER, software_type="SIP"))["findings"]
    assert list(error_of(await lint(desk.bob, cnf_xml=NEWER, software_type="X"), 422)) == [
        "software_type"
    ]


async def test_revision_diff_is_masked_and_visible_to_its_owner(desk: Office) -> None:
    for secret in ("enchantress", "of numbers"):
        await desk.save(f"<device><sshPassword>{secret}</sshPassword></device>")
    path = f"/phone-profiles/{desk.profile}/revisions/diff"

    newest = await desk.ada.get(path)

    found = bare_data_of(newest, 200, "Revisions compared")
    assert (found["from"], found["to"]) == (2, 3)
    assert "***1" in found["diff"]
    assert "***2" in found["diff"]
    assert "enchantress" not in newest.text
    assert bare_data_of(await desk.admin.get(path, **{"from": 3, "to": 3}))["diff"] == ""
    backwards = bare_data_of(await desk.ada.get(path, **{"from": 3, "to": 1}))
    assert (backwards["from"], backwards["to"]) == (3, 1)
    error_of(await desk.bob.get(path), 404)
    error_of(await desk.ada.get(path, **{"from": 1, "to": 4}), 404)
    assert list(error_of(await desk.ada.get(path, **{"from": 0}), 422)) == ["from"]
