"""The contract of rules between records: unique values and references."""

from typing import Any

import pytest

from phoneprov_core.kernel.errors import Conflict
from support.phone_records import a_phone
from support.records import (
    OWNER,
    a_permission,
    a_user,
    an_assignment,
    an_extension,
    identifier,
)
from support.store_tests import DatabaseTests, existing

UNIQUE = [
    (a_user(1), a_user(2, username="Ada-1"), a_user(2), "username"),
    (a_user(1), a_user(2, email="ADA-1@Example.com"), a_user(2), "email"),
    (a_user(1, username="stra\u00dfe"), a_user(2, username="STRASSE"), a_user(2), "username"),
    (a_permission(1), a_permission(2, level=1, name="level 1"), a_permission(2), "name"),
    (an_extension(1), an_extension(2, extension="1001"), an_extension(2), "extension"),
]


class TestRules(DatabaseTests):
    """The contract of rules between records: unique values and references."""

    @pytest.mark.parametrize("method", ["add", "put"])
    @pytest.mark.parametrize(("first", "second", "plain", "field"), UNIQUE)
    async def test_used_unique_value_is_a_conflict_that_names_its_field(
        self, first: Any, second: Any, plain: Any, field: str, method: str
    ) -> None:
        before = [plain] if method == "put" else []
        await self.add(first, *before)

        with pytest.raises(Conflict) as conflict:
            await (self.put(second) if method == "put" else self.add(second))

        assert conflict.value.code == "already_exists"
        assert [problem.field for problem in conflict.value.problems] == [field]
        assert await self.find(second) == (plain if method == "put" else None)

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            (a_permission(1, name="desk"), a_permission(2, name="desk")),
            (a_permission(1, level=5), a_permission(2, level=5)),
            (a_phone(1, hostname="same"), a_phone(2, hostname="same")),
        ],
    )
    async def test_non_unique_value_can_be_used_twice(self, first: Any, second: Any) -> None:
        await self.add(first, second)

        assert await self.find(second) == second

    async def test_unique_value_no_longer_used_is_free(self) -> None:
        await self.add(a_user(1), a_user(2))

        await self.put(
            a_user(1, username="other", email="other@example.com"),
            a_user(2, username="ADA-1", email="ada-1@example.com"),
        )

        assert (
            existing(await self.read(lambda tx: tx.users.by_username("ada-1"))).uuid
            == a_user(2).uuid
        )

    async def test_empty_store_has_no_rows(self) -> None:
        async with self.database.read() as tx:
            assert await tx.users.rows(10) == []
            assert await tx.users.count() == 0
            assert await tx.profiles.rows(10, owner=OWNER) == []
            assert await tx.profiles.count(OWNER) == 0

    async def test_permission_in_use_cannot_be_removed(self) -> None:
        await self.add(a_user(1), a_permission(1), an_assignment(identifier(1), identifier(1)))

        with pytest.raises(Conflict) as conflict:
            await self.write(lambda tx: tx.permissions.remove(identifier(1)))

        assert conflict.value.code == "in_use"
        async with self.database.read() as tx:
            assert await tx.permissions.find(identifier(1)) == a_permission(1)
            assert await tx.assignments.of_user(identifier(1)) is not None
        async with self.database.write() as tx:
            await tx.assignments.remove(identifier(1))
            assert await tx.permissions.remove(identifier(1))
