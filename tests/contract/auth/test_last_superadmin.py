"""The last superadmin keeps level 0, also during a concurrent change of another account."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.runtime.tasks import random_id, system_clock
from phoneprov_adapters.sql.engines.transaction import Database, SqlTransaction
from phoneprov_core.kernel.actor import Actor, LevelRule
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.people.access import CreateAssignment
from phoneprov_core.people.permissions import UserPermissions
from support.records import a_permission, a_user, an_assignment, identifier
from support.stores import DATABASES

ADA, BOB = identifier(1), identifier(2)
ZERO, ONE = identifier(10), identifier(11)
ROOT = Actor("the person at the machine", 0, level_rule=LevelRule.STRICT)


class Hesitating:
    """A database in which the removal of an assignment waits until the test releases it."""

    def __init__(self, database: Database) -> None:
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()
        self._database = database
        self.read = database.read

    @asynccontextmanager
    async def write(self, *, by: Actor) -> AsyncIterator[Any]:
        async with self._database.write(by=by) as tx:
            remove = tx.assignments.remove

            async def remove_later(user_uuid: str) -> bool:
                self.reached.set()
                await self.go_on.wait()
                return await remove(user_uuid)

            tx.assignments.remove = remove_later  # type: ignore[method-assign]
            yield tx


@pytest.fixture(params=sorted(DATABASES))
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """Bob is the only superadmin; Ada has level 1, which is lower by the strict rule."""
    async with DATABASES[request.param](tmp_path) as opened:
        async with opened.write() as tx:
            await tx.users.add(a_user(1))
            await tx.users.add(a_user(2))
            await tx.permissions.add(a_permission(10, level=0))
            await tx.permissions.add(a_permission(11, level=1))
            await tx.assignments.assign(an_assignment(ADA, ONE, 1))
            await tx.assignments.assign(an_assignment(BOB, ZERO, 2))
        yield opened


async def level(tx: SqlTransaction, user_uuid: str) -> int | None:
    assignment = await tx.assignments.of_user(user_uuid)
    return None if assignment is None else assignment.level


async def test_superadmin_check_holds_until_the_level_is_removed(
    database: Database,
) -> None:
    hesitating = Hesitating(database)
    slowly = UserPermissions(hesitating, system_clock, random_id)
    at_once = UserPermissions(database, system_clock, random_id)

    async def replace_bob_by_ada() -> None:
        await at_once.assign(ROOT, CreateAssignment(user_uuid=ADA, perm_uuid=ZERO))
        await at_once.remove(ROOT, BOB)

    removed = asyncio.create_task(slowly.remove(ROOT, ADA))
    await hesitating.reached.wait()
    taken_over = asyncio.create_task(replace_bob_by_ada())
    # It waits for the other change, or is done before it.
    await asyncio.wait([taken_over], timeout=0.3)
    hesitating.go_on.set()
    outcomes = await asyncio.gather(removed, taken_over, return_exceptions=True)

    assert all(outcome is None or isinstance(outcome, Conflict) for outcome in outcomes)
    async with database.read() as tx:
        assert 0 in {await level(tx, ADA), await level(tx, BOB)}
