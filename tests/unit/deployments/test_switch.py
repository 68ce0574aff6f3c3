"""The switch: the order of its steps, access, and compatibility."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from phoneprov_core.deployments.model import Deployment, Outcome, StepName
from phoneprov_core.deployments.rollback import RollbackRequest
from phoneprov_core.desk_records import DeskRecord, DeskUse
from phoneprov_core.devices.ports import REPLACED_ANOTHER
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, TimedOut
from phoneprov_core.kernel.system import shown
from phoneprov_core.phones.model import PhonePatch
from phoneprov_core.profiles.model import Profile, ProfilePatch, Switched, SwitchRequest
from support.office import Office
from support.switching import (
    MAC,
    XML,
    Journal,
    deployments,
    is_free,
    last_deployment,
    services_user,
    switch,
)

FILE = "SEP001BD4123456.cnf.xml"

# Success


async def test_switch_deploys_then_clears_then_restarts(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    answer = await switch(office, ada, profile)

    assert answer == Switched("Ada at the desk", MAC, "ok")
    assert journal.steps == ["upload", "clear", "restart"]


async def test_switch_uploads_the_exact_text_under_the_phones_name(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)

    assert office.uploader.files == {"10.20.30.40:21": {"SEP001BD4123456.cnf.xml": XML.encode()}}


async def test_switch_is_recorded(office: Office, ada: Actor, profile: Profile) -> None:
    await switch(office, ada, profile)

    record = await last_deployment(office)
    assert (record.mac, record.user_uuid) == (MAC, ada.user_uuid)
    assert (record.profile_uuid, record.profile_name) == (profile.uuid, "Ada at the desk")
    assert record.sha256 == hashlib.sha256(XML.encode()).hexdigest()
    assert record.size == len(XML.encode())
    assert record.outcome is Outcome.DEPLOYED
    assert [(step.name, step.ok, step.message) for step in record.steps] == [
        (StepName.UPLOAD, True, None),
        (StepName.CLEAR_SESSION, True, None),
        (StepName.RESTART, True, None),
    ]
    assert office.uploader.uploads[0].attempt == record.uuid


async def test_switch_record_is_written_before_the_upload(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    seen: list[Deployment] = []

    async def observe() -> None:
        seen.append(await last_deployment(office))

    journal.at("upload", observe)
    await switch(office, ada, profile)

    assert (seen[0].outcome, seen[0].steps, seen[0].ended_at) == (Outcome.RUNNING, (), None)
    assert seen[0].created_at == shown(office.clock())


async def test_switch_address_is_checked_before_any_call(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    seen: dict[str, Deployment] = {}

    for step in ("upload", "clear"):

        async def observe(step: str = step) -> None:
            seen[step] = await last_deployment(office)

        journal.at(step, observe)
    await switch(office, ada, profile)

    assert seen["upload"].place is None
    assert seen["clear"].place == "10.20.30.40:21/SEP001BD4123456.cnf.xml"
    assert seen["clear"].outcome is Outcome.RUNNING
    assert [step.name for step in seen["clear"].steps] == [StepName.UPLOAD]


async def test_switch_running_steps_can_be_watched(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    seen: list[Deployment] = []

    async def observe() -> None:
        seen.append(await last_deployment(office))

    journal.at("restart", observe)
    await switch(office, ada, profile)

    assert (seen[0].outcome, seen[0].ended_at) == (Outcome.RUNNING, None)
    assert [step.name for step in seen[0].steps] == [StepName.UPLOAD, StepName.CLEAR_SESSION]


async def test_deployments_of_a_phone_are_numbered(
    office: Office, ada: Actor, profile: Profile
) -> None:
    for _ in range(3):
        await switch(office, ada, profile)

    numbers = [record.number for record in await deployments(office)]
    assert numbers == sorted(set(numbers))


async def test_progress_reports_start_and_end_of_each_step(
    office: Office, ada: Actor, profile: Profile
) -> None:
    progress: list[tuple[StepName, bool | None]] = []
    office.phone.fail(TimedOut("The phone is mute."))
    request = SwitchRequest(profile_uuid=profile.uuid, mac=MAC)

    made = await office.switch.deployment(
        ada, request, lambda name, step: progress.append((name, None if step is None else step.ok))
    )

    assert progress == [
        (StepName.UPLOAD, None),
        (StepName.UPLOAD, True),
        (StepName.CLEAR_SESSION, None),
        (StepName.CLEAR_SESSION, False),
        (StepName.RESTART, None),
        (StepName.RESTART, True),
    ]
    assert made == await last_deployment(office)


async def test_switch_records_the_duration_of_each_step(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    for seconds, step in ((2, "upload"), (0.5, "clear"), (3, "restart")):
        journal.at(step, _passing(office, seconds))

    await switch(office, ada, profile)

    record = await last_deployment(office)
    assert [step.duration_ms for step in record.steps] == [2000, 500, 3000]
    assert record.ended_at == shown(office.clock())


def _passing(office: Office, seconds: float) -> Callable[[], Awaitable[None]]:
    async def advance_clock() -> None:
        office.clock.advance(seconds)

    return advance_clock


async def test_switch_records_the_notes_of_the_uploader(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    journal.notes = ("The old file was deleted first.", "Twice.")

    await switch(office, ada, profile)

    step = (await last_deployment(office)).steps[0]
    assert (step.ok, step.message) == (True, "The old file was deleted first.; Twice.")


async def test_deployment_over_a_file_that_another_program_changed_says_so(
    office: Office, ada: Actor, profile: Profile
) -> None:
    folder = office.uploader.files.setdefault("10.20.30.40:21", {})
    folder[FILE] = b"<device>by hand</device>"

    async def note() -> str | None:
        (upload, *_) = (await last_deployment(office)).steps
        return upload.message

    await switch(office, ada, profile)
    assert await note() is None  # It is not known what was there.
    await switch(office, ada, profile)
    assert await note() is None
    folder[FILE] = b"<device>by hand</device>"
    await switch(office, ada, profile)
    assert await note() == REPLACED_ANOTHER
    assert folder[FILE] == XML.encode()
    del folder[FILE]
    order = RollbackRequest(profile_uuid=profile.uuid, revision=1)
    await office.rollback(ada, MAC, order)
    assert await note() == REPLACED_ANOTHER


@pytest.mark.parametrize("spelling", ["001bd4123456", "00-1b-d4-12-34-56", "001B.D412.3456"])
async def test_switch_mac_in_any_spelling_is_accepted(
    office: Office, ada: Actor, profile: Profile, spelling: str
) -> None:
    assert (await switch(office, ada, profile, spelling)).mac == MAC


async def test_switch_assigns_the_services_to_the_owner_of_the_profile(
    office: Office, root: Actor, ada: Actor, bob: Actor, profile: Profile, journal: Journal
) -> None:
    async with office.database.write() as tx:
        await tx.desks.put(DeskRecord(MAC).used(DeskUse(bob.user_uuid), shown(office.clock())))
    seen: list[str | None] = []

    async def observe() -> None:
        seen.append(await services_user(office))

    for step in ("upload", "clear", "restart"):
        journal.at(step, observe)
    await switch(office, root, profile)

    assert seen == [bob.user_uuid, ada.user_uuid, ada.user_uuid]
    assert await services_user(office) == ada.user_uuid


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
    office: Office,
    root: Actor,
    ada: Actor,
    profile: Profile,
    of_phone: str | None,
    of_profile: Any,
    action: str,
) -> None:
    await office.phones.update(root, MAC, PhonePatch(software_type=of_phone))
    await office.profiles.update(ada, profile.uuid, ProfilePatch(software_type=of_profile))

    await switch(office, ada, profile)

    assert [performed.name for performed in office.manager.performed] == [action]


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
    office: Office,
    root: Actor,
    ada: Actor,
    profile: Profile,
    journal: Journal,
    phone: dict[str, Any],
    of_profile: dict[str, Any],
    code: str,
) -> None:
    await office.phones.update(root, MAC, PhonePatch(**phone))
    await office.profiles.update(ada, profile.uuid, ProfilePatch(**of_profile))

    with pytest.raises(Conflict) as conflict:
        await switch(office, ada, profile)

    assert conflict.value.code == code
    assert journal.steps == []
    assert await deployments(office) == []
    assert await is_free(office)
