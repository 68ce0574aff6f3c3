"""The contract of ``UserStore``: accounts, their passwords, and deletion of dependent records."""

import asyncio

import msgspec
import pytest

from phoneprov_core.kernel.errors import AlreadyExists, NotFound
from support.phone_records import a_deployment, a_profile
from support.records import (
    a_mac,
    a_permission,
    a_pin,
    a_session,
    a_user,
    an_assignment,
    identifier,
)
from support.store_tests import DatabaseTests, existing

ADA, BOB = identifier(1), identifier(2)


class TestUsers(DatabaseTests):
    """The contract of ``UserStore``: accounts, passwords, deletion of dependent records."""

    async def test_looks_claimed_by_another_account_conflict(self) -> None:
        async def claim(number: int, *looks: str) -> None:
            await self.write(lambda tx: tx.users.claim_looks(identifier(number), frozenset(looks)))

        await self.add(*(a_user(number, username=f"user {number}") for number in (101, 102)))
        await claim(101, "a", "b")
        for looks in (("a",), ("b", "c")):
            with pytest.raises(AlreadyExists) as conflict:
                await claim(102, *looks)
            assert conflict.value.code == "already_exists"
            assert [problem.field for problem in conflict.value.problems] == ["username"]

        await claim(102, "c")
        await claim(101, "b", "d")
        await claim(102, "a", "c")
        await self.write(lambda tx: tx.users.remove(identifier(101)))
        await claim(102, "b", "d")
        with pytest.raises(NotFound):
            await claim(199, "e")

    async def test_looks_claimed_concurrently_belong_to_one_account(self) -> None:
        async def add(number: int) -> None:
            async with self.database.write() as tx:
                await tx.users.add(a_user(number, username=f"user {number}"))
                await tx.users.claim_looks(identifier(number), frozenset({"a", f"b{number}"}))

        added = await asyncio.gather(*map(add, range(101, 111)), return_exceptions=True)

        assert [type(error) for error in added if error] == [AlreadyExists] * 9

    @pytest.mark.parametrize(
        "spelling",
        ["Stra\u00dfe Zo\u00eb", "stra\u00dfe zo\u00eb", "STRASSE Zoe\u0308", "strasse zoe\u0308"],
    )
    async def test_user_is_found_by_name_in_any_case_and_unicode_form(self, spelling: str) -> None:
        user = a_user(1, username="Stra\u00dfe Zo\u00eb")
        await self.add(user, a_user(2))

        assert await self.read(lambda tx: tx.users.by_username(spelling)) == user

    @pytest.mark.parametrize("name", ["ada-3", "", "ada-1@example.com", "ada-1 ", "a%", "ada_1"])
    async def test_account_of_another_name_is_not_found(self, name: str) -> None:
        await self.add(a_user(1))

        assert await self.read(lambda tx: tx.users.by_username(name)) is None

    @pytest.mark.parametrize(
        ("number", "names", "taken"),
        [
            (3, {"username": "ADA-1", "email": "Ada-2@example.com"}, ["username", "email"]),
            (3, {"username": "ada-2"}, ["username"]),
            (3, {"email": "ada-1@EXAMPLE.com"}, ["email"]),
            (3, {}, []),
            (1, {"username": "Ada-1"}, []),
            (1, {"username": "ada-2"}, ["username"]),
        ],
    )
    async def test_fields_that_another_account_has_are_named(
        self, number: int, names: dict[str, str], taken: list[str]
    ) -> None:
        await self.add(a_user(1), a_user(2))

        assert await self.read(lambda tx: tx.users.taken_fields(a_user(number, **names))) == taken

    async def test_password_is_set_replaced_and_found_with_its_account(self) -> None:
        async with self.database.write() as tx:
            for number in (1, 2, 3):
                await tx.users.add(a_user(number))
            await tx.users.set_password_hash(ADA, "first")
            assert await tx.users.password_hash(ADA) == "first"
        async with self.database.write() as tx:
            await tx.users.set_password_hash(ADA, "second")
            await tx.users.set_password_hash(BOB, "bob's")
        await self.put(a_user(1, username="lovelace"))
        with pytest.raises(NotFound):
            await self.write(lambda tx: tx.users.set_password_hash(identifier(9), "hash"))

        async with self.database.read() as tx:
            found = [await tx.users.password_hash(identifier(number)) for number in (1, 2, 3, 9)]
            assert found == ["second", "bob's", None, None]
            lovelace = a_user(1, username="lovelace")
            assert await tx.users.with_password("LoveLace") == (lovelace, "second")
            assert await tx.users.with_password("ada-2") == (a_user(2), "bob's")
            for name in ("ada-3", "ada-1", "unknown"):
                assert await tx.users.with_password(name) is None
            assert await tx.users.by_username("ada-1") is None
            assert await tx.users.by_username("LOVELACE") == lovelace

    async def test_user_login_records_time_and_address(self) -> None:
        ip, at = "192.0.2.7", "2026-03-01T10:00:00.000Z"
        await self.add(a_user(1), a_user(2), a_user(3, is_active=False))
        noted = a_user(1, last_login_ip=ip, last_login_at=at)
        assert await self.write(lambda tx: tx.users.logged_in(ADA, ip, at)) == noted

        for number in (3, 9):  # inactive, and deleted
            user = identifier(number)
            assert await self.write(lambda tx, user=user: tx.users.logged_in(user, ip, at)) is None  # type: ignore[misc]
        left = [noted, a_user(2), a_user(3, is_active=False)]
        assert await self.read(lambda tx: tx.users.rows(10)) == left

    async def test_user_login_locks_the_account_until_commit(self) -> None:
        await self.add(a_user(1))
        noted = asyncio.Event()

        async def rename() -> None:
            await noted.wait()
            async with self.database.write() as tx:
                user = existing(await tx.users.find(ADA))
                await tx.users.put(msgspec.structs.replace(user, first_name="Augusta"))

        async with asyncio.TaskGroup() as both:
            renaming = both.create_task(rename())
            async with self.database.write() as tx:
                assert await tx.users.logged_in(ADA, "192.0.2.7", "2026-03-01T10:00:00.000Z")
                noted.set()
                await asyncio.wait([renaming], timeout=0.1)
                assert not renaming.done()

        async with self.database.read() as tx:
            user = existing(await tx.users.find(ADA))
            assert (user.first_name, user.last_login_ip) == ("Augusta", "192.0.2.7")

    async def test_user_removal_removes_its_records_only(self) -> None:
        async with self.database.write() as tx:
            await tx.permissions.add(a_permission(1))
            for number, uuid in ((1, ADA), (2, BOB)):
                await tx.users.add(a_user(number, created_by=ADA, last_uuid=ADA))
                await tx.users.set_password_hash(uuid, "hash")
                await tx.assignments.assign(an_assignment(uuid, identifier(1), number))
                await tx.sessions.start(a_session(number, uuid))
                await tx.profiles.add(a_profile(number, uuid))
                await tx.vendor_users.save(a_pin(number, uuid))
            record = a_deployment(1, a_mac(1), user_uuid=ADA, profile_uuid=identifier(1))
            await tx.deployments.add(record)

        assert await self.write(lambda tx: tx.users.remove(ADA))

        async with self.database.read() as tx:
            assert await tx.users.rows(10) == [a_user(2, created_by=ADA, last_uuid=ADA)]
            assert await tx.users.by_username("ada-1") is None
            assert await tx.users.password_hash(ADA) is None
            assert await tx.assignments.of_user(ADA) is None
            assert await tx.sessions.principal(identifier(1), 2000) is None
            assert await tx.profiles.rows(10) == [a_profile(2, BOB)]
            assert await tx.vendor_users.of_user(ADA) is None
            # Records of the past stay; Bob's records stay.
            assert await tx.deployments.find(identifier(1)) == record
            assert await tx.users.password_hash(BOB) == "hash"
            assert await tx.assignments.of_user(BOB) is not None
            assert await tx.sessions.principal(identifier(2), 2000) is not None
            assert await tx.vendor_users.of_user(BOB) == a_pin(2, BOB)
            assert await tx.permissions.find(identifier(1)) is not None
