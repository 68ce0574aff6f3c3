"""The contract of ``SessionStore``."""

from __future__ import annotations

import pytest
import pytest_asyncio

from phoneprov_adapters.testing.records import (
    a_permission,
    a_session,
    a_user,
    an_assignment,
    identifier,
)
from phoneprov_core.auth.model import Exchange, Principal
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.stores import Database

ADA, BOB, NO_USER = identifier(1), identifier(2), identifier(99)
ONE, TWO, THREE = identifier(11), identifier(12), identifier(13)


async def principal_of(database: Database, session: str, now: int = 2000) -> Principal | None:
    """The account of a session."""
    async with database.read() as tx:
        return await tx.sessions.principal(session, now)


async def exchange(
    database: Database,
    token: str,
    successor: str,
    *,
    now: int = 2000,
    expires_at: int = 8000,
    grace: int = 0,
    session: str = ONE,
) -> Exchange:
    """Exchange a token of a session."""
    async with database.write() as tx:
        return await tx.sessions.exchange(
            session, token, successor, now=now, expires_at=expires_at, grace=grace
        )


class SessionsFixture:
    """Session one and two users."""

    @pytest_asyncio.fixture(autouse=True)
    async def people(self, database: Database) -> None:
        """Two users and a permission; session one is Ada's."""
        async with database.write() as tx:
            await tx.users.add(a_user(1))
            await tx.users.add(a_user(2))
            await tx.permissions.add(a_permission(10, level=7))
            await tx.sessions.start(a_session(11, ADA))


@pytest.mark.asyncio
class SessionsContract(SessionsFixture):
    """The contract of ``SessionStore``; see also ``SessionExchangeContract``."""

    async def test_session_contains_its_user_and_level(self, database: Database) -> None:
        assert await principal_of(database, ONE) == Principal(ADA, None, "ada-1")
        assert await principal_of(database, TWO) is None
        assert await principal_of(database, "") is None

    async def test_session_of_a_missing_user_is_not_found(self, database: Database) -> None:
        with pytest.raises(NotFound):
            async with database.write() as tx:
                await tx.sessions.start(a_session(12, NO_USER))

        assert await principal_of(database, TWO) is None

    async def test_new_session_removes_expired_sessions_of_the_user(
        self, database: Database
    ) -> None:
        async with database.write() as tx:
            await tx.sessions.start(a_session(12, BOB))
        async with database.write() as tx:
            await tx.sessions.start(a_session(13, ADA, created_at=5000, expires_at=6000))

            # A time at which each of them was active.
            assert await tx.sessions.principal(ONE, 2000) is None
            assert await tx.sessions.principal(TWO, 2000) == Principal(BOB, None, "ada-2")
            assert await tx.sessions.principal(THREE, 2000) == Principal(ADA, None, "ada-1")

    async def test_new_session_keeps_valid_sessions(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.sessions.start(a_session(12, ADA, created_at=4999))

        assert await principal_of(database, ONE) == Principal(ADA, None, "ada-1")
        assert await principal_of(database, TWO) == Principal(ADA, None, "ada-1")

    async def test_session_expires(self, database: Database) -> None:
        assert await principal_of(database, ONE, 4999) == Principal(ADA, None, "ada-1")
        assert await principal_of(database, ONE, 5000) is None

    async def test_session_account_and_level_are_current(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.assignments.assign(an_assignment(ADA, identifier(10)))
            assert await tx.sessions.principal(ONE, 2000) == Principal(ADA, 7, "ada-1")
        assert await principal_of(database, ONE) == Principal(ADA, 7, "ada-1")

        async with database.write() as tx:
            await tx.assignments.remove(ADA)
        assert await principal_of(database, ONE) == Principal(ADA, None, "ada-1")

        async with database.write() as tx:
            await tx.users.put(a_user(1, is_active=False))
        assert await principal_of(database, ONE) is None

        async with database.write() as tx:
            await tx.users.remove(ADA)
        assert await principal_of(database, ONE) is None

    async def test_exchange_of_an_inactive_account_fails(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.users.put(a_user(1, is_active=False))

        assert await exchange(database, "t1", "t2") is Exchange.NO_SESSION

    async def test_session_ends_once_and_stays_ended(self, database: Database) -> None:
        async with database.write() as tx:
            assert await tx.sessions.end(ONE)
            assert not await tx.sessions.end(ONE)
            assert not await tx.sessions.end(TWO)

        assert await principal_of(database, ONE) is None
        assert await exchange(database, "t1", "t2") is Exchange.NO_SESSION
        assert await principal_of(database, ONE) is None

    async def test_every_session_of_a_user_ends(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.sessions.start(a_session(12, ADA))
            await tx.sessions.start(a_session(13, BOB))
            await tx.sessions.end_all(ADA)
            await tx.sessions.end_all(NO_USER)

        found = [await principal_of(database, session) for session in (ONE, TWO, THREE)]
        assert found == [None, None, Principal(BOB, None, "ada-2")]

    async def test_end_every_ends_all_sessions_and_counts_them(self, database: Database) -> None:
        async with database.write() as tx:
            await tx.sessions.start(a_session(13, BOB))
            assert await tx.sessions.end_every() == 2
            assert await tx.sessions.end_every() == 0

        assert [await principal_of(database, session) for session in (ONE, THREE)] == [None, None]

    @pytest.mark.parametrize(("besides", "left"), [(ONE, [ONE]), (THREE, []), (NO_USER, [])])
    async def test_every_session_but_one_ends(
        self, database: Database, besides: str, left: list[str]
    ) -> None:
        async with database.write() as tx:
            await tx.sessions.start(a_session(12, ADA))
            await tx.sessions.start(a_session(13, BOB))
            await tx.sessions.end_all(ADA, besides=besides)

        alive = [session for session in (ONE, TWO) if await principal_of(database, session)]
        assert alive == left
        assert await principal_of(database, THREE) == Principal(BOB, None, "ada-2")
