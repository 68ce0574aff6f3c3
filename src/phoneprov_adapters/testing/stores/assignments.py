"""The contract of ``Assignments``."""

from __future__ import annotations

import asyncio

import pytest
import pytest_asyncio

from phoneprov_adapters.testing.records import (
    a_permission,
    a_user,
    an_assignment,
    identifier,
    moment,
)
from phoneprov_core.access.model import Assignment
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.stores import Database

ADA, BOB, CLEO = identifier(1), identifier(2), identifier(3)
ZERO, ONE, GONE = identifier(10), identifier(11), identifier(99)


async def _assign(database: Database, *pairs: tuple[str, str]) -> None:
    async with database.write() as tx:
        for number, (user, permission) in enumerate(pairs, 1):
            await tx.assignments.assign(an_assignment(user, permission, number))


async def _of_user(database: Database, user_uuid: str) -> Assignment | None:
    async with database.read() as tx:
        return await tx.assignments.of_user(user_uuid)


@pytest.mark.asyncio
class AssignmentsContract:
    """The contract of ``Assignments``."""

    @pytest_asyncio.fixture(autouse=True)
    async def people(self, database: Database) -> None:
        """Three users and two permissions, level 0 and level 1."""
        async with database.write() as tx:
            for number in (1, 2, 3):
                await tx.users.add(a_user(number))
            await tx.permissions.add(a_permission(10, level=0, name="superadmin"))
            await tx.permissions.add(a_permission(11, level=1, name="desk"))

    async def test_assignment_shows_level_and_name_of_its_permission(
        self, database: Database
    ) -> None:
        await _assign(database, (ADA, ONE))

        expected = Assignment(identifier(1), ADA, ONE, 1, "desk", moment(1))
        assert await _of_user(database, ADA) == expected
        assert await _of_user(database, BOB) is None
        assert await _of_user(database, "") is None

    async def test_renamed_permission_shows_in_its_assignments(self, database: Database) -> None:
        await _assign(database, (ADA, ONE))
        async with database.write() as tx:
            await tx.permissions.put(a_permission(11, level=1, name="front desk"))

        assignment = await _of_user(database, ADA)
        assert assignment is not None
        assert assignment.perm_name == "front desk"

    async def test_assignment_new_replaces_the_current_one(self, database: Database) -> None:
        await _assign(database, (ADA, ONE))
        async with database.write() as tx:
            await tx.assignments.assign(an_assignment(ADA, ZERO, 2))
            assert await tx.assignments.of_user(ADA) is not None

        expected = Assignment(identifier(2), ADA, ZERO, 0, "superadmin", moment(2))
        assert await _of_user(database, ADA) == expected
        async with database.write() as tx:
            assert await tx.permissions.remove(ONE)

    async def test_assignment_uuid_is_unique(self, database: Database) -> None:
        await _assign(database, (ADA, ONE))

        with pytest.raises(Conflict) as caught:
            await _assign(database, (BOB, ONE))

        assert caught.value.code == "already_exists"
        await _assign(database, (ADA, ZERO))
        assert await _of_user(database, BOB) is None

    async def test_racing_callers_leave_exactly_one(self, database: Database) -> None:
        async def give(number: int) -> None:
            async with database.write() as tx:
                await tx.assignments.assign(an_assignment(ADA, (ZERO, ONE)[number % 2], number))

        await asyncio.gather(*(give(number) for number in range(20)))

        assignment = await _of_user(database, ADA)
        assert assignment is not None
        other = ONE if assignment.perm_uuid == ZERO else ZERO
        async with database.write() as tx:
            assert await tx.permissions.remove(other)
            assert await tx.assignments.remove(ADA)
            assert not await tx.assignments.remove(ADA)

    @pytest.mark.parametrize(("user", "permission"), [(GONE, ZERO), (ADA, GONE)])
    async def test_assignment_of_a_missing_user_or_permission_is_not_found(
        self, database: Database, user: str, permission: str
    ) -> None:
        await _assign(database, (ADA, ONE))

        with pytest.raises(NotFound):
            async with database.write() as tx:
                await tx.assignments.assign(an_assignment(user, permission, 7))

        assignment = await _of_user(database, ADA)
        assert assignment is not None
        assert assignment.perm_uuid == ONE

    async def test_assignment_is_removed_once(self, database: Database) -> None:
        await _assign(database, (ADA, ONE), (BOB, ONE))

        async with database.write() as tx:
            assert await tx.assignments.remove(ADA)
            assert not await tx.assignments.remove(ADA)
            assert not await tx.assignments.remove(CLEO)

        assert await _of_user(database, ADA) is None
        assert await _of_user(database, BOB) is not None

    @pytest.mark.parametrize(
        ("assigned", "rule", "expected"),
        [
            ([], LevelRule.HIERARCHICAL, False),
            ([], LevelRule.STRICT, False),
            ([(ADA, ZERO)], LevelRule.HIERARCHICAL, False),
            ([(ADA, ZERO)], LevelRule.STRICT, False),
            ([(ADA, ZERO), (BOB, ZERO)], LevelRule.HIERARCHICAL, True),
            ([(ADA, ZERO), (BOB, ZERO)], LevelRule.STRICT, True),
            # Level 1 holds level 0 by the default rule, and not by the strict one.
            ([(ADA, ZERO), (BOB, ONE)], LevelRule.HIERARCHICAL, True),
            ([(ADA, ZERO), (BOB, ONE)], LevelRule.STRICT, False),
            ([(BOB, ZERO)], LevelRule.STRICT, True),
            # Cleo is not active.
            ([(ADA, ZERO), (CLEO, ZERO)], LevelRule.HIERARCHICAL, False),
            ([(ADA, ZERO), (CLEO, ZERO)], LevelRule.STRICT, False),
        ],
    )
    async def test_other_superadmin_is_an_active_user_with_level_0(
        self, database: Database, assigned: list[tuple[str, str]], rule: LevelRule, expected: bool
    ) -> None:
        await _assign(database, *assigned)
        async with database.write() as tx:
            await tx.users.put(a_user(3, is_active=False))

        async with database.write() as tx:
            assert await tx.assignments.another_superadmin(ADA, rule) is expected

    async def test_largest_level_holds_level_0_by_the_hierarchical_rule(
        self,
        database: Database,
    ) -> None:
        async with database.write() as tx:
            await tx.permissions.add(a_permission(12, level=2**31 - 1))
            await tx.assignments.assign(an_assignment(BOB, identifier(12)))
            assert await tx.assignments.another_superadmin(ADA, LevelRule.HIERARCHICAL)
            assert not await tx.assignments.another_superadmin(ADA, LevelRule.STRICT)

    async def test_changes_of_the_transaction_count(self, database: Database) -> None:
        await _assign(database, (ADA, ZERO), (BOB, ZERO))

        async with database.write() as tx:
            await tx.users.put(a_user(2, is_active=False))
            assert not await tx.assignments.another_superadmin(ADA, LevelRule.STRICT)
            await tx.users.put(a_user(2))
            assert await tx.assignments.another_superadmin(ADA, LevelRule.STRICT)
            await tx.users.remove(BOB)
            assert not await tx.assignments.another_superadmin(ADA, LevelRule.STRICT)

    async def test_other_superadmin_is_locked_until_the_transaction_ends(
        self, database: Database
    ) -> None:
        everybody = (ADA, BOB, CLEO)
        await _assign(database, *((user, ZERO) for user in everybody))

        async def resign(user: str) -> bool:
            async with database.write() as tx:
                if not await tx.assignments.another_superadmin(user, LevelRule.STRICT):
                    return False
                await asyncio.sleep(0)
                return await tx.assignments.remove(user)

        resigned = await asyncio.gather(*(resign(user) for user in everybody))

        assert sorted(resigned) == [False, True, True]
        left = [user for user in everybody if await _of_user(database, user) is not None]
        assert len(left) == 1
