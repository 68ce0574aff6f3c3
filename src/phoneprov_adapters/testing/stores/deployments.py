"""The contract of ``Deployments``."""

from __future__ import annotations

import msgspec
import pytest

from phoneprov_adapters.testing.phone_records import a_deployment
from phoneprov_adapters.testing.records import a_mac, identifier, moment
from phoneprov_core.deployments.model import Deployment, Outcome, Step, StepName
from phoneprov_core.stores import Database

PHONE, OTHER_PHONE = a_mac(1), a_mac(2)
NOW = moment(50)


async def _take(database: Database, mac: str, holder: str, seconds: int = 60) -> int:
    async with database.write() as tx:
        fence = await tx.leases.take(mac, holder, seconds)
    assert fence is not None
    return fence


async def _record(database: Database, *deployments: Deployment) -> None:
    async with database.write() as tx:
        for deployment in deployments:
            await tx.deployments.add(deployment)


async def _find(database: Database, number: int) -> Deployment | None:
    async with database.read() as tx:
        return await tx.deployments.find(identifier(number))


@pytest.mark.asyncio
class DeploymentsContract:
    """The contract of ``Deployments``."""

    async def test_deployment_is_found_unchanged(self, database: Database) -> None:
        ended = msgspec.structs.replace(
            a_deployment(2, OTHER_PHONE),
            outcome=Outcome.FAILED,
            steps=(
                Step(StepName.UPLOAD, True, None, 12),
                Step(StepName.CLEAR_SESSION, False, 'a "quoted" s\u00e9ntence', 5000),
            ),
            size=2**40,
            ended_at=NOW,
        )
        await _record(database, a_deployment(1, PHONE), ended)

        assert await _find(database, 1) == a_deployment(1, PHONE)
        assert await _find(database, 2) == ended
        assert await _find(database, 3) is None

    @pytest.mark.parametrize("outcome", list(Outcome))
    async def test_deployment_is_completed(self, database: Database, outcome: Outcome) -> None:
        await _record(database, a_deployment(1, PHONE), a_deployment(2, PHONE))
        steps = tuple(Step(name, True, None, 1) for name in StepName)
        ended = msgspec.structs.replace(
            a_deployment(1, PHONE), outcome=outcome, steps=steps, ended_at=NOW
        )

        async with database.write() as tx:
            await tx.deployments.put(ended)

        assert await _find(database, 1) == ended
        assert await _find(database, 2) == a_deployment(2, PHONE)

    async def test_interrupt_abandoned_marks_deployments_without_a_lease(
        self, database: Database
    ) -> None:
        over = a_deployment(4, a_mac(4), outcome=Outcome.DEPLOYED, ended_at=moment(10))
        await _record(
            database,
            a_deployment(1, a_mac(1)),
            a_deployment(2, a_mac(2)),
            a_deployment(3, a_mac(3)),
            over,
        )
        await _take(database, a_mac(1), identifier(1))
        await _take(database, a_mac(2), identifier(2), seconds=0)
        await _take(database, a_mac(4), identifier(4), seconds=0)

        async with database.write() as tx:
            assert await tx.deployments.interrupt_abandoned(NOW) == 2
        async with database.write() as tx:
            assert await tx.deployments.interrupt_abandoned(moment(60)) == 0

        assert await _find(database, 1) == a_deployment(1, a_mac(1))  # running
        for number in (2, 3):  # its lease has expired; it never had one
            assert await _find(database, number) == a_deployment(
                number, a_mac(number), outcome=Outcome.INTERRUPTED, ended_at=NOW
            )
        assert await _find(database, 4) == over

    async def test_interrupt_abandoned_marks_deployments_with_a_released_lease(
        self, database: Database
    ) -> None:
        await _record(database, a_deployment(1, PHONE))
        fence = await _take(database, PHONE, identifier(1))

        async with database.write() as tx:
            await tx.leases.release(PHONE, identifier(1), fence)
            assert await tx.deployments.interrupt_abandoned(NOW) == 1

    async def test_lease_of_another_deployment_does_not_keep_one_running(
        self, database: Database
    ) -> None:
        await _record(database, a_deployment(1, PHONE), a_deployment(2, PHONE))
        await _take(database, PHONE, identifier(1), seconds=0)
        await _take(database, PHONE, identifier(2))

        async with database.write() as tx:
            assert await tx.deployments.interrupt_abandoned(NOW) == 1

        assert await _find(database, 2) == a_deployment(2, PHONE)
