"""Preview of a switch."""

from typing import Any

from phoneprov_core.switching.deployments.observation import DeviceInformation
from support.api import Caller
from support.deploying import NEWER, Workplace, bare_data_of, listed
from support.switch_rig import FILE, MAC, XML


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
