"""The contract of ``ReadAndWrite``: transactions, on every database."""

import asyncio

import pytest

from phoneprov_core.kernel.errors import Conflict, Unavailable
from support.phone_records import a_phone
from support.records import a_user, identifier
from support.store_tests import DatabaseTests, existing


class Flushed(Exception):
    """The conflict was raised before the end of the transaction."""


class TestTransactions(DatabaseTests):
    """The contract of ``ReadAndWrite``: transactions, on every database."""

    async def _names(self) -> list[str]:
        async with self.database.read() as tx:
            return [user.username for user in await tx.users.rows(1000)]

    async def test_block_without_error_commits(self) -> None:
        await self.add(a_user(1), a_phone(1))

        assert await self.find(a_user(1)) == a_user(1)
        assert await self.find(a_phone(1)) == a_phone(1)

    async def test_committed_changes_survive_reopening(self) -> None:
        await self.add(a_user(1))

        await self.database.close()
        await self.database.open()

        assert await self._names() == ["ada-1"]

    async def test_error_rolls_back_the_transaction(self) -> None:
        await self.add(a_user(1), a_user(2))

        async with self.rolled_back() as tx:
            await tx.users.add(a_user(3))
            await tx.users.put(a_user(1, username="changed"))
            await tx.users.remove(identifier(2))
            await tx.users.set_password_hash(identifier(1), "hash")
            await tx.attempts.of("key")

        async with self.database.read() as tx:
            assert await tx.users.rows(1000) == [a_user(1), a_user(2)]
            assert await tx.users.by_username("changed") is None
            assert await tx.users.by_username("ada-2") == a_user(2)
            assert await tx.users.password_hash(identifier(1)) is None

    async def test_conflict_rolls_back_earlier_changes(self) -> None:
        await self.add(a_user(1))

        with pytest.raises(Conflict):
            await self.add(a_user(2), a_user(3, username="ada-1"))

        assert await self._names() == ["ada-1"]

    async def test_flush_raises_the_conflict_of_an_added_record(self) -> None:
        await self.add(a_user(1))

        async def add_again() -> None:
            async with self.database.write() as tx:
                try:
                    await tx.users.add(a_user(2, username="ada-1"))
                    await tx.flush()
                except Conflict as conflict:
                    raise Flushed from conflict

        with pytest.raises(Flushed):
            await add_again()

        assert await self._names() == ["ada-1"]

    async def test_cancelled_block_rolls_back(self) -> None:
        written = asyncio.Event()

        async def write_and_wait() -> None:
            async with self.database.write() as tx:
                await tx.users.add(a_user(1))
                written.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(write_and_wait())
        await written.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert await self._names() == []
        await self.add(a_user(1))  # Nothing stayed locked.
        assert await self._names() == ["ada-1"]

    async def test_cancellation_at_any_moment_is_atomic(self) -> None:
        # A few turns of the loop for a database in this thread, milliseconds for others.
        pauses = [*([0.0] * turns for turns in range(8)), *([turns / 5000] for turns in range(25))]
        for place, turns in enumerate(pauses):
            number = 100 + 2 * place
            task = asyncio.create_task(self.add(a_user(number), a_user(number + 1)))
            for seconds in turns:
                await asyncio.sleep(seconds)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            found = [await self.find(a_user(number + i)) for i in (0, 1)]
            assert found in ([None, None], [a_user(number), a_user(number + 1)])

        await self.add(a_user(1), a_user(2))
        assert {"ada-1", "ada-2"} <= set(await self._names())

    async def test_writer_cancelled_while_waiting_releases_its_locks(self) -> None:
        async def add(number: int) -> None:
            async with self.database.write() as tx:
                await tx.users.find(identifier(1))
                await tx.users.add(a_user(number))

        await self.add(a_user(1))
        async with self.database.write() as tx:
            await tx.users.find(identifier(1))
            waiting = asyncio.create_task(add(2))
            await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        await add(3)

        assert await self._names() == ["ada-1", "ada-3"]

    async def test_reader_sees_only_committed_changes(self) -> None:
        await self.add(a_user(1))

        async with self.database.write() as writing:
            await writing.users.put(a_user(1, username="changed"))
            await writing.users.add(a_user(2))

            async with self.database.read() as reading:
                assert await reading.users.rows(1000) == [a_user(1)]
                assert await reading.users.count() == 1
                assert await reading.users.find(identifier(2)) is None
                assert await reading.users.by_username("changed") is None
                assert await reading.users.by_username("ada-1") == a_user(1)

    async def test_each_query_of_a_reader_sees_committed_data(self) -> None:
        async with self.database.read() as reading:
            assert await reading.users.find(identifier(1)) is None
            await self.add(a_user(1))
            assert await reading.users.find(identifier(1)) == a_user(1)
            assert await reading.users.rows(10) == [a_user(1)]

    async def test_many_readers_and_a_writer_at_once(self) -> None:
        async def read_twice() -> None:
            async with self.database.read() as tx:
                users = await tx.users.rows(1000)
                # Added together, so that no reader sees only one.
                assert len(users) % 2 == 0

        await asyncio.gather(
            *(read_twice() for _ in range(30)),
            *(self.add(a_user(number), a_user(number + 1)) for number in range(1, 20, 2)),
        )

        assert len(await self._names()) == 20

    async def test_writers_of_one_record_wait_for_each_other(self) -> None:
        await self.add(a_user(1, phone="0"))

        async def count_up() -> None:
            async with self.database.write() as tx:
                user = existing(await tx.users.find(identifier(1)))
                await asyncio.sleep(0)
                await tx.users.put(a_user(1, phone=str(int(user.phone or "0") + 1)))

        await asyncio.gather(*(count_up() for _ in range(20)))

        assert await self.find(a_user(1)) == a_user(1, phone="20")

    async def test_one_open_transaction_has_the_claim_of_an_import(self) -> None:
        holders = 0

        async def import_kems() -> bool:
            nonlocal holders
            async with self.database.write() as tx:
                if not await tx.claim_import("kems"):
                    return False
                holders += 1
                assert holders == 1
                await asyncio.sleep(0.01)
                holders -= 1
                return True

        claims = await asyncio.gather(*(import_kems() for _ in range(8)))

        assert any(claims)
        assert await import_kems()

    async def test_imports_of_other_tables_have_claims_of_their_own(self) -> None:
        async with self.database.write() as tx:
            assert await tx.claim_import("kems")
            assert await tx.claim_import("users")

    async def test_closed_database_is_unavailable(self) -> None:
        await self.database.close()

        with pytest.raises(Unavailable):
            await self.read(lambda tx: tx.users.count())
        with pytest.raises(Unavailable):
            await self.add(a_user(1))

        await self.database.open()
        assert await self._names() == []
