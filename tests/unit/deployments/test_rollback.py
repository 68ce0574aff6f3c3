"""Rollback to the previous configuration of a phone, or to any revision."""

from typing import Any

import pytest

from phoneprov_core.deployments.model import Action, Deployment, Outcome, StepName
from phoneprov_core.deployments.rollback import RollbackRequest
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, Invalid, NotFound, Refused
from phoneprov_core.phones.model import PhonePatch
from phoneprov_core.profiles.model import CreateProfile, Profile, ProfilePatch
from support.office import Office
from support.switching import (
    MAC,
    NOWHERE,
    XML,
    Journal,
    a_desk,
    deployments,
    last_deployment,
    switch,
)

SECOND, THIRD = "<device><second/></device>", "<device><third/></device>"
OTHER = "00:1B:D4:12:34:99"


def on_phone(office: Office) -> str:
    return office.uploader.files["10.20.30.40:21"]["SEP001BD4123456.cnf.xml"].decode()


async def deployed(office: Office, actor: Actor, profile: Profile, *xmls: str) -> None:
    """Switch the phone to each of these configurations in order."""
    for xml in xmls:
        await office.profiles.update(actor, profile.uuid, ProfilePatch(cnf_xml=xml))
        await switch(office, actor, profile)


async def test_rollback_restores_the_previous_configuration(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    await deployed(office, ada, profile, XML, SECOND)
    journal.steps.clear()

    made = await office.rollback(ada, MAC)

    assert on_phone(office) == XML
    assert made == await last_deployment(office)
    assert (made.action, made.revision, made.profile_uuid) == (Action.ROLLBACK, 1, profile.uuid)
    assert (made.user_uuid, made.restart) == (ada.user_uuid, "ok")
    assert journal.steps == ["upload", "clear", "restart"]


async def test_rollback_twice_restores_the_first_configuration(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await deployed(office, ada, profile, XML, SECOND)

    await office.rollback(ada, MAC)
    await office.rollback(ada, MAC)

    assert on_phone(office) == SECOND


async def test_rollback_skips_deployments_of_the_same_configuration(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await deployed(office, ada, profile, XML, SECOND, SECOND)
    office.uploader.fail_next(Refused("no"))
    with pytest.raises(Refused):
        await deployed(office, ada, profile, THIRD)

    await office.rollback(ada, MAC)

    assert on_phone(office) == XML


async def test_rollback_to_a_deployment_restores_its_revision(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await deployed(office, ada, profile, XML, SECOND, THIRD)
    first = (await deployments(office))[0]

    await office.rollback(ada, MAC, RollbackRequest(deployment_uuid=first.uuid.upper()))

    assert on_phone(office) == XML


async def test_rollback_to_a_failed_deployment_is_allowed(
    office: Office, ada: Actor, profile: Profile
) -> None:
    office.uploader.fail_next(Refused("no"))
    with pytest.raises(Refused):
        await switch(office, ada, profile)
    failed = await last_deployment(office)
    assert failed.outcome is Outcome.FAILED

    await office.rollback(ada, MAC, RollbackRequest(deployment_uuid=failed.uuid))

    assert on_phone(office) == XML


async def test_rollback_to_any_revision_is_allowed(
    office: Office, ada: Actor, profile: Profile
) -> None:
    for xml in (SECOND, THIRD):
        await office.profiles.update(ada, profile.uuid, ProfilePatch(cnf_xml=xml))

    made = await office.rollback(ada, MAC, RollbackRequest(profile_uuid=profile.uuid, revision=2))

    assert (on_phone(office), made.revision) == (SECOND, 2)


async def test_rollback_reports_its_progress(office: Office, ada: Actor, profile: Profile) -> None:
    await deployed(office, ada, profile, XML, SECOND)
    steps: list[tuple[StepName, bool]] = []

    await office.rollback(ada, MAC, None, lambda name, step: steps.append((name, step is None)))

    assert steps == [(name, begins) for name in list(StepName)[:3] for begins in (True, False)]


# Refusals


async def test_rollback_without_previous_deployment_is_refused(
    office: Office, ada: Actor, profile: Profile
) -> None:
    for _ in range(2):
        with pytest.raises(NotFound, match="no earlier deployment that you may"):
            await office.rollback(ada, MAC)
        await switch(office, ada, profile)


@pytest.mark.parametrize("mac", [OTHER, "nonsense", ""])
async def test_rollback_of_unknown_phone_is_not_found(
    office: Office, ada: Actor, profile: Profile, mac: str
) -> None:
    with pytest.raises(NotFound, match="phone"):
        await office.rollback(ada, mac)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (RollbackRequest(deployment_uuid=NOWHERE), "no such deployment"),
        (RollbackRequest(profile_uuid=NOWHERE, revision=1), "profile"),
    ],
)
async def test_rollback_to_unknown_deployment_is_not_found(
    office: Office, ada: Actor, profile: Profile, request_: RollbackRequest, words: str
) -> None:
    with pytest.raises(NotFound, match=words):
        await office.rollback(ada, MAC, request_)


async def test_rollback_to_unknown_revision_is_not_found(
    office: Office, ada: Actor, profile: Profile
) -> None:
    with pytest.raises(NotFound, match="revision"):
        await office.rollback(ada, MAC, RollbackRequest(profile_uuid=profile.uuid, revision=2))


async def test_rollback_to_a_deployment_of_another_phone_is_not_found(
    office: Office, root: Actor, ada: Actor, profile: Profile
) -> None:
    elsewhere = await a_desk(office, root, ada, mac=OTHER)
    await switch(office, ada, elsewhere, OTHER)
    uuid = (await last_deployment(office)).uuid

    with pytest.raises(NotFound):
        await office.rollback(ada, MAC, RollbackRequest(deployment_uuid=uuid))


async def test_rollback_to_a_deleted_profile_is_refused(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)
    new = CreateProfile(user_uuid=ada.user_uuid, name="Another", cnf_xml=SECOND)
    await switch(office, ada, await office.profiles.create(ada, new))
    await office.profiles.delete(ada, profile.uuid)

    with pytest.raises(NotFound, match="was deleted"):
        await office.rollback(ada, MAC)


async def test_rollback_requires_the_permission_to_switch(
    office: Office, root: Actor, ada: Actor, bob: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)
    first = await last_deployment(office)
    new = CreateProfile(user_uuid=bob.user_uuid, name="Bob", cnf_xml=SECOND)
    await switch(office, bob, await office.profiles.create(bob, new))

    # Deployments of others and missing ones have the same message.
    for asked, words in (
        (None, "no earlier deployment that you may"),
        (RollbackRequest(deployment_uuid=first.uuid), "no such deployment"),
        (RollbackRequest(profile_uuid=profile.uuid, revision=1), "no such profile"),
    ):
        with pytest.raises(NotFound, match=words):
            await office.rollback(bob, MAC, asked)
    assert on_phone(office) == SECOND
    await office.rollback(root, MAC)
    assert on_phone(office) == XML


async def test_rollback_by_the_present_owner_is_allowed(
    office: Office, root: Actor, ada: Actor, bob: Actor, profile: Profile
) -> None:
    await deployed(office, ada, profile, XML, SECOND)
    await office.profiles.update(root, profile.uuid, ProfilePatch(user_uuid=bob.user_uuid))

    with pytest.raises(NotFound):
        await office.rollback(ada, MAC)
    await office.rollback(bob, MAC)

    assert on_phone(office) == XML


async def test_rollback_requester_without_permission_is_refused(
    office: Office, root: Actor, ada: Actor, bob: Actor, profile: Profile
) -> None:
    """A deployment may be visible to an account that may not use its profile."""
    await switch(office, ada, profile)
    made = await last_deployment(office)
    await office.profiles.update(root, profile.uuid, ProfilePatch(user_uuid=bob.user_uuid))
    assert (await office.deployments.get(ada, made.uuid)).uuid == made.uuid

    with pytest.raises(NotFound):
        await office.rollback(ada, MAC, RollbackRequest(deployment_uuid=made.uuid))
    await office.rollback(bob, MAC, RollbackRequest(profile_uuid=profile.uuid, revision=1))


async def test_rollback_has_the_errors_of_a_switch(
    office: Office, root: Actor, ada: Actor, profile: Profile
) -> None:
    await deployed(office, ada, profile, XML, SECOND)
    office.uploader.fail_next(Refused("It said no."))
    with pytest.raises(Refused, match="It said no"):
        await office.rollback(ada, MAC)
    failed = await last_deployment(office)
    assert (failed.action, failed.outcome) == (Action.ROLLBACK, Outcome.FAILED)

    await office.phones.update(root, MAC, PhonePatch(is_active=False))
    with pytest.raises(Conflict, match="not active"):
        await office.rollback(ada, MAC)
    assert on_phone(office) == SECOND


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
