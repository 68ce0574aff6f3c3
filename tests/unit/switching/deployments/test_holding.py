"""Leases that are lost, and databases that are away, in the middle of a switch."""

import asyncio
from typing import Any

import pytest

from phoneprov_adapters.sql.stores.switching import SqlDeployments
from phoneprov_core.kernel.errors import Refused, Unavailable
from phoneprov_core.people.audit import WantedEntries
from phoneprov_core.switching.deployments import deploy, records, steps as holding
from phoneprov_core.switching.deployments.model import (
    RESTART_BEGUN,
    Action,
    Confirmation,
    Deployment,
    Outcome,
)
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN, LeaseLost, NotRecorded
from support.office import Settings
from support.switching import MAC, Desk

ALL = ["upload", "clear", "restart"]


async def stand_still(desk: Desk) -> None:
    """Let the lease expire."""
    desk.clock.advance(61)


async def another_follows(desk: Desk) -> None:
    """Let another process, which has nothing else in common with this one, switch the phone."""
    await stand_still(desk)
    async with desk.database.write() as tx:
        assert await tx.leases.take(MAC, "another", 60) is not None


@pytest.mark.parametrize("happens", [stand_still, another_follows])
@pytest.mark.parametrize(("step", "reached"), [("upload", 1), ("clear", 2)])
async def test_switch_that_lost_its_lease_calls_no_phone_and_is_interrupted(
    desk: Desk, happens: Any, step: str, reached: int
) -> None:
    desk.at(step, lambda: happens(desk))

    with pytest.raises(LeaseLost) as lost:
        await desk.switched()

    assert lost.value.code == OUTCOME_UNKNOWN
    assert desk.steps == ALL[:reached]
    record = await desk.last()
    assert (record.outcome, record.restart) == (Outcome.INTERRUPTED, None)
    assert record.ended_at is not None
    assert (record.place is None) is (step == "upload")
    assert [one.outcome for one in desk.journal] == [Outcome.INTERRUPTED]
    assert await desk.services_user() == (None if step == "upload" else desk.ada.user_uuid)


async def test_lease_that_is_lost_before_the_rename_leaves_the_file(desk: Desk) -> None:
    await desk.switched()
    await desk.save("<device>newer</device>")
    desk.at("upload", lambda: another_follows(desk))
    with pytest.raises(LeaseLost):
        await desk.switched()

    assert len(desk.uploader.uploads) == 1


async def test_lease_that_is_lost_to_another_at_the_restart_writes_nothing_more(
    desk: Desk,
) -> None:
    desk.at("restart", lambda: another_follows(desk))
    async with desk.database.read() as tx:
        version = (await tx.desks.find(MAC)).version
    with pytest.raises(LeaseLost):
        await desk.switched()

    record = await desk.last()
    assert (record.outcome, record.restart) == (Outcome.INTERRUPTED, RESTART_BEGUN)
    async with desk.database.read() as tx:
        assert await tx.leases.holder(MAC) == "another"
        assert (
            await tx.desks.find(MAC)
        ).version == version + 1  # with the place, before the restart


async def test_failure_after_another_followed_says_nothing_of_the_file(desk: Desk) -> None:
    async def fail() -> None:
        await another_follows(desk)
        raise Refused("The temporary file is gone.")

    desk.at("upload", fail)
    with pytest.raises(LeaseLost):
        await desk.switched()

    assert (await desk.last()).outcome is Outcome.INTERRUPTED


async def test_lease_that_expires_at_the_restart_and_is_not_taken_is_no_harm(desk: Desk) -> None:
    desk.at("restart", lambda: stand_still(desk))
    await desk.switched()

    record = await desk.last()
    assert (record.outcome, record.restart) == (Outcome.DEPLOYED, "ok")
    assert await desk.is_free()


