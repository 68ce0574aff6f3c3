"""Every entrance of a switch while the database is away for exactly one of its writes: what is said
is what happened, the record follows, and no phone gets its old configuration back by itself."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from phoneprov_adapters.sql.stores.switching import SqlDeployments
from phoneprov_core.kernel.errors import DiskFull, Refused
from phoneprov_core.switching.deployments import deploy, records
from phoneprov_core.switching.deployments.model import Action, Deployment, Outcome
from support import hotdesk as offices
from support.api import data_of, error_of
from support.hotdesk import IP, LOBBY, PIN, Hotdesk
from support.polling import until
from support.switch_rig import MAC, STARS, XML, switch

ADA, LOBBY_FILE = XML.encode(), LOBBY.encode()


async def short_pause(_seconds: float) -> None:
    await asyncio.sleep(0.005)


class Outage:
    """The writes of deployments that fail: with the ``place`` of the file, the steps ``before`` the
    restart, and the ``end``."""

    def __init__(self) -> None:
        self.writes: set[str] = set()
        self.failed: list[str] = []

    def judge(self, record: Deployment) -> None:
        name = "end"
        if record.outcome is Outcome.RUNNING:
            name = "place" if len(record.steps) == 1 else "before"
        if name in self.writes:
            self.failed.append(name)
            raise DiskFull


@pytest.fixture
def outage(monkeypatch: pytest.MonkeyPatch) -> Outage:
    it, put = Outage(), SqlDeployments.put

    async def failing(self: SqlDeployments, entity: Deployment) -> None:
        it.judge(entity)
        await put(self, entity)

    monkeypatch.setattr(SqlDeployments, "put", failing)
    monkeypatch.setattr(records, "STORING_SECONDS", 1.0)
    monkeypatch.setattr(deploy, "CLOSING_SECONDS", 1.0)
    monkeypatch.setattr(offices, "no_pause", short_pause)
    return it


@pytest.fixture(params=["sqlite", "postgres"])
async def office(
    request: pytest.FixtureRequest,
    outage: Outage,
    tmp_path: Path,
) -> AsyncIterator[Hotdesk]:
    async with offices.hotdesk(tmp_path, database_kind=request.param) as opened:
        yield opened


async def settled(office: Hotdesk, outage: Outage) -> Deployment:
    """The newest deployment of the phone, once the database is back and its end is stored. The
    upkeep of desks has nothing to do then."""
    outage.writes.clear()
    await office.settled()
    file = office.on_phone()
    assert await office.keep_desks() == 0
    assert (await office.record()).change_uuid is None
    assert office.on_phone() == file
    return max(await office.deployments(), key=lambda one: one.number)


def not_recorded(reply: httpx.Response) -> None:
    """The reply says what happened, and not that nothing did."""
    error_of(reply, 503, "not_recorded")
    message = reply.json()["message"]
    assert "The configuration is in place, and the phone accepted the restart." in message
    assert "nothing was changed" not in message.lower()


WRITES = [{"end"}, {"place", "before", "end"}]


@pytest.mark.parametrize("writes", WRITES)
async def test_switch_says_that_the_file_is_in_place(
    office: Hotdesk, outage: Outage, writes: set[str]
) -> None:
    outage.writes = set(writes)
    not_recorded(await switch(office.admin, office.profile))
    assert office.on_phone() == ADA
    assert office.world.happened.count(("phone", IP, STARS)) == 1

    record = await settled(office, outage)
    assert (record.outcome, record.restart) == (Outcome.DEPLOYED, "ok")
    assert (await office.desk())["user_uuid"] == office.ada.uuid
    assert set(outage.failed) == writes


async def test_rollback_says_that_the_file_is_in_place(office: Hotdesk, outage: Outage) -> None:
    data_of(await switch(office.admin, office.lobby), metadata=False)
    data_of(await switch(office.admin, office.profile), metadata=False)
    outage.writes = {"place", "before", "end"}
    not_recorded(await office.admin.post(f"/phones/{MAC}/rollback", {}))
    assert office.on_phone() == LOBBY_FILE

    record = await settled(office, outage)
    assert (record.action, record.outcome) == (Action.ROLLBACK, Outcome.DEPLOYED)
    assert (await office.desk())["user_uuid"] is None


async def test_failed_upload_says_why(office: Hotdesk, outage: Outage) -> None:
    data_of(await switch(office.admin, office.lobby), metadata=False)
    outage.writes = {"end"}
    office.world.fail_next(Refused("The FTP server refused the upload."))
    reply = await switch(office.admin, office.profile)
    error_of(reply, 502, "refused")

    assert (await settled(office, outage)).outcome is Outcome.FAILED


@pytest.mark.parametrize("writes", WRITES)
async def test_login_at_the_phone_says_whether_it_is_recorded(
    office: Hotdesk, outage: Outage, writes: set[str]
) -> None:
    outage.writes = set(writes)
    page = await office.phone().log_in("ada", PIN)
    is_recorded = "place" not in writes
    assert page.title == ("Logged in" if is_recorded else "Not recorded")
    assert "Your profile is in place" in page.text
    assert ("could not be recorded" in page.text) is not is_recorded
    assert office.on_phone() == ADA
    if is_recorded:
        assert (await office.desk())["user_uuid"] == office.ada.uuid

    record = await settled(office, outage)
    assert (record.action, record.outcome) == (Action.LOGIN, Outcome.DEPLOYED)
    assert (await office.desk())["user_uuid"] == office.ada.uuid
    assert office.on_phone() == ADA


@pytest.mark.parametrize("writes", WRITES)
async def test_logout_at_the_phone_says_whether_it_is_recorded(
    office: Hotdesk, outage: Outage, writes: set[str]
) -> None:
    await office.log_in()
    outage.writes = set(writes)
    page = await office.phone().log_out()
    is_recorded = "place" not in writes
    assert page.title == ("Logged out" if is_recorded else "Not recorded")
    assert ("could not be recorded" in page.text) is not is_recorded
    assert office.on_phone() == LOBBY_FILE

    record = await settled(office, outage)
    assert (record.action, record.outcome) == (Action.LOGOUT, Outcome.DEPLOYED)
    assert (await office.desk())["user_uuid"] is None


async def test_logout_by_an_administrator_says_that_the_file_is_in_place(
    office: Hotdesk, outage: Outage
) -> None:
    await office.log_in()
    outage.writes = {"place", "before", "end"}
    not_recorded(await office.admin.post(f"/phones/{MAC}/desk/logout", {}))
    assert office.on_phone() == LOBBY_FILE

    assert (await settled(office, outage)).outcome is Outcome.DEPLOYED
    assert (await office.desk())["user_uuid"] is None


@pytest.mark.parametrize("action", ["switch", "restart"])
async def test_batch_calls_no_phone_again(
    office: Hotdesk, outage: Outage, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    from phoneprov_adapters.sql.stores.switching import SqlLeases  # noqa: PLC0415

    release = SqlLeases.release

    async def failing(self: Any, *arguments: Any) -> bool:
        if "end" in outage.writes:
            outage.failed.append("end")
            raise DiskFull
        return await release(self, *arguments)

    monkeypatch.setattr(SqlLeases, "release", failing)
    outage.writes = {"end"}
    body: dict[str, Any] = {"action": action, "macs": [MAC]}
    if action == "switch":
        body["profile_uuid"] = office.profile
    batch = data_of(await office.admin.post("/batches", body), 202)

    async def is_away() -> bool:
        return len(outage.failed) > 20

    await until(is_away)
    outage.writes.clear()

    async def is_done() -> bool:
        await office.api.container.run_batches()()
        found: Any = data_of(await office.admin.get(f"/batches/{batch['uuid']}"))
        return bool(found["ended_at"])

    await until(is_done)
    done: Any = data_of(await office.admin.get(f"/batches/{batch['uuid']}"))
    assert (done["state"], done["phones"]["done"]) == ("done", 1)
    assert office.world.happened.count(("phone", IP, STARS)) == 1
