"""Confirmation of a switch: the background watch records whether the phone registered again."""

import asyncio
from dataclasses import replace
from typing import cast

import msgspec
import pytest

from phoneprov_core.deployments.confirm import CONFIRM_SECONDS
from phoneprov_core.deployments.model import Confirmation, Deployment, Outcome, Step, StepName
from phoneprov_core.deployments.use_cases import SwitchProfile
from phoneprov_core.devices.errors import REPLY_LOST
from phoneprov_core.devices.restart import RestartBy
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.kernel.system import shown
from phoneprov_core.lines.comparison import CompareLines
from phoneprov_core.profiles.model import Profile
from phoneprov_http.main.commands.output import how_it_went, is_seen_through, lines_of
from support.office import Office, Settings
from support.phone_records import a_deployment
from support.switching import MAC, Journal, a_desk, last_deployment, switch

BACK = "The phone was seen."


@pytest.fixture
def office() -> Office:
    return Office(Settings(with_watch=True))


async def confirmed(office: Office) -> tuple[Confirmation, str | None, str | None]:
    record = await last_deployment(office)
    return record.confirmation, record.confirmation_message, record.confirmation_at


async def test_phone_that_registers_again_is_confirmed(
    office: Office, ada: Actor, profile: Profile
) -> None:
    assert (await switch(office, ada, profile)).restart == "ok"
    record = await last_deployment(office)
    assert (record.confirmation, record.confirmation_at) == (Confirmation.PENDING, None)
    assert record.confirmation_by is not None
    assert record.confirmation_by > shown(office.clock())

    office.clock.advance(41)
    office.watch.comes_back(MAC, BACK)
    await office.background.done()

    assert await confirmed(office) == (Confirmation.CONFIRMED, BACK, shown(office.clock()))
    assert office.watch.watched == []


@pytest.mark.parametrize("error", [TimedOut("It stayed away."), Refused("It is another.")])
async def test_phone_that_does_not_register_is_not_confirmed(
    office: Office, ada: Actor, profile: Profile, error: TimedOut | Refused
) -> None:
    await switch(office, ada, profile)
    office.watch.goes_missing(MAC, error)
    await office.background.done()

    expected = (Confirmation.NOT_CONFIRMED, error.message, shown(office.clock()))
    assert await confirmed(office) == expected
    assert office.watch.watched == []


