"""The contract of rules between records: unique values and references."""

from __future__ import annotations

from typing import Any

import pytest

from phoneprov_adapters.testing.kinds import (
    EXTENSIONS,
    NO_USER,
    OWNER,
    PERMISSIONS,
    PHONES,
    PROFILES,
    USERS,
    Kind,
    add,
    find,
)
from phoneprov_adapters.testing.phone_records import a_phone, a_profile
from phoneprov_adapters.testing.records import (
    a_permission,
    a_user,
    an_assignment,
    an_extension,
    identifier,
)
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.stores import Database

UNIQUE = [
    (USERS, a_user(1), a_user(2, username="Ada-1"), "username"),
    (USERS, a_user(1), a_user(2, email="ADA-1@Example.com"), "email"),
    (USERS, a_user(1, username="stra\u00dfe"), a_user(2, username="STRASSE"), "username"),
    (PERMISSIONS, a_permission(1), a_permission(2, level=1, name="level 1"), "name"),
    (EXTENSIONS, an_extension(1), an_extension(2, extension="1001"), "extension"),
]


@pytest.mark.asyncio
class RulesContract:
    """The contract of rules between records: unique values and references."""

    @pytest.mark.parametrize(("kind_", "first", "second", "field"), UNIQUE)
    async def test_add_of_a_used_unique_value_names_its_field(
        self, database: Database, kind_: Kind, first: Any, second: Any, field: str
    ) -> None:
        await add(database, kind_, first)

        with pytest.raises(Conflict) as conflict:
            await add(database, kind_, second)

        assert conflict.value.code == "already_exists"
        assert [problem.field for problem in conflict.value.problems] == [field]
        assert await find(database, kind_, second) is None

    @pytest.mark.parametrize(("kind_", "first", "second", "field"), UNIQUE)
    async def test_put_of_a_used_unique_value_names_its_field(
        self, database: Database, kind_: Kind, first: Any, second: Any, field: str
    ) -> None:
        await add(database, kind_, first, kind_.make(2))

        with pytest.raises(Conflict) as conflict:
            async with database.write() as tx:
                await kind_.store(tx).put(second)

        assert conflict.value.code == "already_exists"
        assert [problem.field for problem in conflict.value.problems] == [field]
        assert await find(database, kind_, second) == kind_.make(2)

    @pytest.mark.parametrize(
        ("kind_", "first", "second"),
        [
            (PERMISSIONS, a_permission(1, name="desk"), a_permission(2, name="desk")),
            (PERMISSIONS, a_permission(1, level=5), a_permission(2, level=5)),
            (PHONES, a_phone(1, hostname="same"), a_phone(2, hostname="same")),
        ],
    )
    async def test_non_unique_value_can_be_used_twice(
        self, database: Database, kind_: Kind, first: Any, second: Any
    ) -> None:
        await add(database, kind_, first, second)

        assert await find(database, kind_, second) == second

    async def test_unique_value_no_longer_used_is_free(self, database: Database) -> None:
        await add(database, USERS, a_user(1), a_user(2))

        async with database.write() as tx:
            await tx.users.put(a_user(1, username="other", email="other@example.com"))
            await tx.users.put(a_user(2, username="ADA-1", email="ada-1@example.com"))

        async with database.read() as tx:
            found = await tx.users.by_username("ada-1")
        assert found is not None
        assert found.uuid == a_user(2).uuid

    @pytest.mark.parametrize("method", ["add", "put"])
    async def test_reference_to_a_missing_record_is_not_found(
        self, database: Database, method: str
    ) -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(900))
            if method == "put":
                await tx.profiles.add(a_profile(1, OWNER))

        with pytest.raises(NotFound):
            async with database.write() as tx:
                await getattr(tx.profiles, method)(a_profile(1, NO_USER))

        assert await find(database, PROFILES, a_profile(1, OWNER)) == (
            a_profile(1, OWNER) if method == "put" else None
        )

    async def test_permission_in_use_cannot_be_removed(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(1))
            await tx.permissions.add(a_permission(1))
            await tx.assignments.assign(an_assignment(identifier(1), identifier(1)))

        with pytest.raises(Conflict) as conflict:
            async with database.write() as tx:
                await tx.permissions.remove(identifier(1))

        assert conflict.value.code == "in_use"
        async with database.read() as tx:
            assert await tx.permissions.find(identifier(1)) == a_permission(1)
            assert await tx.assignments.of_user(identifier(1)) is not None
        async with database.write() as tx:
            await tx.assignments.remove(identifier(1))
            assert await tx.permissions.remove(identifier(1))
