"""The contract of ``LoginAttemptStore``."""

import asyncio
from contextlib import suppress

import msgspec

from phoneprov_core.people.throttle import KEPT_UNKNOWN, WINDOW, Attempts
from support.store_tests import DatabaseTests

KEPT = Attempts(
    failures=3,
    first_at=1_000_000_000_000,
    last_at=1_000_000_000_001,
    locked_until=7,
    undecided=2,
    in_a_row=99,
)


class TestLoginAttempts(DatabaseTests):
    """The contract of ``LoginAttemptStore``."""

    async def _of(self, key: str) -> Attempts:
        return await self.write(lambda tx: tx.attempts.of(key))

    async def _keep(self, key: str, attempts: Attempts) -> None:
        async with self.database.write() as tx:
            await tx.attempts.of(key)
            await tx.attempts.keep(key, attempts)

    async def test_attempts_are_kept_by_account_until_they_are_cleared(self) -> None:
        assert await self._of("a") == Attempts()
        await self.write(lambda tx: tx.attempts.keep("a", KEPT))
        await self._keep("b", Attempts(failures=1))
        await self._keep("b", KEPT)
        async with self.rolled_back() as tx:
            await tx.attempts.keep("a", Attempts(failures=9))

        assert [await self._of(key) for key in "abc"] == [KEPT, KEPT, Attempts()]
        async with self.database.write() as tx:
            await tx.attempts.clear("a")
            await tx.attempts.clear("c")
        assert [await self._of(key) for key in "ab"] == [Attempts(), KEPT]

    async def test_count_without_a_row_begins(self) -> None:
        async with self.database.write() as tx:
            assert await tx.attempts.of("b") == Attempts()
            await tx.attempts.keep("c", KEPT)
            await tx.attempts.clear("c")
        nine = Attempts(failures=9)
        async with self.database.write() as tx:
            assert [await tx.attempts.begin(key, nine) for key in "abca"] == [True] * 3 + [False]

        assert [await self._of(key) for key in "abc"] == [nine] * 3

    async def test_attempts_begin_one_of_racing_callers_succeeds(self) -> None:
        async def begin(number: int) -> bool:
            async with self.database.write() as tx:
                began = await tx.attempts.begin("a", Attempts(failures=number))
                await asyncio.sleep(0)
                return began

        began = await asyncio.gather(*(begin(number) for number in range(1, 21)))

        assert began.count(True) == 1
        assert await self._of("a") == Attempts(failures=began.index(True) + 1)

    async def test_attempts_other_writers_wait_until_the_transaction_ends(self) -> None:
        async def guess() -> None:
            async with self.database.write() as tx:
                attempts = await tx.attempts.of("a")
                await asyncio.sleep(0)
                await tx.attempts.keep("a", Attempts(failures=attempts.failures + 1))

        await asyncio.gather(*(guess() for _ in range(20)))

        assert await self._of("a") == Attempts(failures=20)

    async def test_counts_of_known_accounts_are_not_removed(self) -> None:
        known = msgspec.structs.replace(KEPT, known=1)
        await self._keep("a", known)
        await self._keep("b", KEPT)
        # A first guess may delete expired counts; a lock lasts one window.
        await self._keep("d", Attempts(last_at=KEPT.last_at + 2 * WINDOW))
        assert await self._of("b") == KEPT
        later = KEPT.last_at + KEPT_UNKNOWN + 1
        await self._keep("c", Attempts(1, later, later, 0))

        assert await self._of("a") == known
        assert await self._of("b") == Attempts()

    async def test_attempts_concurrent_cleanups_do_not_deadlock(self) -> None:
        await self._keep("a", KEPT)
        await self._keep("b", KEPT)
        later = KEPT.last_at + 100 * WINDOW
        both = asyncio.Barrier(2)

        async def guess(key: str) -> None:
            async with self.database.write() as tx:
                await tx.attempts.of(key)
                # In a database with one writer the second transaction cannot begin.
                with suppress(TimeoutError, asyncio.BrokenBarrierError):
                    async with asyncio.timeout(0.2):
                        await both.wait()
                await tx.attempts.keep(key, Attempts(1, later, later))

        await asyncio.gather(guess("a"), guess("b"))

        assert await self._of("a") == await self._of("b") == Attempts(1, later, later)

    async def test_attempts_cleared_concurrently_lose_no_guess(self) -> None:
        lost = 0

        async def guess() -> None:
            nonlocal lost
            async with self.database.write() as tx:
                attempts = await tx.attempts.of("a")
                counted = Attempts(failures=attempts.failures + 1)
                await tx.attempts.keep("a", counted)
                lost += await tx.attempts.of("a") != counted

        async def clear() -> None:
            await self.write(lambda tx: tx.attempts.clear("a"))

        for _ in range(10):
            await asyncio.gather(*(act() for _ in range(10) for act in (guess, clear)))
        assert not lost
