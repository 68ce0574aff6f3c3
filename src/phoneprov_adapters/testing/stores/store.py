"""The contract of ``Store``, sentence by sentence, for every kind of record."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from phoneprov_adapters.testing.kinds import Kind, add, find
from phoneprov_core.kernel.errors import Conflict, NotFound
from phoneprov_core.stores import Database


@pytest.mark.asyncio
class StoreContract:
    """The contract of ``Store``, sentence by sentence, for every kind of record."""

    async def test_added_record_is_found_unchanged(self, database: Database, kind: Kind) -> None:
        plain, changed = kind.make(1), kind.changed(kind.make(2))

        await add(database, kind, plain, changed)

        assert await find(database, kind, plain) == plain
        assert await find(database, kind, changed) == changed

    async def test_missing_record_is_not_found(self, database: Database, kind: Kind) -> None:
        await add(database, kind, kind.make(1))

        async with database.read() as tx:
            assert await kind.store(tx).find(kind.key_of(kind.make(2))) is None
            assert await kind.store(tx).find("") is None

    async def test_transaction_sees_its_own_changes(self, database: Database, kind: Kind) -> None:
        one, two = kind.make(1), kind.make(2)
        await add(database, kind, one)

        async with database.write() as tx:
            store = kind.store(tx)
            before = await store.count()
            await store.add(two)
            await store.put(kind.changed(one))
            assert await store.find(kind.key_of(two)) == two
            assert await store.find(kind.key_of(one)) == kind.changed(one)
            assert await store.count() == before + 1
            assert (await store.rows(1000))[:2] == [kind.changed(one), two]
            await store.remove(kind.key_of(one))
            assert await store.find(kind.key_of(one)) is None
            assert (await store.rows(1000))[:1] == [two]
            assert await store.count() == before

    async def test_record_found_for_writing_is_locked(self, database: Database, kind: Kind) -> None:
        record = kind.make(1)
        await add(database, kind, record)
        found = asyncio.Event()

        async def rename_slowly() -> None:
            async with database.write() as tx:
                await kind.store(tx).find(kind.key_of(record))
                found.set()
                # Time for the other transaction to interfere, if it could.
                await asyncio.sleep(0.05)
                assert await kind.store(tx).find(kind.key_of(record)) == record
                await kind.store(tx).put(kind.changed(record))

        async def remove() -> Any:
            await found.wait()
            async with database.write() as tx:
                seen = await kind.store(tx).find(kind.key_of(record))
                await kind.store(tx).remove(kind.key_of(record))
                return seen

        _, seen_by_the_second = await asyncio.gather(rename_slowly(), remove())

        assert seen_by_the_second == kind.changed(record)
        assert await find(database, kind, record) is None

    async def test_record_key_is_unique(self, database: Database, kind: Kind) -> None:
        record = kind.make(1)
        await add(database, kind, record)

        with pytest.raises(Conflict) as conflict:
            # The field differs, so that the conflict is that of the key.
            await add(database, kind, kind.make(2, **{kind.key: kind.key_of(record)}))

        assert conflict.value.code == "already_exists"
        assert [problem.field for problem in conflict.value.problems] == [kind.key]
        assert await find(database, kind, record) == record

    async def test_record_may_be_put_with_its_own_unique_values(
        self, database: Database, kind: Kind
    ) -> None:
        await add(database, kind, kind.make(1))

        async with database.write() as tx:
            await kind.store(tx).put(kind.changed(kind.make(1)))

        assert await find(database, kind, kind.make(1)) == kind.changed(kind.make(1))

    async def test_put_of_a_missing_record_is_not_found(
        self, database: Database, kind: Kind
    ) -> None:
        with pytest.raises(NotFound):
            async with database.write() as tx:
                await kind.store(tx).put(kind.make(1))

        assert await find(database, kind, kind.make(1)) is None

    async def test_record_is_removed_once(self, database: Database, kind: Kind) -> None:
        await add(database, kind, kind.make(1), kind.make(2))
        key = kind.key_of(kind.make(1))

        async with database.write() as tx:
            assert await kind.store(tx).remove(key)
            assert not await kind.store(tx).remove(key)
        async with database.write() as tx:
            assert not await kind.store(tx).remove(key)
            assert not await kind.store(tx).remove("")

        assert await find(database, kind, kind.make(1)) is None
        assert await find(database, kind, kind.make(2)) == kind.make(2)

    async def test_removed_record_can_be_added_again(self, database: Database, kind: Kind) -> None:
        await add(database, kind, kind.make(1))

        async with database.write() as tx:
            await kind.store(tx).remove(kind.key_of(kind.make(1)))
            await kind.store(tx).add(kind.changed(kind.make(1)))

        assert await find(database, kind, kind.make(1)) == kind.changed(kind.make(1))