async def test_database_away_lets_the_clock_of_the_host_decide(desk: Desk) -> None:
    async def away() -> None:
        await stand_still(desk)
        await desk.database.close()

    desk.at("clear", away)
    with pytest.raises(LeaseLost):
        await desk.switched()

    assert desk.steps == ["upload", "clear"]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller does not wait until the end is stored."""
    monkeypatch.setattr(deploy, "CLOSING_SECONDS", 0.0)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("step", ALL)
async def test_database_away_at_the_end_is_said_and_the_end_is_stored_later(
    desk: Desk, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "STORING_SECONDS", 0.0)
    desk.at(step, desk.database.close)
    with pytest.raises(NotRecorded, match="in place, and the phone accepted the restart") as raised:
        await desk.switched()
    assert desk.steps == ALL
    assert raised.value.closing is not None

    await desk.database.open()
    closed = await raised.value.closing

    record = await desk.last()
    assert closed == record
    assert (record.outcome, record.restart, record.place) == (
        Outcome.DEPLOYED,
        "ok",
        "10.20.30.40:21/SEP001BD4123456.cnf.xml",
    )
    assert await desk.services_user() == desk.ada.user_uuid
    assert await desk.is_free()
    assert [one.outcome for one in desk.journal] == [Outcome.DEPLOYED]


@pytest.mark.usefixtures("hasty")
async def test_end_is_stored_after_the_lease_if_no_other_followed(desk: Desk) -> None:
    desk.at("restart", desk.database.close)
    with pytest.raises(NotRecorded) as raised:
        await desk.switched()
    desk.clock.advance(61)
    await desk.database.open()
    async with desk.database.write() as tx:
        await tx.deployments.interrupt_abandoned("2026-01-31T08:17:30.250Z")
    assert raised.value.closing is not None
    await raised.value.closing

    assert (await desk.last()).outcome is Outcome.DEPLOYED


@pytest.mark.usefixtures("hasty")
async def test_failed_upload_is_said_although_the_database_is_away(desk: Desk) -> None:
    async def fail() -> None:
        await desk.database.close()
        raise Refused("The FTP server refused the upload.")

    desk.at("upload", fail)
    with pytest.raises(Refused, match="The FTP server refused the upload"):
        await desk.switched()
    await desk.database.open()
    for _ in range(200):
        await asyncio.sleep(0)

    record = await desk.last()
    assert (record.outcome, record.place) == (Outcome.FAILED, None)
    assert await desk.is_free()


@pytest.fixture
def lost_replies(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The replies to commits of ended deployments, which are lost, as often as the list says."""
    lost = [0]
    write = holding.Holding.write

    class Losing:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        async def __aenter__(self) -> Any:
            return await self.inner.__aenter__()

        async def __aexit__(self, *error: object) -> Any:
            await self.inner.__aexit__(*error)
            if error[0] is None and lost[0]:
                lost[0] -= 1
                raise Unavailable("The outcome of the commit is unknown.")

    def losing(self: Any, *arguments: Any, **options: Any) -> Any:
        return Losing(write(self, *arguments, **options))

    monkeypatch.setattr(holding.Holding, "write", losing)
    return lost


@pytest.mark.parametrize("step", ["upload", "restart"])
async def test_write_whose_reply_is_lost_is_not_repeated(
    desk: Desk, lost_replies: list[int], step: str
) -> None:
    async def lose() -> None:
        lost_replies[0] = 1

    desk.at(step, lose)
    await desk.switched()

    async with desk.database.read() as tx:
        entries = await tx.audit.newest(WantedEntries(action="phone.switched"), 10)
        assert (await tx.desks.find(MAC)).version == 1
    assert len(entries) == 1
    assert (await desk.last()).outcome is Outcome.DEPLOYED


async def test_confirmation_is_stored_after_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A phone may be back before the database is."""
    monkeypatch.setattr(deploy, "CLOSING_SECONDS", 0.0)
    desk = await Desk.of(Settings(with_watch=True))
    desk.at("restart", desk.database.close)
    with pytest.raises(NotRecorded):
        await desk.switched()
    desk.watch.comes_back(MAC)
    await asyncio.sleep(0)
    await desk.database.open()
    await desk.background.done()

    assert (await desk.last()).confirmation is Confirmation.CONFIRMED


async def test_store_that_fails_once_is_tried_again_before_the_phone_is_called(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, failures = SqlDeployments.put, [Unavailable("The database is away.")]

    async def fails_once(self: SqlDeployments, entity: Deployment) -> None:
        if failures:
            raise failures.pop()
        await put(self, entity)

    monkeypatch.setattr(SqlDeployments, "put", fails_once)
    users: list[str | None] = []

    async def note() -> None:
        users.append(await desk.services_user())

    desk.at("clear", note)
    await desk.switched()

    assert users == [desk.ada.user_uuid]
    assert (await desk.last()).action is Action.SWITCH
