"""The contract of ``SessionStore.exchange``."""

from __future__ import annotations

import asyncio

import pytest

from phoneprov_adapters.testing.stores.sessions import (
    ADA,
    ONE,
    TWO,
    SessionsFixture,
    exchange,
    principal_of,
)
from phoneprov_core.auth.model import Exchange, Principal
from phoneprov_core.stores import Database


@pytest.mark.asyncio
class SessionExchangeContract(SessionsFixture):
    """The contract of ``SessionStore.exchange``."""

    async def test_exchange_of_a_token_and_of_its_successor_succeeds(
        self, database: Database
    ) -> None:
        assert await exchange(database, "t1", "t2") is Exchange.DONE
        assert await exchange(database, "t2", "t3") is Exchange.DONE
        assert await exchange(database, "t3", "t4") is Exchange.DONE
        assert await principal_of(database, ONE) == Principal(ADA, None, "ada-1")

    async def test_exchange_one_of_racing_callers_succeeds(self, database: Database) -> None:
        outcomes = await asyncio.gather(*(exchange(database, "t1", f"n{i}") for i in range(20)))

        assert outcomes.count(Exchange.DONE) == 1
        # The first of the others ended the session.
        assert outcomes.count(Exchange.REUSED) == 1
        assert outcomes.count(Exchange.NO_SESSION) == 18
        assert await principal_of(database, ONE) is None

    async def test_exchange_one_of_racing_callers_in_the_grace_succeeds(
        self, database: Database
    ) -> None:
        outcomes = await asyncio.gather(
            *(exchange(database, "t1", f"n{i}", grace=1000) for i in range(20))
        )

        assert outcomes.count(Exchange.DONE) == 1
        assert outcomes.count(Exchange.ALREADY_USED) == 19
        winner = f"n{outcomes.index(Exchange.DONE)}"
        assert await exchange(database, winner, "next", now=2001) is Exchange.DONE

    async def test_exchange_reused_token_ends_the_session(self, database: Database) -> None:
        assert await exchange(database, "t1", "t2") is Exchange.DONE

        assert await exchange(database, "t1", "t3") is Exchange.REUSED

        assert await principal_of(database, ONE) is None
        assert await exchange(database, "t2", "t4") is Exchange.NO_SESSION
        assert await exchange(database, "t1", "t5") is Exchange.NO_SESSION

    @pytest.mark.parametrize(
        ("seconds_later", "expected"),
        [(0, Exchange.ALREADY_USED), (499, Exchange.ALREADY_USED), (500, Exchange.REUSED)],
    )
    async def test_exchange_previous_token_in_the_grace_keeps_the_session(
        self, database: Database, seconds_later: int, expected: Exchange
    ) -> None:
        assert await exchange(database, "t1", "t2", now=2000, grace=500) is Exchange.DONE

        again = await exchange(database, "t1", "t3", now=2000 + seconds_later, grace=500)

        assert again is expected
        alive = expected is Exchange.ALREADY_USED
        assert (await principal_of(database, ONE) is not None) is alive
        after = await exchange(database, "t2", "t4", now=2600)
        assert after is (Exchange.DONE if alive else Exchange.NO_SESSION)

    async def test_exchange_older_token_in_the_grace_ends_the_session(
        self, database: Database
    ) -> None:
        assert await exchange(database, "t1", "t2", grace=500) is Exchange.DONE
        assert await exchange(database, "t2", "t3", grace=500) is Exchange.DONE

        assert await exchange(database, "t1", "t4", grace=500) is Exchange.REUSED
        assert await principal_of(database, ONE) is None

    async def test_exchange_in_the_grace_does_not_renew_it(self, database: Database) -> None:
        assert await exchange(database, "t1", "t2", now=2000, grace=500) is Exchange.DONE
        assert await exchange(database, "t1", "t3", now=2400, grace=500) is Exchange.ALREADY_USED
        assert await exchange(database, "t1", "t3", now=2600, grace=500) is Exchange.REUSED

    async def test_exchange_without_grace_second_use_is_reuse(self, database: Database) -> None:
        assert await exchange(database, "t1", "t2", now=2000) is Exchange.DONE
        assert await exchange(database, "t1", "t3", now=2000, grace=0) is Exchange.REUSED

    async def test_exchange_token_of_no_session_is_reported(self, database: Database) -> None:
        assert await exchange(database, "t1", "t2", session=TWO) is Exchange.NO_SESSION
        assert await exchange(database, "t1", "t2") is Exchange.DONE

    @pytest.mark.parametrize("token", ["t1", "t0"])
    async def test_session_expired_is_none(self, database: Database, token: str) -> None:
        assert await exchange(database, token, "t2", now=5000) in {
            Exchange.NO_SESSION,
            Exchange.REUSED,
        }
        assert await principal_of(database, ONE, 5000) is None

    async def test_exchange_prolongs_the_session(self, database: Database) -> None:
        assert await exchange(database, "t1", "t2", now=4999, expires_at=7000) is Exchange.DONE

        assert await principal_of(database, ONE, 6999) == Principal(ADA, None, "ada-1")
        assert await principal_of(database, ONE, 7000) is None

    async def test_exchange_does_not_prolong_past_the_maximum(self, database: Database) -> None:
        assert await exchange(database, "t1", "t2", now=4000, expires_at=20_000) is Exchange.DONE
        assert await exchange(database, "t2", "t3", now=8000, expires_at=20_000) is Exchange.DONE

        assert await principal_of(database, ONE, 8999) == Principal(ADA, None, "ada-1")
        assert await principal_of(database, ONE, 9000) is None

    async def test_end_and_exchange_racing_leave_no_session(self, database: Database) -> None:
        async def end() -> None:
            async with database.write() as tx:
                await tx.sessions.end_all(ADA)

        await asyncio.gather(exchange(database, "t1", "t2"), end(), exchange(database, "t2", "t3"))

        assert await principal_of(database, ONE) is None
