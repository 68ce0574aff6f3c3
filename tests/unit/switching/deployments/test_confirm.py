"""Confirmation of a switch: the background watch records whether the phone registered again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import msgspec
import pytest

from phoneprov_core.features.lines.use_cases import CompareLines
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Actor
from phoneprov_core.kernel.errors import Refused, TimedOut, Unavailable
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.confirm import CONFIRM_SECONDS
from phoneprov_core.switching.deployments.deploy import SwitchProfile
from phoneprov_core.switching.deployments.model import (
    Confirmation,
    Deployment,
    Outcome,
    Step,
    StepName,
)
from phoneprov_core.switching.devices.commands import RestartBy
from phoneprov_core.switching.errors import REPLY_LOST, NotRecorded
from phoneprov_http.main.commands.terminal import how_it_went, is_seen_through, lines_of
from support.office import Settings
from support.phone_records import a_deployment
from support.switching import MAC, Desk

BACK = "The phone was seen."


@pytest.fixture
async def desk() -> Desk:
    return await Desk.of(Settings(with_watch=True))


async def confirmed(desk: Desk) -> tuple[Confirmation, str | None, str | None]:
    record = await desk.last()
    return record.confirmation, record.confirmation_message, record.confirmation_at


async def test_phone_that_registers_again_is_confirmed(desk: Desk) -> None:
    assert (await desk.switched()).restart == "ok"
    record = await desk.last()
    assert (record.confirmation, record.confirmation_at) == (Confirmation.PENDING, None)
    assert record.confirmation_by is not None
    assert record.confirmation_by > timestamp(desk.clock())

    desk.clock.advance(41)
    desk.watch.comes_back(MAC, BACK)
    await desk.background.done()

    assert await confirmed(desk) == (Confirmation.CONFIRMED, BACK, timestamp(desk.clock()))
    assert desk.watch.watched == []


@pytest.mark.parametrize("error", [TimedOut("It stayed away."), Refused("It is another.")])
async def test_phone_that_does_not_register_is_not_confirmed(
    desk: Desk, error: TimedOut | Refused
) -> None:
    await desk.switched()
    desk.watch.goes_missing(MAC, error)
    await desk.background.done()

    expected = (Confirmation.NOT_CONFIRMED, error.message, timestamp(desk.clock()))
    assert await confirmed(desk) == expected
    assert desk.watch.watched == []


async def test_watch_starts_after_the_upload_and_before_the_restart(desk: Desk) -> None:
    seen: dict[str, list[str]] = {}

    for step in ("upload", "restart"):

        async def observe(step: str = step) -> None:
            seen[step] = list(desk.watch.watched)

        desk.at(step, observe)
    await desk.switched()

    assert seen == {"upload": [], "restart": [MAC]}
    desk.watch.comes_back(MAC)
    await desk.background.done()


async def test_registration_after_a_later_deployment_does_not_confirm(desk: Desk) -> None:
    await desk.switched()
    first = await desk.last()
    await desk.switched()
    second = await desk.last()
    desk.watch.comes_back(MAC, BACK)
    await desk.background.done()

    found = [await desk.deployments.get(desk.ada, one.uuid) for one in (first, second)]

    assert [one.confirmation for one in found] == [
        Confirmation.NOT_CONFIRMED,
        Confirmation.CONFIRMED,
    ]
    assert "Another deployment" in (found[0].confirmation_message or "")


async def test_journal_records_deployment_and_confirmation(desk: Desk) -> None:
    await desk.switched()
    desk.watch.comes_back(MAC, BACK)
    await desk.background.done()

    assert [one.confirmation for one in desk.journal] == [
        Confirmation.PENDING,
        Confirmation.CONFIRMED,
    ]
    assert desk.journal[-1] == await desk.last()


@pytest.mark.parametrize(
    "error", [Refused("reset", code=REPLY_LOST), TimedOut("late", code=REPLY_LOST), OSError("lost")]
)
async def test_lost_reply_to_the_restart_is_neither_and_the_watch_decides(
    desk: Desk, error: Exception
) -> None:
    desk.manager.fail(error)

    switched = await desk.switched()

    record = await desk.last()
    assert record.restarted is None
    assert (record.outcome, record.steps[-1].ok) == (Outcome.DEPLOYED, None)
    assert record.restart == switched.restart != "ok"
    assert record.confirmation is Confirmation.PENDING
    assert how_it_went(record).startswith("deployed, not known whether the phone restarts")
    assert not is_seen_through(record)

    desk.watch.comes_back(MAC, BACK)
    await desk.background.done()
    record = await desk.last()
    assert record.confirmation is Confirmation.CONFIRMED
    assert how_it_went(record, briefly=True) == "deployed, restarted, confirmed"
    assert is_seen_through(record)


async def test_lost_reply_to_the_restart_without_a_watch_stays_unknown(desk: Desk) -> None:
    desk.watch.refuse(Refused("Not today."))
    desk.manager.fail(Refused("reset", code=REPLY_LOST))

    await desk.switched()

    record = await desk.last()
    assert (record.restarted, record.confirmation) == (None, Confirmation.NONE)
    assert "not watched: Not today." in how_it_went(record)


# Without a watch


async def test_unwatchable_phone_is_restarted(desk: Desk) -> None:
    desk.watch.refuse(Refused("Not today."))

    assert (await desk.switched()).restart == "ok"

    record = await desk.last()
    assert (record.confirmation, record.confirmation_by) == (Confirmation.NONE, None)
    assert record.confirmation_message == "Not today."


async def test_phone_without_restart_is_not_watched(desk: Desk) -> None:
    desk.manager.fail(TimedOut("The manager did not answer in time."))

    await desk.switched()

    record = await desk.last()
    assert record.confirmation is Confirmation.NONE
    assert record.confirmation_message == "The phone was not restarted."
    assert desk.watch.watched == []


async def test_failed_upload_starts_no_watch(desk: Desk) -> None:
    desk.uploader.fail_next(Refused("no"))
    with pytest.raises(Refused):
        await desk.switched()

    assert desk.watch.watched == []
    assert (await desk.last()).confirmation is Confirmation.NONE


@pytest.mark.parametrize(
    ("step", "confirmation"),
    [
        ("upload", Confirmation.NONE),
        ("clear", Confirmation.NONE),
        ("restart", Confirmation.PENDING),  # the next start of the service resumes it
    ],
)
async def test_cancelled_switch_leaves_no_watch(
    desk: Desk, step: str, confirmation: Confirmation
) -> None:
    gate = desk.gate(step)
    task = asyncio.create_task(desk.switched())
    await gate.reached.wait()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert desk.watch.watched == []
    assert (await desk.last()).confirmation is confirmation


async def test_watch_that_ends_while_the_database_is_away_is_stored_later(desk: Desk) -> None:
    await desk.switched()
    desk.clock.advance(41)
    seen_at = timestamp(desk.clock())
    await desk.database.close()
    desk.watch.comes_back(MAC, BACK)
    for _ in range(20):
        await asyncio.sleep(0)
    desk.clock.advance(30)
    await desk.database.open()
    await desk.background.done()

    assert await confirmed(desk) == (Confirmation.CONFIRMED, BACK, seen_at)
    assert [one.confirmation for one in desk.journal[1:]] == [Confirmation.CONFIRMED]


async def test_watch_whose_commit_lost_its_reply_is_stored_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.switched()
    write, is_lost = desk.database.write, True

    @asynccontextmanager
    async def losing(by: Actor = SYSTEM_ACTOR) -> AsyncIterator[Any]:
        nonlocal is_lost
        async with write(by=by) as tx:
            yield tx
        if is_lost:
            is_lost = False
            raise Unavailable

    monkeypatch.setattr(desk.database, "write", losing)
    confirm = desk.deploy.confirm
    step = Step(StepName.LINES, True, "The exchange has 1001.", 3)
    record = await desk.last()
    decided = await confirm._decide(record, Confirmation.CONFIRMED, BACK, (step,))

    kept = await desk.last()
    assert kept.steps == (*record.steps, step)
    assert kept == decided
    assert [one.confirmation for one in desk.journal[1:]] == [Confirmation.CONFIRMED]


async def test_end_that_is_never_stored_leaves_no_watch(desk: Desk) -> None:
    desk.at("restart", desk.database.close)
    with pytest.raises(NotRecorded):
        await desk.switched()

    desk.watch.comes_back(MAC)
    await desk.background.done()
    assert desk.watch.watched == []


async def test_switch_with_restarts_disabled_starts_no_watch() -> None:
    desk = await Desk.of(Settings(with_watch=True, restart=RestartBy.NONE))
    await desk.switched()

    assert desk.watch.watched == []


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


async def test_confirmation_pending_is_evaluated_at_read_time(desk: Desk) -> None:
    await desk.switched()
    uuid = (await desk.last()).uuid
    assert (await desk.deployments.get(desk.ada, uuid)).confirmation is Confirmation.PENDING

    desk.clock.advance(CONFIRM_SECONDS + 11)

    read = [
        await desk.deployments.get(desk.ada, uuid),
        await desk.deployments.current(desk.ada, MAC),
        *(await desk.deployments.all(desk.ada)).first,
        *(await desk.deployments.of_phone(desk.ada, MAC)).first,
    ]
    assert {one.confirmation for one in read} == {Confirmation.NOT_CONFIRMED}
    desk.watch.comes_back(MAC)
    await desk.background.done()


@pytest.mark.parametrize("has_fetched", [False, True])
async def test_lines_are_read_back_once_the_phone_is_confirmed(
    desk: Desk, *, has_fetched: bool
) -> None:
    async def compare(mac: str) -> tuple[bool | None, str]:
        assert mac == MAC
        desk.clock.advance(2)
        return False, "Asterisk has no line at the phone."

    confirm = replace(desk.deploy.confirm, compare_lines=cast("CompareLines", compare))
    desk.switch = SwitchProfile(desk.database, replace(desk.deploy, confirm=confirm))
    await desk.switched()
    if has_fetched:
        record = await desk.last()
        async with desk.database.write() as tx:
            fetched = msgspec.structs.replace(record, confirmation=Confirmation.CONFIRMED)
            await tx.deployments.put(fetched)
    desk.watch.comes_back(MAC, BACK)
    await desk.background.done()

    record = await desk.last()
    assert record.confirmation is Confirmation.CONFIRMED
    expected = Step(StepName.LINES, False, "Asterisk has no line at the phone.", 2000)
    assert record.steps[-1] == expected
    assert [step.name for step in record.steps] == list(StepName)
    assert lines_of(record) == "; Asterisk has no line at the phone."
    assert lines_of(msgspec.structs.replace(record, steps=record.steps[:-1])) == ""
