"""The switch: the order of its steps, access, and compatibility."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from phoneprov_core.inventory.profiles.model import Switched
from phoneprov_core.kernel.errors import Conflict, TimedOut
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import Deployment, Outcome, StepName
from phoneprov_core.switching.deployments.rollback import RollbackRequest
from phoneprov_core.switching.devices.ports import REPLACED_ANOTHER
from support.switching import MAC, XML, Desk

FILE = "SEP001BD4123456.cnf.xml"

# Success


async def test_switch_uploads_the_exact_text_then_clears_then_restarts(desk: Desk) -> None:
    answer = await desk.switched()

    assert answer == Switched("Ada at the desk", MAC, "ok")
    assert desk.steps == ["upload", "clear", "restart"]
    assert desk.uploader.files == {"10.20.30.40:21": {FILE: XML.encode()}}
    record = await desk.last()
    assert (record.mac, record.user_uuid) == (MAC, desk.ada.user_uuid)
    assert (record.profile_uuid, record.profile_name) == (desk.profile.uuid, "Ada at the desk")
    assert record.sha256 == hashlib.sha256(XML.encode()).hexdigest()
    assert record.size == len(XML.encode())
    assert record.outcome is Outcome.DEPLOYED
    assert [(step.name, step.ok, step.message) for step in record.steps] == [
        (StepName.UPLOAD, True, None),
        (StepName.CLEAR_SESSION, True, None),
        (StepName.RESTART, True, None),
    ]
    assert desk.uploader.uploads[0].attempt == record.uuid


async def test_switch_record_is_written_before_each_step(desk: Desk) -> None:
    seen: list[Deployment] = []

    async def observe() -> None:
        seen.append(await desk.last())

    for step in ("upload", "clear", "restart"):
        desk.at(step, observe)
    await desk.switched()

    assert {(one.outcome, one.ended_at) for one in seen} == {(Outcome.RUNNING, None)}
    assert seen[0].created_at == timestamp(desk.clock())
    assert [one.place for one in seen] == [None, *[f"10.20.30.40:21/{FILE}"] * 2]
    steps = tuple(StepName)[:3]
    assert [tuple(step.name for step in one.steps) for one in seen] == [(), steps[:1], steps]
    assert [one.restarted for one in seen] == [False, False, None]


async def test_deployments_of_a_phone_are_numbered(desk: Desk) -> None:
    for _ in range(3):
        await desk.switched()

    numbers = [record.number for record in await desk.records()]
    assert numbers == sorted(set(numbers))


async def test_progress_reports_start_and_end_of_each_step(desk: Desk) -> None:
    progress: list[tuple[StepName, bool | None]] = []
    desk.phone.fail(TimedOut("The phone is mute."))
    request = desk.request()

    made = await desk.switch.deployment(
        desk.ada,
        request,
        lambda name, step: progress.append((name, None if step is None else step.ok)),
    )

    assert progress == [
        (StepName.UPLOAD, None),
        (StepName.UPLOAD, True),
        (StepName.CLEAR_SESSION, None),
        (StepName.CLEAR_SESSION, False),
        (StepName.RESTART, None),
        (StepName.RESTART, True),
    ]
    assert made == await desk.last()


async def test_switch_records_the_duration_of_each_step(desk: Desk) -> None:
    for seconds, step in ((2, "upload"), (0.5, "clear"), (3, "restart")):
        desk.at(step, _passing(desk, seconds))

    await desk.switched()

    record = await desk.last()
    assert [step.duration_ms for step in record.steps] == [2000, 500, 3000]
    assert record.ended_at == timestamp(desk.clock())


def _passing(desk: Desk, seconds: float) -> Callable[[], Awaitable[None]]:
    async def advance_clock() -> None:
        desk.clock.advance(seconds)

    return advance_clock


async def test_switch_records_the_notes_of_the_uploader(desk: Desk) -> None:
    desk.notes = ("The old file was deleted first.", "Twice.")

    await desk.switched()

    step = (await desk.last()).steps[0]
    assert (step.ok, step.message) == (True, "The old file was deleted first.; Twice.")


async def test_deployment_over_a_file_that_another_program_changed_says_so(desk: Desk) -> None:
    folder = desk.uploader.files.setdefault("10.20.30.40:21", {})
    folder[FILE] = b"<device>by hand</device>"

    async def note() -> str | None:
        (upload, *_) = (await desk.last()).steps
        return upload.message

    await desk.switched()
    assert await note() is None  # It is not known what was there.
    await desk.switched()
    assert await note() is None
    folder[FILE] = b"<device>by hand</device>"
    await desk.switched()
    assert await note() == REPLACED_ANOTHER
    assert folder[FILE] == XML.encode()
    del folder[FILE]
    order = RollbackRequest(profile_uuid=desk.profile.uuid, revision=1)
    await desk.rollback(desk.ada, MAC, order)
    assert await note() == REPLACED_ANOTHER


@pytest.mark.parametrize("spelling", ["001bd4123456", "00-1b-d4-12-34-56", "001B.D412.3456"])
async def test_switch_mac_in_any_spelling_is_accepted(desk: Desk, spelling: str) -> None:
    assert (await desk.switched(mac=spelling)).mac == MAC


async def test_switch_assigns_the_services_to_the_owner_of_the_profile(desk: Desk) -> None:
    await desk.give_services_to(desk.bob)
    seen: list[str | None] = []

    async def observe() -> None:
        seen.append(await desk.services_user())

    for step in ("upload", "clear", "restart"):
        desk.at(step, observe)
    await desk.switched(desk.root)

    assert seen == [desk.bob.user_uuid, desk.ada.user_uuid, desk.ada.user_uuid]
    assert await desk.services_user() == desk.ada.user_uuid


# The firmware that selects the restart


@pytest.mark.parametrize(
    ("of_phone", "of_profile", "action"),
    [
        ("SCCP", None, "SCCPDeviceRestart"),
        ("SIP", None, "PJSIPNotify"),
        (None, "SIP", "PJSIPNotify"),
        (None, "SCCP", "SCCPDeviceRestart"),
        (None, None, "SCCPDeviceRestart"),
        ("sipe", "SIPE", "PJSIPNotify"),
        ("  ", "SIP", "PJSIPNotify"),
    ],
)
async def test_restart_uses_the_phones_software_type_else_the_profiles(
    desk: Desk, of_phone: str | None, of_profile: Any, action: str
) -> None:
    await desk.change_phone(software_type=of_phone)
    await desk.change_profile(software_type=of_profile)

    await desk.switched()

    assert [performed.name for performed in desk.manager.performed] == [action]


# Access and compatibility


@pytest.mark.parametrize(
    ("phone", "of_profile", "code"),
    [
        ({"is_active": False}, {}, "phone_inactive"),
        ({}, {"compatible_models": ("7911",)}, "profile_does_not_fit"),
        ({"software_type": "SIP"}, {"software_type": "SCCP"}, "profile_does_not_fit"),
    ],
)
async def test_switch_mismatch_changes_nothing(
    desk: Desk, phone: dict[str, Any], of_profile: dict[str, Any], code: str
) -> None:
    await desk.change_phone(**phone)
    await desk.change_profile(**of_profile)

    with pytest.raises(Conflict) as conflict:
        await desk.switched()

    assert conflict.value.code == code
    assert desk.steps == []
    assert await desk.records() == []
    assert await desk.is_free()
