"""Rollback to the previous configuration of a phone, or to any revision."""

from typing import Any

import pytest

from phoneprov_core.kernel.errors import Conflict, Invalid, NotFound, Refused
from phoneprov_core.switching.deployments.model import Action, Deployment, Outcome, StepName
from phoneprov_core.switching.deployments.rollback import RollbackRequest
from support.switching import MAC, NOWHERE, XML, Desk

SECOND, THIRD = "<device><second/></device>", "<device><third/></device>"
OTHER = "00:1B:D4:12:34:99"


def on_phone(desk: Desk) -> str:
    return desk.uploader.files["10.20.30.40:21"]["SEP001BD4123456.cnf.xml"].decode()


async def deployed(desk: Desk, *xmls: str) -> None:
    """Switch the phone to each of these configurations in order."""
    for xml in xmls:
        await desk.save(xml)
        await desk.switched()


async def test_rollback_restores_the_previous_configuration(desk: Desk) -> None:
    await deployed(desk, XML, SECOND)
    desk.steps.clear()

    made = await desk.rollback(desk.ada, MAC)

    assert on_phone(desk) == XML
    assert made == await desk.last()
    assert (made.action, made.revision, made.profile_uuid) == (
        Action.ROLLBACK,
        1,
        desk.profile.uuid,
    )
    assert (made.user_uuid, made.restart) == (desk.ada.user_uuid, "ok")
    assert desk.steps == ["upload", "clear", "restart"]
    await desk.rollback(desk.ada, MAC)
    assert on_phone(desk) == SECOND


async def test_rollback_skips_deployments_of_the_same_configuration(desk: Desk) -> None:
    await deployed(desk, XML, SECOND, SECOND)
    desk.uploader.fail_next(Refused("no"))
    with pytest.raises(Refused):
        await deployed(desk, THIRD)

    await desk.rollback(desk.ada, MAC)

    assert on_phone(desk) == XML


async def test_rollback_to_a_deployment_restores_its_revision(desk: Desk) -> None:
    await deployed(desk, XML, SECOND, THIRD)
    first = (await desk.records())[0]

    await desk.rollback(desk.ada, MAC, RollbackRequest(deployment_uuid=first.uuid.upper()))

    assert on_phone(desk) == XML


async def test_rollback_to_a_failed_deployment_is_allowed(desk: Desk) -> None:
    desk.uploader.fail_next(Refused("no"))
    with pytest.raises(Refused):
        await desk.switched()
    failed = await desk.last()
    assert failed.outcome is Outcome.FAILED

    await desk.rollback(desk.ada, MAC, RollbackRequest(deployment_uuid=failed.uuid))

    assert on_phone(desk) == XML


async def test_rollback_to_any_revision_is_allowed(desk: Desk) -> None:
    for xml in (SECOND, THIRD):
        await desk.save(xml)

    made = await desk.rollback(
        desk.ada, MAC, RollbackRequest(profile_uuid=desk.profile.uuid, revision=2)
    )

    assert (on_phone(desk), made.revision) == (SECOND, 2)


async def test_rollback_reports_its_progress(desk: Desk) -> None:
    await deployed(desk, XML, SECOND)
    steps: list[tuple[StepName, bool]] = []

    await desk.rollback(desk.ada, MAC, None, lambda name, step: steps.append((name, step is None)))

    assert steps == [(name, begins) for name in list(StepName)[:3] for begins in (True, False)]


# Refusals


async def test_rollback_without_previous_deployment_is_refused(desk: Desk) -> None:
    for _ in range(2):
        with pytest.raises(NotFound, match="no earlier deployment that you may"):
            await desk.rollback(desk.ada, MAC)
        await desk.switched()


@pytest.mark.parametrize("mac", [OTHER, "nonsense", ""])
async def test_rollback_of_unknown_phone_is_not_found(desk: Desk, mac: str) -> None:
    with pytest.raises(NotFound, match="phone"):
        await desk.rollback(desk.ada, mac)


async def test_rollback_to_what_does_not_exist_is_not_found(desk: Desk) -> None:
    for request, words in (
        (RollbackRequest(deployment_uuid=NOWHERE), "no such deployment"),
        (RollbackRequest(profile_uuid=NOWHERE, revision=1), "profile"),
        (RollbackRequest(profile_uuid=desk.profile.uuid, revision=2), "revision"),
    ):
        with pytest.raises(NotFound, match=words):
            await desk.rollback(desk.ada, MAC, request)


