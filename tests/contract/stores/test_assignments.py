"""The contract of ``AssignmentStore``."""

import asyncio

import pytest

from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.people.access import Assignment
from support.records import (
    a_permission,
    a_user,
    an_assignment,
    identifier,
    moment,
)
from support.store_tests import DatabaseTests, existing

ADA, BOB, CLEO = identifier(1), identifier(2), identifier(3)
ZERO, ONE, GONE = identifier(10), identifier(11), identifier(99)


class TestAssignments(DatabaseTests):
    """The contract of ``AssignmentStore``."""

    async def _assign(self, *pairs: tuple[str, str]) -> None:
        await self.add(*(an_assignment(*pair, number) for number, pair in enumerate(pairs, 1)))

    async def _of_user(self, user_uuid: str) -> Assignment | None:
        return await self.read(lambda tx: tx.assignments.of_user(user_uuid))

    async def arrange(self) -> None:
        """Three users and two permissions, level 0 and level 1."""
        await self.add(
            *(a_user(number) for number in (1, 2, 3)),
            a_permission(10, level=0, name="superadmin"),
            a_permission(11, level=1, name="desk"),
        )

    async def test_assignment_shows_level_and_name_of_its_permission(self) -> None:
        await self._assign((ADA, ONE))

        expected = Assignment(identifier(1), ADA, ONE, 1, "desk", moment(1))
        assert await self._of_user(ADA) == expected
        assert await self._of_user(BOB) is None
        assert await self._of_user("") is None

    async def test_renamed_permission_shows_in_its_assignments(self) -> None:
        await self._assign((ADA, ONE))
        await self.put(a_permission(11, level=1, name="front desk"))

        assert existing(await self._of_user(ADA)).perm_name == "front desk"

    async def test_assignment_new_replaces_the_current_one(self) -> None:
        await self._assign((ADA, ONE))
        async with self.database.write() as tx:
            await tx.assignments.assign(an_assignment(ADA, ZERO, 2))
            assert await tx.assignments.of_user(ADA) is not None

        expected = Assignment(identifier(2), ADA, ZERO, 0, "superadmin", moment(2))
        assert await self._of_user(ADA) == expected
        assert await self.write(lambda tx: tx.permissions.remove(ONE))

    async def test_assignment_uuid_is_unique(self) -> None:
        await self._assign((ADA, ONE))

        with pytest.raises(Conflict) as caught:
            await self._assign((BOB, ONE))

        assert caught.value.code == "already_exists"
        await self._assign((ADA, ZERO))
        assert await self._of_user(BOB) is None

    async def test_racing_callers_leave_exactly_one(self) -> None:
        made = [an_assignment(ADA, (ZERO, ONE)[number % 2], number) for number in range(20)]

        await asyncio.gather(*(self.add(one) for one in made))

        other = ONE if existing(await self._of_user(ADA)).perm_uuid == ZERO else ZERO
        async with self.database.write() as tx:
            assert await tx.permissions.remove(other)
            assert await tx.assignments.remove(ADA)
            assert not await tx.assignments.remove(ADA)

    @pytest.mark.parametrize(("user", "permission"), [(GONE, ZERO), (ADA, GONE)])
    async def test_assignment_of_a_missing_user_or_permission_is_not_found(
        self, user: str, permission: str
    ) -> None:
        await self._assign((ADA, ONE))

        with pytest.raises(NotFound):
            await self.add(an_assignment(user, permission, 7))

        assert existing(await self._of_user(ADA)).perm_uuid == ONE

    async def test_assignment_is_removed_once(self) -> None:
        await self._assign((ADA, ONE), (BOB, ONE))

        async with self.database.write() as tx:
            assert await tx.assignments.remove(ADA)
            assert not await tx.assignments.remove(ADA)
            assert not await tx.assignments.remove(CLEO)

        assert await self._of_user(ADA) is None
        assert await self._of_user(BOB) is not None

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
        self, assigned: list[tuple[str, str]], rule: LevelRule, expected: bool
    ) -> None:
        await self._assign(*assigned)
        await self.put(a_user(3, is_active=False))

        assert await self.write(lambda tx: tx.assignments.another_superadmin(ADA, rule)) is expected

    async def test_largest_level_holds_level_0_by_the_hierarchical_rule(self) -> None:
        async with self.database.write() as tx:
            await tx.permissions.add(a_permission(12, level=2**31 - 1))
            await tx.assignments.assign(an_assignment(BOB, identifier(12)))
            assert await tx.assignments.another_superadmin(ADA, LevelRule.HIERARCHICAL)
            assert not await tx.assignments.another_superadmin(ADA, LevelRule.STRICT)

    async def test_changes_of_the_transaction_count(self) -> None:
        await self._assign((ADA, ZERO), (BOB, ZERO))

        async with self.database.write() as tx:
            await tx.users.put(a_user(2, is_active=False))
            assert not await tx.assignments.another_superadmin(ADA, LevelRule.STRICT)
            await tx.users.put(a_user(2))
            assert await tx.assignments.another_superadmin(ADA, LevelRule.STRICT)
            await tx.users.remove(BOB)
            assert not await tx.assignments.another_superadmin(ADA, LevelRule.STRICT)

    async def test_other_superadmin_is_locked_until_the_transaction_ends(self) -> None:
        users = (ADA, BOB, CLEO)
        await self._assign(*((user, ZERO) for user in users))

        async def resign(user: str) -> bool:
            async with self.database.write() as tx:
                if not await tx.assignments.another_superadmin(user, LevelRule.STRICT):
                    return False
                await asyncio.sleep(0)
                return await tx.assignments.remove(user)

        resigned = await asyncio.gather(*(resign(user) for user in users))

        assert sorted(resigned) == [False, True, True]
        left = [user for user in users if await self._of_user(user) is not None]
        assert len(left) == 1
