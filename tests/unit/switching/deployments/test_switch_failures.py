"""The outcome of each failure of a switch."""

import dataclasses

import pytest

from phoneprov_adapters.memory.devices import MemoryUploader
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.inventory.profiles.model import Switched
from phoneprov_core.kernel.errors import Conflict, PhoneprovError, Refused, TimedOut
from phoneprov_core.kernel.values import PRIVATE_RANGES
from phoneprov_core.switching.deployments.model import Outcome, StepName
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN
from support.switching import MAC, Desk

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
    desk: Desk, error: PhoneprovError
) -> None:
    desk.uploader.fail_next(error)

    with pytest.raises(type(error)) as raised:
        await desk.switched()

    assert raised.value is error
    assert desk.steps == ["upload"]
    record = await desk.last()
    assert record.outcome is Outcome.FAILED
    assert record.ended_at is not None
    assert [(step.name, step.ok, step.message) for step in record.steps] == [
        (StepName.UPLOAD, False, error.message)
    ]
    assert await desk.is_free()


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
    desk: Desk, error: Exception
) -> None:
    desk.uploader.fail_next(error)

    with pytest.raises((Refused, TimedOut)) as raised:
        await desk.switched()

    assert raised.value.code == OUTCOME_UNKNOWN
    assert "s3cret" not in raised.value.message
    assert desk.steps == ["upload"]
    record = await desk.last()
    assert (record.outcome, record.message) == (Outcome.UNKNOWN, raised.value.message)
    assert record.place == record.filename
    assert await desk.is_free()


async def test_rollback_after_an_unknown_outcome_restores_the_last_known_configuration(
    desk: Desk,
) -> None:
    await desk.switched()
    await desk.save("<device>2</device>")
    desk.uploader.fail_next(TimedOut("late", code=OUTCOME_UNKNOWN))
    with pytest.raises(TimedOut):
        await desk.switched()

    rolled = await desk.rollback(desk.ada, MAC)
    assert rolled.revision == 1


async def test_failed_upload_keeps_the_services_of_the_phone(desk: Desk) -> None:
    await desk.give_services_to(desk.bob)
    desk.uploader.fail_next(Refused("no"))

    with pytest.raises(Refused):
        await desk.switched()

    assert await desk.services_user() == desk.bob.user_uuid


async def test_switch_after_a_failure_succeeds(desk: Desk) -> None:
    desk.uploader.fail_next(TimedOut("no answer"))
    with pytest.raises(TimedOut):
        await desk.switched()

    assert (await desk.switched()).restart == "ok"


async def test_unexpected_error_is_recorded_as_an_interruption(desk: Desk) -> None:
    async def fail_unexpectedly() -> None:
        raise ZeroDivisionError

    desk.at("upload", fail_unexpectedly)

    with pytest.raises(ZeroDivisionError):
        await desk.switched()

    record = await desk.last()
    assert (record.outcome, record.steps[0].ok) == (Outcome.INTERRUPTED, False)
    assert await desk.is_free()


async def test_switch_phone_without_address_fails_the_upload(desk: Desk) -> None:
    await desk.change_phone(phone_ip=None)

    with pytest.raises(Conflict) as conflict:
        await desk.switched()

    assert conflict.value.code == "no_address"
    assert (await desk.last()).outcome is Outcome.FAILED


# A session that cannot be cleared


@pytest.mark.parametrize("error", [Refused("The phone is out."), TimedOut("The phone is mute.")])
async def test_switch_failed_clear_continues_with_the_restart(
    desk: Desk, error: PhoneprovError
) -> None:
    desk.phone.fail(error)

    answer = await desk.switched()

    assert answer.restart == "ok"
    assert desk.steps == ["upload", "clear", "restart"]
    record = await desk.last()
    assert record.outcome is Outcome.DEPLOYED
    assert [(step.ok, step.message) for step in record.steps] == [
        (True, None),
        (False, error.message),
        (True, None),
    ]


async def test_switch_without_address_clears_the_stored_session(desk: Desk) -> None:
    uploader = MemoryUploader(PhoneNetworks.parse(PRIVATE_RANGES), host="10.0.0.5")
    desk.deploy = dataclasses.replace(desk.deploy, uploader=uploader)
    desk.switch = dataclasses.replace(desk.switch, deploy=desk.deploy)
    await desk.change_phone(phone_ip=None)
    await desk.give_services_to(desk.bob)
    seen: list[str | None] = []

    async def observe() -> None:
        seen.append(await desk.services_user())

    desk.at("restart", observe)
    answer = await desk.switched()

    assert answer.restart == "ok"
    assert seen == [desk.ada.user_uuid]
    clear = (await desk.last()).steps[1]
    assert not clear.ok
    assert clear.message is not None
    assert "phone_ip" in clear.message
    assert list(uploader.files) == ["10.0.0.5:21"]


# A failed restart


async def test_switch_failed_restart_is_part_of_the_result(desk: Desk) -> None:
    desk.manager.fail(TimedOut("The manager did not answer in time."))

    answer = await desk.switched()

    assert answer == Switched("Ada at the desk", MAC, "The manager did not answer in time.")
    record = await desk.last()
    assert record.outcome is Outcome.DEPLOYED
    assert [step.ok for step in record.steps] == [True, True, False]
    assert record.steps[2].message == answer.restart
    assert await desk.services_user() == desk.ada.user_uuid
    assert await desk.is_free()