async def test_watch_starts_after_the_upload_and_before_the_restart(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    seen: dict[str, list[str]] = {}

    for step in ("upload", "restart"):

        async def observe(step: str = step) -> None:
            seen[step] = list(office.watch.watched)

        journal.at(step, observe)
    await switch(office, ada, profile)

    assert seen == {"upload": [], "restart": [MAC]}
    office.watch.comes_back(MAC)
    await office.background.done()


async def test_registration_after_a_later_deployment_does_not_confirm(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)
    first = await last_deployment(office)
    await switch(office, ada, profile)
    second = await last_deployment(office)
    office.watch.comes_back(MAC, BACK)
    await office.background.done()

    found = [await office.deployments.get(ada, one.uuid) for one in (first, second)]

    assert [one.confirmation for one in found] == [
        Confirmation.NOT_CONFIRMED,
        Confirmation.CONFIRMED,
    ]
    assert "Another deployment" in (found[0].confirmation_message or "")


async def test_journal_records_deployment_and_confirmation(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)
    office.watch.comes_back(MAC, BACK)
    await office.background.done()

    assert [one.confirmation for one in office.journal] == [
        Confirmation.PENDING,
        Confirmation.CONFIRMED,
    ]
    assert office.journal[-1] == await last_deployment(office)


@pytest.mark.parametrize(
    "error", [Refused("reset", code=REPLY_LOST), TimedOut("late", code=REPLY_LOST), OSError("lost")]
)
async def test_lost_reply_to_the_restart_is_neither_and_the_watch_decides(
    office: Office, ada: Actor, profile: Profile, error: Exception
) -> None:
    office.manager.fail(error)

    switched = await switch(office, ada, profile)

    record = await last_deployment(office)
    assert record.restarted is None
    assert (record.outcome, record.steps[-1].ok) == (Outcome.DEPLOYED, None)
    assert record.restart == switched.restart != "ok"
    assert record.confirmation is Confirmation.PENDING
    assert how_it_went(record).startswith("deployed, not known whether the phone restarts")
    assert not is_seen_through(record)

    office.watch.comes_back(MAC, BACK)
    await office.background.done()
    record = await last_deployment(office)
    assert record.confirmation is Confirmation.CONFIRMED
    assert how_it_went(record, briefly=True) == "deployed, restarted, confirmed"
    assert is_seen_through(record)


async def test_lost_reply_to_the_restart_without_a_watch_stays_unknown(
    office: Office, ada: Actor, profile: Profile
) -> None:
    office.watch.refuse(Refused("Not today."))
    office.manager.fail(Refused("reset", code=REPLY_LOST))

    await switch(office, ada, profile)

    record = await last_deployment(office)
    assert (record.restarted, record.confirmation) == (None, Confirmation.NONE)
    assert "not watched: Not today." in how_it_went(record)


# Without a watch


async def test_unwatchable_phone_is_restarted(office: Office, ada: Actor, profile: Profile) -> None:
    office.watch.refuse(Refused("Not today."))

    assert (await switch(office, ada, profile)).restart == "ok"

    record = await last_deployment(office)
    assert (record.confirmation, record.confirmation_by) == (Confirmation.NONE, None)
    assert record.confirmation_message == "Not today."


async def test_phone_without_restart_is_not_watched(
    office: Office, ada: Actor, profile: Profile
) -> None:
    office.manager.fail(TimedOut("The manager did not answer in time."))

    await switch(office, ada, profile)

    record = await last_deployment(office)
    assert record.confirmation is Confirmation.NONE
    assert record.confirmation_message == "The phone was not restarted."
    assert office.watch.watched == []


async def test_failed_upload_starts_no_watch(office: Office, ada: Actor, profile: Profile) -> None:
    office.uploader.fail_next(Refused("no"))
    with pytest.raises(Refused):
        await switch(office, ada, profile)

    assert office.watch.watched == []
    assert (await last_deployment(office)).confirmation is Confirmation.NONE


@pytest.mark.parametrize("step", ["upload", "clear", "restart"])
async def test_cancelled_switch_leaves_no_watch(
    office: Office, ada: Actor, profile: Profile, journal: Journal, step: str
) -> None:
    gate = journal.gate(step)
    task = asyncio.create_task(switch(office, ada, profile))
    await gate.reached.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert office.watch.watched == []
    assert (await last_deployment(office)).confirmation is Confirmation.NONE


async def test_database_unavailable_at_the_end_leaves_no_watch(
    office: Office, ada: Actor, profile: Profile, journal: Journal
) -> None:
    journal.at("restart", office.database.close)
    with pytest.raises(Exception, match="not open"):
        await switch(office, ada, profile)

    assert office.watch.watched == []


async def test_switch_with_restarts_disabled_starts_no_watch() -> None:
    office = Office(Settings(with_watch=True, restart=RestartBy.NONE))
    root = await office.add_user("root", level=0)
    await switch(office, root, await a_desk(office, root, root))

    assert office.watch.watched == []


# With an interrupted watch


def pending(by: str) -> Deployment:
    return a_deployment(1, MAC, confirmation=Confirmation.PENDING, confirmation_by=by)


def test_confirmation_overdue_is_not_confirmed() -> None:
    by = "2026-01-31T08:17:30.250Z"
    record = pending(by)

    assert record.as_of(by) is record
    late = record.as_of("2026-01-31T08:17:30.251Z")

    assert late.confirmation is Confirmation.NOT_CONFIRMED
    assert late.confirmation_at == by
    assert late.confirmation_message
    decided = msgspec.structs.replace(late, confirmation=Confirmation.CONFIRMED)
    assert decided.as_of("2027-01-31T08:17:30.251Z") is decided


async def test_confirmation_pending_is_evaluated_at_read_time(
    office: Office, ada: Actor, profile: Profile
) -> None:
    await switch(office, ada, profile)
    uuid = (await last_deployment(office)).uuid
    assert (await office.deployments.get(ada, uuid)).confirmation is Confirmation.PENDING

    office.clock.advance(CONFIRM_SECONDS + 11)

    read = [
        await office.deployments.get(ada, uuid),
        await office.deployments.current(ada, MAC),
        *(await office.deployments.all(ada)).first,
        *(await office.deployments.of_phone(ada, MAC)).first,
    ]
    assert {one.confirmation for one in read} == {Confirmation.NOT_CONFIRMED}
    office.watch.comes_back(MAC)
    await office.background.done()


@pytest.mark.parametrize("has_fetched", [False, True])
async def test_lines_are_read_back_once_the_phone_is_confirmed(
    office: Office, ada: Actor, profile: Profile, *, has_fetched: bool
) -> None:
    async def compare(mac: str) -> tuple[bool | None, str]:
        assert mac == MAC
        office.clock.advance(2)
        return False, "Asterisk has no line at the phone."

    confirm = replace(office.deploy.confirm, compare_lines=cast("CompareLines", compare))
    office.switch = SwitchProfile(office.database, replace(office.deploy, confirm=confirm))
    await switch(office, ada, profile)
    if has_fetched:
        record = await last_deployment(office)
        async with office.database.write() as tx:
            fetched = msgspec.structs.replace(record, confirmation=Confirmation.CONFIRMED)
            await tx.deployments.put(fetched)
    office.watch.comes_back(MAC, BACK)
    await office.background.done()

    record = await last_deployment(office)
    assert record.confirmation is Confirmation.CONFIRMED
    expected = Step(StepName.LINES, False, "Asterisk has no line at the phone.", 2000)
    assert record.steps[-1] == expected
    assert [step.name for step in record.steps] == list(StepName)
    assert lines_of(record) == "; Asterisk has no line at the phone."
    assert lines_of(msgspec.structs.replace(record, steps=record.steps[:-1])) == ""