async def test_rollback_to_a_deployment_of_another_phone_is_not_found(desk: Desk) -> None:
    await desk.add_phone(OTHER)
    await desk.switched(mac=OTHER)
    uuid = (await desk.last()).uuid

    with pytest.raises(NotFound):
        await desk.rollback(desk.ada, MAC, RollbackRequest(deployment_uuid=uuid))


async def test_rollback_to_a_deleted_profile_is_refused(desk: Desk) -> None:
    await desk.switched()
    await desk.switched(desk.ada, await desk.profile_of(desk.ada, SECOND))
    await desk.profiles.delete(desk.ada, desk.profile.uuid)

    with pytest.raises(NotFound, match="was deleted"):
        await desk.rollback(desk.ada, MAC)


async def test_rollback_requires_the_permission_to_switch(desk: Desk) -> None:
    await desk.switched()
    first = await desk.last()
    await desk.switched(desk.bob, await desk.profile_of(desk.bob, SECOND))

    # Deployments of others and missing ones have the same message.
    for asked, words in (
        (None, "no earlier deployment that you may"),
        (RollbackRequest(deployment_uuid=first.uuid), "no such deployment"),
        (RollbackRequest(profile_uuid=desk.profile.uuid, revision=1), "no such profile"),
    ):
        with pytest.raises(NotFound, match=words):
            await desk.rollback(desk.bob, MAC, asked)
    assert on_phone(desk) == SECOND
    await desk.rollback(desk.root, MAC)
    assert on_phone(desk) == XML


async def test_rollback_by_the_present_owner_is_allowed(desk: Desk) -> None:
    await deployed(desk, XML, SECOND)
    await desk.give_profile_to(desk.bob)

    with pytest.raises(NotFound):
        await desk.rollback(desk.ada, MAC)
    await desk.rollback(desk.bob, MAC)

    assert on_phone(desk) == XML


async def test_rollback_requester_without_permission_is_refused(desk: Desk) -> None:
    """A deployment may be visible to an account that may not use its profile."""
    await desk.switched()
    made = await desk.last()
    await desk.give_profile_to(desk.bob)
    assert (await desk.deployments.get(desk.ada, made.uuid)).uuid == made.uuid

    with pytest.raises(NotFound):
        await desk.rollback(desk.ada, MAC, RollbackRequest(deployment_uuid=made.uuid))
    await desk.rollback(desk.bob, MAC, RollbackRequest(profile_uuid=desk.profile.uuid, revision=1))


async def test_rollback_has_the_errors_of_a_switch(desk: Desk) -> None:
    await deployed(desk, XML, SECOND)
    desk.uploader.fail_next(Refused("It said no."))
    with pytest.raises(Refused, match="It said no"):
        await desk.rollback(desk.ada, MAC)
    failed = await desk.last()
    assert (failed.action, failed.outcome) == (Action.ROLLBACK, Outcome.FAILED)

    await desk.change_phone(is_active=False)
    with pytest.raises(Conflict, match="not active"):
        await desk.rollback(desk.ada, MAC)
    assert on_phone(desk) == SECOND


# The request


@pytest.mark.parametrize(
    ("fields", "blamed"),
    [
        ({"revision": 1}, {"profile_uuid"}),
        ({"profile_uuid": NOWHERE}, {"revision"}),
        ({"deployment_uuid": NOWHERE, "profile_uuid": NOWHERE}, {"profile_uuid", "revision"}),
        ({"deployment_uuid": NOWHERE, "revision": 1}, {"revision"}),
        ({"profile_uuid": NOWHERE, "revision": 0}, {"revision"}),
        ({"profile_uuid": NOWHERE, "revision": 2**31}, {"revision"}),
        ({"deployment_uuid": "5"}, {"deployment_uuid"}),
    ],
)
def test_rollback_contradictory_fields_are_named(fields: dict[str, Any], blamed: set[str]) -> None:
    with pytest.raises(Invalid) as invalid:
        RollbackRequest(**fields)

    assert {problem.field for problem in invalid.value.problems} == blamed


def test_rollback_record_holds_no_configuration() -> None:
    assert "cnf_xml" not in Deployment.__struct_fields__
