"""The contract of ``RetentionStore`` for deployments."""

from __future__ import annotations

from typing import Any

import pytest

from phoneprov_adapters.testing.records import a_mac, moment
from phoneprov_adapters.testing.stores.retention import (
    LATE,
    RetentionFixture,
    add_deployment,
    pruned,
)
from phoneprov_core.deployments.model import Deployment, Outcome, Wanted
from phoneprov_core.deployments.rollback_target import rollback_target
from phoneprov_core.retention.model import Kept
from phoneprov_core.stores import Database


async def _numbers(database: Database, phone: int) -> list[int]:
    async with database.read() as tx:
        found: list[Deployment] = await tx.deployments.matching(Wanted(mac=a_mac(phone))).rows(99)
    return [one.number for one in found]


@pytest.mark.asyncio
class DeploymentRetentionContract(RetentionFixture):
    """The contract of ``RetentionStore`` for deployments."""

    async def test_deployments_current_and_rollback_targets_are_kept(
        self, database: Database
    ) -> None:
        """A phone had the revisions 1 to 6 and again 5; another alternates between two."""
        for number, revision in enumerate((1, 2, 3, 4, 5, 6, 5), 1):
            await add_deployment(database, number, 1, number, revision)
        for number, revision in enumerate((1, 2, 1, 2, 1), 1):
            await add_deployment(database, 20 + number, 2, number, revision)

        assert sum(await pruned(database, Kept.DEPLOYMENTS, LATE)) == 6

        assert await _numbers(database, 1) == [3, 4, 6, 7]
        assert await _numbers(database, 2) == [4, 5]
        async with database.read() as tx:
            current = await tx.deployments.current(a_mac(1))
            assert current is not None
            previous = await tx.deployments.previous(current)
            assert previous is not None
            assert previous.number == 6

    @pytest.mark.parametrize("size", [7, 9])
    async def test_deployments_rollback_target_stays_before_many_equal_texts(
        self, database: Database, size: int
    ) -> None:
        """Revision 1 has another text than the eight that followed, which have the same one."""
        text: dict[str, Any] = {"sha256": "b" * 64, "size": 7}
        await add_deployment(database, 1, 1, 1, 1, size=size)
        await add_deployment(database, 2, 1, 2, 1, size=size, outcome=Outcome.UNKNOWN)
        for number in range(3, 11):
            await add_deployment(database, number, 1, number, number, **text)
        async with database.read() as tx:
            target = await rollback_target(tx.deployments, a_mac(1))
        assert target is not None
        assert target.number == 1

        assert sum(await pruned(database, Kept.DEPLOYMENTS, LATE, limit=3)) == 5

        assert await _numbers(database, 1) == [1, 7, 8, 9, 10]
        async with database.read() as tx:
            assert await rollback_target(tx.deployments, a_mac(1)) == target

    async def test_deployments_needed_after_look_are_not_removed(self, database: Database) -> None:
        text: dict[str, Any] = {"sha256": "b" * 64, "size": 7}
        await add_deployment(database, 1, 1, 1, 1, size=7)
        for number in range(2, 8):
            await add_deployment(database, number, 1, number, number, **text)
        async with database.read() as tx:
            piece = await tx.retention.look(Kept.DEPLOYMENTS, LATE, 9)
        assert piece is not None
        await add_deployment(database, 8, 1, 8, 8, **text)

        async with database.write() as tx:
            assert await tx.retention.remove(Kept.DEPLOYMENTS, LATE, piece) == 3
        assert await _numbers(database, 1) == [1, 5, 6, 7, 8]

    async def test_deployments_without_a_file_are_removed_unless_running(
        self, database: Database
    ) -> None:
        await add_deployment(database, 1, 1, 1, 1)
        await add_deployment(database, 2, 1, 2, 2, outcome=Outcome.FAILED, place=None)
        await add_deployment(database, 3, 1, 3, 3, outcome=Outcome.RUNNING, place=None)
        await add_deployment(database, 4, 1, 4, 4, outcome=Outcome.UNKNOWN)

        assert sum(await pruned(database, Kept.DEPLOYMENTS, LATE)) == 1

        assert await _numbers(database, 1) == [1, 3, 4]

    async def test_deployments_newest_of_a_phone_is_kept(self, database: Database) -> None:
        await add_deployment(database, 1, 1, 1, 1, outcome=Outcome.FAILED, place=None)
        await add_deployment(database, 2, 1, 2, 2, outcome=Outcome.FAILED, place=None)

        assert sum(await pruned(database, Kept.DEPLOYMENTS, LATE)) == 1

        assert await _numbers(database, 1) == [2]

    async def test_deployments_younger_than_the_limit_are_kept(self, database: Database) -> None:
        for number in range(1, 10):
            await add_deployment(database, number, 1, number, number)

        assert await pruned(database, Kept.DEPLOYMENTS, moment(4)) == [2, 1]

        assert await _numbers(database, 1) == list(range(4, 10))
