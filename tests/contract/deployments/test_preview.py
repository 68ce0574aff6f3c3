"""Preview of a switch."""

from typing import Any

from phoneprov_core.deployments.observation import DeviceInformation
from support.api import Caller, error_of
from support.deploying import NEWER, OTHER, Workplace, bare_data_of, listed
from support.switch_rig import FILE, MAC, XML, a_profile_of


async def preview(caller: Caller, profile: str, mac: str = MAC) -> Any:
    body = {"profile_uuid": profile, "mac": mac}
    return await caller.post("/phone-profiles/switch/preview", body)


async def test_preview_shows_the_changes_and_applies_none(desk: Workplace) -> None:
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
    assert found["server"]["reachable"] is True
    assert found["phone"]["message"] == "The phone answers: CP-7945G."
    assert {"error", "note"} <= {finding["severity"] for finding in found["findings"]}
    assert desk.world.happened == happened
    assert await listed(desk.admin) == rows
    assert desk.on_phone() == XML


async def test_preview_masks_secrets(desk: Workplace) -> None:
    for secret in ("enchantress", "of numbers"):
        await desk.save(f"<device><sshPassword>{secret}</sshPassword></device>")
        if secret == "enchantress":
            await desk.switch()

    reply = await preview(desk.ada, desk.profile)

    assert "***1" in reply.json()["data"]["diff"]
    assert "***2" in reply.json()["data"]["diff"]
    assert "enchantress" not in reply.text
    assert "of numbers" not in reply.text


async def test_preview_hides_records_of_other_users(desk: Workplace) -> None:
    await desk.switch()
    of_bob = await a_profile_of(desk.bob, cnf_xml=NEWER)

    found = bare_data_of(await preview(desk.bob, of_bob))

    assert (found["on_phone"], found["changed"], found["diff"]) == (None, None, None)
    assert "another user" in found["diff_note"]


async def test_preview_contains_the_obstacles_of_a_switch(desk: Workplace) -> None:
    for_others = await a_profile_of(desk.ada, compatible_models=["8841"])

    found = bare_data_of(await preview(desk.ada, for_others))

    assert found["compatible"] is False
    assert "8841" in found["objection"]
    assert found["diff_note"]


async def test_preview_has_the_refusals_of_a_switch(desk: Workplace) -> None:
    error_of(await preview(desk.bob, desk.profile), 404)
    error_of(await preview(desk.ada, desk.profile, OTHER), 404)
    assert list(error_of(await preview(desk.ada, desk.profile, "nonsense"), 422)) == ["mac"]
