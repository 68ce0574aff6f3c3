"""The contract of ``LoginAddressStore``."""

from __future__ import annotations

import pytest
import pytest_asyncio

from phoneprov_adapters.testing.records import a_user, identifier
from phoneprov_core.auth.ports import Familiarity
from phoneprov_core.auth.throttle import RECENT
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.stores import Database

ADA, BOB = identifier(1), identifier(2)
HOME, WORK = "192.0.2.1", "2001:db8:1:2::/64"
NOW = 1_700_000_000_000


async def _familiar(
    database: Database, username: str, address: str, since: int = NOW - RECENT
) -> tuple[bool, bool, bool]:
    async with database.read() as tx:
        found: Familiarity = await tx.login_addresses.familiarity(username, address, since)
    return found.account, found.address, found.both


async def _remember(database: Database, user: str, address: str, now: int = NOW) -> None:
    async with database.write() as tx:
        await tx.login_addresses.remember(user, address, now)


@pytest.mark.asyncio
class LoginAddressesContract:
    """The contract of ``LoginAddressStore``."""

    @pytest_asyncio.fixture(autouse=True)
    async def _users(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(1, username="Ada"))
            await tx.users.add(a_user(2, username="bob"))

    async def test_login_address_makes_account_and_address_familiar(
        self, database: Database
    ) -> None:
        assert await _familiar(database, "ada", HOME) == (False, False, False)
        await _remember(database, ADA, HOME)

        assert await _familiar(database, "aDA", HOME) == (True, True, True)
        assert await _familiar(database, "ada", WORK) == (True, False, False)
        assert await _familiar(database, "bob", HOME) == (False, True, False)
        assert await _familiar(database, "unknown", HOME) == (False, True, False)

    @pytest.mark.parametrize("name", ["", "\0", "ada\0", "x" * 10_000])
    async def test_login_address_name_of_no_account_is_unknown(
        self, database: Database, name: str
    ) -> None:
        await _remember(database, ADA, HOME)

        assert await _familiar(database, name, HOME) == (False, True, False)
        async with database.read() as tx:
            assert await tx.users.by_username(name) is None
            assert await tx.users.with_password(name) is None

    async def test_login_address_counts_since_a_moment(self, database: Database) -> None:
        await _remember(database, ADA, HOME)

        assert await _familiar(database, "ada", HOME, NOW - 1) == (True, True, True)
        assert await _familiar(database, "ada", HOME, NOW) == (False, False, False)
        await _remember(database, ADA, HOME, NOW + 1)
        assert await _familiar(database, "ada", HOME, NOW) == (True, True, True)

    async def test_login_address_not_recent_is_forgotten(self, database: Database) -> None:
        await _remember(database, ADA, HOME, NOW - RECENT)
        await _remember(database, BOB, HOME, NOW - RECENT)
        await _remember(database, ADA, WORK)

        assert await _familiar(database, "ada", HOME, 0) == (True, True, False)
        assert await _familiar(database, "bob", HOME, 0) == (True, True, True)

    async def test_login_address_is_removed_with_its_user(self, database: Database) -> None:
        await _remember(database, ADA, HOME)
        async with database.write() as tx:
            await tx.users.remove(ADA)

        assert await _familiar(database, "ada", HOME) == (False, False, False)

    async def test_login_address_of_no_user_is_not_found(self, database: Database) -> None:
        with pytest.raises(NotFound):
            await _remember(database, identifier(99), HOME)
