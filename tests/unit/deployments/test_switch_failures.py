"""The outcome of each failure of a switch."""

import dataclasses

import pytest

from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_adapters.runtime.networks import PRIVATE_RANGES, PhoneNetworks
from phoneprov_core.deployments.model import Outcome, StepName
from phoneprov_core.desk_records import DeskRecord, DeskUse
from phoneprov_core.devices.errors import OUTCOME_UNKNOWN
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, Refused, TimedOut
from phoneprov_core.kernel.system import shown
from phoneprov_core.phones.model import PhonePatch
from phoneprov_core.profiles.model import Profile, ProfilePatch, Switched
from support.office import Office
from support.switching import MAC, Journal, is_free, last_deployment, services_user, switch

# A failed upload


@pytest.mark.parametrize(
    "error",
    [
        Refused("The server refused the upload."),
        TimedOut("The server did not answer while uploading."),
        Conflict("The phone's address is not allowed.", code="address_not_allowed"),
    ],
)
async def test_failed_upload_restarts_nothing_and_is_raised(
    office: Office, ada: Actor, profile: Profile, journal: Journal, error: PhoneprovError
) -> None:
    office.uploader.fail_next(error)

    with pytest.raises(type(error)) as raised:
        await switch(office, ada, profile)

    assert raised.value is error
    assert journal.steps == ["upload"]
    record = await last_deployment(office)
    assert record.outcome is Outcome.FAILED
    assert record.ended_at is not None
    assert [(step.name, step.ok, step.message) for step in record.steps] == [
        (StepName.UPLOAD, False, error.message)
    ]
    assert await is_free(office)


@pytest.mark.parametrize(
    "error",
    [
        Refused("The server went away while verifying.", code=OUTCOME_UNKNOWN),
        TimedOut("The server did not answer while renaming.", code=OUTCOME_UNKNOWN),
        PermissionError(13, "s3cret"),
        ConnectionError("s3cret"),
        TimeoutError(),
    ],
)
async def test_switch_upload_with_unknown_outcome_is_recorded_as_unknown(
    office: Office, ada: Actor, profile: Profile, journal: Journal, error: Exception
) -> None:
    office.uploader.fail_next(error)

    with pytest.raises((Refused, TimedOut)) as raised:
        await switch(office, ada, profile)

    assert raised.value.code == OUTCOME_UNKNOWN
    assert "s3cret" not in raised.value.message
    assert journal.steps == ["upload"]
    record = await last_deployment(office)
    assert (record.outcome, record.message) == (Outcome.UNKNOWN, raised.value.message)
    assert record.place == record.filename
    assert await is_free(office)


async def test_rollback_after_an_unknown_outcome_restores_the_last_known_configuration(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)
    await office.profiles.update(ada, profile.uuid, ProfilePatch(cnf_xml="<device>2</device>"))
    office.uploader.fail_next(TimedOut("late", code=OUTCOME_UNKNOWN))
    with pytest.raises(TimedOut):
        await switch(office, ada, profile)

    rolled = await office.rollback(ada, MAC)
    assert rolled.revision == 1


async def test_failed_upload_keeps_the_services_of_the_phone(
    office: Office, ada: Actor, bob: Actor, profile: Profile
) -> None:
    async with office.database.write() as tx:
        await tx.desks.put(DeskRecord(MAC).used(DeskUse(bob.user_uuid), shown(office.clock())))
    office.uploader.fail_next(Refused("no"))

    with pytest.raises(Refused):
        await switch(office, ada, profile)

    assert await services_user(office) == bob.user_uuid


async def test_switch_after_a_failure_succeeds(
    office: Office, ada: Actor, profile: Profile
) -> None:
    office.uploader.fail_next(TimedOut("no answer"))
    with pytest.raises(TimedOut):
        await switch(office, ada, profile)

    assert (await switch(office, ada, profile)).restart == "ok"


async def test_unexpected_error_is_recorded_as_an_interruption(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    async def fail_unexpectedly() -> None:
        raise ZeroDivisionError

    journal.at("upload", fail_unexpectedly)

    with pytest.raises(ZeroDivisionError):
        await switch(office, ada, profile)

    record = await last_deployment(office)
    assert (record.outcome, record.steps[0].ok) == (Outcome.INTERRUPTED, False)
    assert await is_free(office)


async def test_switch_phone_without_address_fails_the_upload(
    office: Office, root: Actor, ada: Actor, profile: Profile
) -> None:
    await office.phones.update(root, MAC, PhonePatch(phone_ip=None))

    with pytest.raises(Conflict) as conflict:
        await switch(office, ada, profile)

    assert conflict.value.code == "no_address"
    assert (await last_deployment(office)).outcome is Outcome.FAILED


# A session that cannot be cleared


@pytest.mark.parametrize("error", [Refused("The phone is out."), TimedOut("The phone is mute.")])
async def test_switch_failed_clear_continues_with_the_restart(
    office: Office, ada: Actor, profile: Profile, journal: Journal, error: PhoneprovError
) -> None:
    office.phone.fail(error)

    answer = await switch(office, ada, profile)

    assert answer.restart == "ok"
    assert journal.steps == ["upload", "clear", "restart"]
    record = await last_deployment(office)
    assert record.outcome is Outcome.DEPLOYED
    assert [(step.ok, step.message) for step in record.steps] == [
        (True, None),
        (False, error.message),
        (True, None),
    ]


async def test_switch_without_address_clears_the_stored_session(
    office: Office, root: Actor, ada: Actor, bob: Actor, profile: Profile, journal: Journal
) -> None:
    uploader = MemoryUploader(PhoneNetworks.parse(PRIVATE_RANGES), host="10.0.0.5")
    office.deploy = dataclasses.replace(office.deploy, uploader=uploader)
    office.switch = dataclasses.replace(office.switch, deploy=office.deploy)
    await office.phones.update(root, MAC, PhonePatch(phone_ip=None))
    async with office.database.write() as tx:
        await tx.desks.put(DeskRecord(MAC).used(DeskUse(bob.user_uuid), shown(office.clock())))
    seen: list[str | None] = []

    async def observe() -> None:
        seen.append(await services_user(office))

    journal.at("restart", observe)
    answer = await switch(office, ada, profile)

    assert answer.restart == "ok"
    assert seen == [ada.user_uuid]
    clear = (await last_deployment(office)).steps[1]
    assert not clear.ok
    assert clear.message is not None
    assert "phone_ip" in clear.message
    assert list(uploader.files) == ["10.0.0.5:21"]


# A failed restart


async def test_switch_failed_restart_is_part_of_the_result(
    office: Office, ada: Actor, profile: Profile
) -> None:
    office.manager.fail(TimedOut("The manager did not answer in time."))

    answer = await switch(office, ada, profile)

    assert answer == Switched("Ada at the desk", MAC, "The manager did not answer in time.")
    record = await last_deployment(office)
    assert record.outcome is Outcome.DEPLOYED
    assert [step.ok for step in record.steps] == [True, True, False]
    assert record.steps[2].message == answer.restart
    assert await services_user(office) == ada.user_uuid
    assert await is_free(office)
