"""Participants of a deployment: in their order, each inside the transaction of the same step."""

from dataclasses import dataclass, field, replace

import pytest

from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.switching.deployments.deploy import Deploy
from phoneprov_core.switching.deployments.model import Deployment, Outcome
from phoneprov_core.switching.deployments.order import DeploymentRequest, order_of
from phoneprov_core.switching.deployments.ports import DeploymentsTransaction, RequestPart
from phoneprov_core.switching.deployments.records import Participant
from support.switching import MAC, Desk

TX = DeploymentsTransaction


class Refused(Exception):
    """A participant refuses a step."""


class Badge(RequestPart, frozen=True):
    """What the participant of these tests knows of a request."""

    number: int


@dataclass
class Recording(Participant[TX]):
    """Notes each call with what the transaction shows; refuses one step."""

    name: str
    calls: list[tuple[str, str, Outcome | None, bool | None]]
    refuses: str = ""
    parts: list[Badge | None] = field(default_factory=list)

    async def _note(
        self, step: str, tx: TX, record: Deployment | None, request: DeploymentRequest
    ) -> None:
        stored = await tx.deployments.find(record.uuid) if record else None
        is_held = await tx.leases.holder(MAC) is not None
        self.calls.append((self.name, step, stored.outcome if stored else None, is_held))
        self.parts.append(request.part(Badge))
        if step == self.refuses:
            raise Refused

    async def requested(self, tx: TX, request: DeploymentRequest) -> None:
        await self._note("requested", tx, None, request)

    async def begun(self, tx: TX, request: DeploymentRequest, record: Deployment) -> None:
        await self._note("begun", tx, record, request)

    async def placed(self, tx: TX, request: DeploymentRequest, record: Deployment) -> None:
        await self._note("placed", tx, record, request)

    async def ended(
        self, tx: TX, request: DeploymentRequest, record: Deployment, before: Deployment
    ) -> None:
        assert before.outcome is Outcome.RUNNING
        await self._note("ended", tx, record, request)


def deploy_with(desk: Desk, *participants: Participant[TX]) -> Deploy:
    return replace(desk.deploy, records=replace(desk.deploy.records, participants=participants))


async def test_participants_are_called_in_their_order_inside_the_transactions(desk: Desk) -> None:
    calls: list[tuple[str, str, Outcome | None, bool | None]] = []
    first, second = Recording("first", calls), Recording("second", calls)
    request = (await order_of(desk.database, desk.ada, desk.request())).having(Badge(7))

    record = await deploy_with(desk, first, second)(desk.ada, request)

    assert record.outcome is Outcome.DEPLOYED
    assert calls == [
        (name, step, outcome, is_held)
        for step, outcome, is_held in [
            ("requested", None, True),
            ("begun", Outcome.RUNNING, True),
            ("placed", Outcome.RUNNING, True),
            ("ended", Outcome.DEPLOYED, False),
        ]
        for name in ("first", "second")
    ]
    assert first.parts == [Badge(7)] * 4


@pytest.mark.parametrize("step", ["requested", "begun"])
async def test_participant_that_refuses_leaves_no_record_and_no_lease(
    desk: Desk, step: str
) -> None:
    request = await order_of(desk.database, desk.ada, desk.request())

    with pytest.raises(Refused):
        await deploy_with(desk, Recording("only", [], step))(desk.ada, request)

    assert await desk.records() == []
    assert desk.steps == []
    assert await desk.is_free()


async def test_deployment_that_fails_is_ended_and_never_placed(desk: Desk) -> None:
    async def refuse() -> None:
        raise Conflict("The server is full.")

    calls: list[tuple[str, str, Outcome | None, bool | None]] = []
    desk.at("upload", refuse)
    request = await order_of(desk.database, desk.ada, desk.request())

    with pytest.raises(Conflict, match="full"):
        await deploy_with(desk, Recording("only", calls))(desk.ada, request)

    assert [step for _, step, _, _ in calls] == ["requested", "begun", "ended"]


async def test_switch_without_participants_deploys(desk: Desk) -> None:
    request = await order_of(desk.database, desk.ada, desk.request())

    record = await deploy_with(desk)(desk.ada, request)

    assert (record.outcome, record.restart) == (Outcome.DEPLOYED, "ok")
    assert await desk.services_user() is None
