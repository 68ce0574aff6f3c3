"""The contract of ``SessionStore``."""

import asyncio

import pytest

from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.people.auth.model import Exchange, Principal
from phoneprov_core.people.auth.sessions import exchange
from phoneprov_core.people.permissions import Right
from support.records import (
    a_permission,
    a_session,
    a_user,
    an_assignment,
    identifier,
    moment,
)
from support.store_tests import DatabaseTests

ADA, BOB, NO_USER = identifier(1), identifier(2), identifier(99)
ONE, TWO, THREE = identifier(11), identifier(12), identifier(13)


class TestSessions(DatabaseTests):
    """The contract of ``SessionStore``. Session one is Ada's."""

    async def principal_of(self, session: str, now: int = 2000) -> Principal | None:
        """The account of a session."""
        return await self.read(lambda tx: tx.sessions.principal(session, now))

    async def exchange(
        self,
        token: str,
        successor: str,
        *,
        now: int = 2000,
        expires_at: int = 8000,
        grace: int = 0,
        again: int = 0,
        session: str = ONE,
    ) -> Exchange:
        """Exchange a token of a session."""
        return await self.write(
            lambda tx: exchange(
                tx.sessions,
                session,
                token,
                successor,
                now=now,
                expires_at=expires_at,
                grace=grace,
                again=again,
            )
        )

    async def arrange(self) -> None:
        await self.add(a_user(1), a_user(2), a_permission(10, level=7))
        await self.add(a_session(11, ADA))

    async def test_session_contains_its_user_and_level(self) -> None:
        assert await self.principal_of(ONE) == Principal(ADA, None, "ada-1")
        assert await self.principal_of(TWO) is None
        assert await self.principal_of("") is None

    async def test_session_of_a_missing_user_is_not_found(self) -> None:
        with pytest.raises(NotFound):
            await self.add(a_session(12, NO_USER))

        assert await self.principal_of(TWO) is None

    async def test_new_session_removes_expired_sessions_of_the_user(self) -> None:
        await self.add(a_session(12, BOB))
        await self.add(a_session(14, ADA, created_at=4999, expires_at=6000))
        assert await self.principal_of(ONE) == Principal(ADA, None, "ada-1")
        async with self.database.write() as tx:
            await tx.sessions.start(a_session(13, ADA, created_at=5000, expires_at=6000))

            # A time at which each of them was active.
            assert await tx.sessions.principal(ONE, 2000) is None
            assert await tx.sessions.principal(TWO, 2000) == Principal(BOB, None, "ada-2")
            for session in (THREE, identifier(14)):
                assert await tx.sessions.principal(session, 2000) == Principal(ADA, None, "ada-1")

    async def test_right_of_the_account_is_current(self) -> None:
        right = Right(ADA, "helpdesk", ("K\u00f6ln", 'a "b"'), moment(1), moment(1))
        await self.add(right)
        principal = await self.principal_of(ONE)
        assert principal == Principal(ADA, None, "ada-1", "helpdesk", right.locations)
        await self.write(lambda tx: tx.rights.remove(ADA))
        assert await self.principal_of(ONE) == Principal(ADA, None, "ada-1")

    async def test_session_account_and_level_are_current(self) -> None:
        async with self.database.write() as tx:
            await tx.assignments.assign(an_assignment(ADA, identifier(10)))
            assert await tx.sessions.principal(ONE, 2000) == Principal(ADA, 7, "ada-1")
        assert await self.principal_of(ONE) == Principal(ADA, 7, "ada-1")

        await self.write(lambda tx: tx.assignments.remove(ADA))
        assert await self.principal_of(ONE) == Principal(ADA, None, "ada-1")

        await self.put(a_user(1, is_active=False))
        assert await self.principal_of(ONE) is None
        assert await self.exchange("t1", "t2") is Exchange.NO_SESSION

        await self.write(lambda tx: tx.users.remove(ADA))
        assert await self.principal_of(ONE) is None

    async def test_session_ends_once_and_stays_ended(self) -> None:
        async with self.database.write() as tx:
            assert await tx.sessions.end(ONE)
            assert not await tx.sessions.end(ONE)
            assert not await tx.sessions.end(TWO)

        assert await self.principal_of(ONE) is None
        assert await self.exchange("t1", "t2") is Exchange.NO_SESSION
        assert await self.principal_of(ONE) is None

    async def test_end_every_ends_all_sessions_and_counts_them(self) -> None:
        async with self.database.write() as tx:
            await tx.sessions.start(a_session(13, BOB))
            assert await tx.sessions.end_every() == 2
            assert await tx.sessions.end_every() == 0

        assert [await self.principal_of(session) for session in (ONE, THREE)] == [None, None]

    @pytest.mark.parametrize(
        ("besides", "left"), [(ONE, [ONE]), (THREE, []), (NO_USER, []), (None, [])]
    )
    async def test_every_session_but_one_ends(self, besides: str | None, left: list[str]) -> None:
        async with self.database.write() as tx:
            await tx.sessions.start(a_session(12, ADA))
            await tx.sessions.start(a_session(13, BOB))
            await tx.sessions.end_all(ADA, besides=besides)
            await tx.sessions.end_all(NO_USER)

        alive = [session for session in (ONE, TWO) if await self.principal_of(session)]
        assert alive == left
        assert await self.principal_of(THREE) == Principal(BOB, None, "ada-2")

    async def test_exchange_one_of_racing_callers_succeeds(self) -> None:
        outcomes = await asyncio.gather(*(self.exchange("t1", f"n{i}") for i in range(20)))

        assert outcomes.count(Exchange.DONE) == 1
        # The first of the others ended the session.
        assert outcomes.count(Exchange.REUSED) == 1
        assert outcomes.count(Exchange.NO_SESSION) == 18
        assert await self.principal_of(ONE) is None

    async def test_exchange_reused_token_ends_the_session(self) -> None:
        assert await self.exchange("t1", "t2") is Exchange.DONE

        assert await self.exchange("t1", "t3") is Exchange.REUSED

        assert await self.principal_of(ONE) is None
        assert await self.exchange("t2", "t4") is Exchange.NO_SESSION
        assert await self.exchange("t1", "t5") is Exchange.NO_SESSION

    async def test_exchange_second_use_in_its_window_keeps_the_session_and_the_window(self) -> None:
        for token, successor, now, expected in (
            ("t1", "t2", 2000, Exchange.DONE),
            ("t1", "t2", 2400, Exchange.AGAIN),
            ("t1", "t3", 2400, Exchange.ALREADY_USED),
            ("t2", "t3", 2600, Exchange.DONE),
            ("t2", "t3", 3099, Exchange.AGAIN),
            ("t2", "t4", 3100, Exchange.REUSED),
            ("t3", "t4", 3100, Exchange.NO_SESSION),
        ):
            assert await self.exchange(token, successor, now=now, grace=500, again=500) is expected
        assert await self.principal_of(ONE, 3100) is None

    async def test_exchange_prolongs_the_session(self) -> None:
        assert await self.exchange("t1", "t2", session=TWO) is Exchange.NO_SESSION
        assert await self.principal_of(ONE, 4999) == Principal(ADA, None, "ada-1")
        assert await self.principal_of(ONE, 5000) is None
        assert await self.exchange("t1", "t2", now=4999, expires_at=7000) is Exchange.DONE

        assert await self.principal_of(ONE, 6999) == Principal(ADA, None, "ada-1")
        assert await self.principal_of(ONE, 7000) is None
        assert await self.exchange("t2", "t3", now=7000) in {Exchange.NO_SESSION, Exchange.REUSED}

    async def test_exchange_does_not_prolong_past_the_maximum(self) -> None:
        assert await self.exchange("t1", "t2", now=4000, expires_at=20_000) is Exchange.DONE
        assert await self.exchange("t2", "t3", now=8000, expires_at=20_000) is Exchange.DONE

        assert await self.principal_of(ONE, 8999) == Principal(ADA, None, "ada-1")
        assert await self.principal_of(ONE, 9000) is None

    async def test_end_and_exchange_racing_leave_no_session(self) -> None:
        async def end() -> None:
            await self.write(lambda tx: tx.sessions.end_all(ADA))

        await asyncio.gather(self.exchange("t1", "t2"), end(), self.exchange("t2", "t3"))

        assert await self.principal_of(ONE) is None
