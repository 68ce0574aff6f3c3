"""The contracts of ``Store`` and of ``Rows``, for every kind of record."""

import asyncio
from typing import Any

import pytest
import pytest_asyncio

from phoneprov_core.kernel.errors import Conflict, NotFound
from support.kinds import NO_USER, OTHER_OWNER, PERSONAL_CONTACTS, PROFILES, Kind
from support.records import OWNER, moment
from support.store_tests import DatabaseTests


class TestStore(DatabaseTests):
    """The contract of ``Store``, sentence by sentence, for every kind of record."""

    async def test_added_record_is_found_unchanged(self, kind: Kind) -> None:
        plain, changed = kind.make(1), kind.changed(kind.make(2))

        await self.add(plain)
        assert await self.find(changed) is None
        with pytest.raises(NotFound):
            await self.put(changed)
        assert await self.find(changed) is None
        await self.add(changed)

        assert await self.find(plain) == plain
        assert await self.find(changed) == changed
        async with self.database.read() as tx:
            assert await kind.store(tx).find("") is None

    async def test_transaction_sees_its_own_changes(self, kind: Kind) -> None:
        one, two = kind.make(1), kind.make(2)
        await self.add(one)

        async with self.database.write() as tx:
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

    async def test_record_found_for_writing_is_locked(self, kind: Kind) -> None:
        record = kind.make(1)
        await self.add(record)
        found = asyncio.Event()

        async def rename_slowly() -> None:
            async with self.database.write() as tx:
                await kind.store(tx).find(kind.key_of(record))
                found.set()
                # Time for the other transaction to interfere, if it could.
                await asyncio.sleep(0.05)
                assert await kind.store(tx).find(kind.key_of(record)) == record
                await kind.store(tx).put(kind.changed(record))

        async def remove() -> Any:
            await found.wait()
            async with self.database.write() as tx:
                seen = await kind.store(tx).find(kind.key_of(record))
                await kind.store(tx).remove(kind.key_of(record))
                return seen

        _, seen_by_the_second = await asyncio.gather(rename_slowly(), remove())

        assert seen_by_the_second == kind.changed(record)
        assert await self.find(record) is None

    async def test_record_key_is_unique(self, kind: Kind) -> None:
        record = kind.make(1)
        await self.add(record)

        with pytest.raises(Conflict) as conflict:
            # The field differs, so that the conflict is that of the key.
            await self.add(kind.make(2, **{kind.key: kind.key_of(record)}))

        assert conflict.value.code == "already_exists"
        assert [problem.field for problem in conflict.value.problems] == [kind.key]
        assert await self.find(record) == record

    async def test_record_is_removed_once_and_can_be_added_again(self, kind: Kind) -> None:
        await self.add(kind.make(1), kind.make(2))
        key = kind.key_of(kind.make(1))

        async with self.database.write() as tx:
            assert await kind.store(tx).remove(key)
            assert not await kind.store(tx).remove(key)
        async with self.database.write() as tx:
            assert not await kind.store(tx).remove(key)
            assert not await kind.store(tx).remove("")

        assert await self.find(kind.make(1)) is None
        assert await self.find(kind.make(2)) == kind.make(2)
        async with self.database.write() as tx:
            await kind.store(tx).remove(kind.key_of(kind.make(2)))
            await kind.store(tx).add(kind.changed(kind.make(2)))
        assert await self.find(kind.make(2)) == kind.changed(kind.make(2))


class ListedTests(DatabaseTests):
    """Tests of the list of ``self.kind``, which contains ``self.records``, oldest first."""

    kind: Kind
    records: list[Any]

    async def fill(self, kind: Kind, second: dict[str, Any]) -> None:
        """Add the records 3, 1, 2 and 4 of a kind in another order. Those in the middle were
        created at the same moment, so that the key decides; ``second`` changes the first of
        them."""
        self.kind = kind
        self.records = [
            kind.make(3, created_at=moment(1)),
            kind.make(1, created_at=moment(2), **second),
            kind.make(2, created_at=moment(2)),
            kind.make(4, created_at=moment(4)),
        ]
        await self.add(*(self.records[place] for place in (2, 0, 3, 1)))

    async def _rows(self, limit: int, **more: Any) -> list[Any]:
        return await self.read(lambda tx: self.kind.store(tx).rows(limit, **more))


class TestRows(ListedTests):
    """The contract of ``Store.rows`` and ``Store.count``, for every kind of record."""

    @pytest_asyncio.fixture(autouse=True, loop_scope="session")
    async def _filled(self, kind: Kind) -> None:
        await self.fill(kind, {})

    async def test_rows_are_a_part_of_the_records_by_creation_then_key(self) -> None:
        await self.put(self.records[0])  # it keeps its position

        assert await self._rows(1000) == self.records
        assert await self._rows(4) == self.records
        for place, record in enumerate(self.records):
            assert await self._rows(1000, after=record) == self.records[place + 1 :]
            assert await self._rows(2, offset=place) == self.records[place : place + 2]
        assert await self._rows(1, after=self.records[0]) == self.records[1:2]
        assert await self._rows(1000, offset=4) == []
        assert await self._rows(1000, offset=2**62) == []
        assert await self._rows(1000, after=self.records[0], offset=1) == self.records[2:]

    async def test_rows_continue_after_a_removed_record(self) -> None:
        await self.write(lambda tx: self.kind.store(tx).remove(self.kind.key_of(self.records[1])))

        assert await self._rows(1000, after=self.records[1]) == self.records[2:]
        assert await self._rows(1000, after=self.records[0]) == self.records[2:]

    async def test_rows_show_changes_of_the_transaction(self) -> None:
        async with self.database.write() as tx:
            store = self.kind.store(tx)
            await store.remove(self.kind.key_of(self.records[1]))
            left = [self.records[0], *self.records[2:]]

            assert await store.count() == 3
            assert await store.rows(1000) == left
            assert await store.rows(1, offset=1) == left[1:2]
            assert await store.rows(1000, after=left[0]) == left[1:]

            await store.add(self.records[1])

            assert await store.rows(1000) == self.records
            assert await store.rows(2, after=self.records[0]) == self.records[1:3]
            assert await store.count() == 4
        assert await self.read(lambda tx: self.kind.store(tx).count()) == 4


class TestOwnedRows(ListedTests):
    """The contract of ``Store.rows`` and ``Store.count`` for an owner, and of references to one.
    The second record belongs to another user."""

    @pytest_asyncio.fixture(
        autouse=True, loop_scope="session", params=[PROFILES, PERSONAL_CONTACTS], ids=repr
    )
    async def _owned(self, request: pytest.FixtureRequest, _arranged: None) -> None:
        await self.add(*request.param.others)
        await self.fill(request.param, {"user_uuid": OTHER_OWNER})

    async def _count(self, owner: str | None) -> int:
        return await self.read(lambda tx: self.kind.store(tx).count(owner))

    async def test_rows_of_an_owner_are_their_own(self) -> None:
        own = [self.records[0], *self.records[2:]]

        assert await self._rows(1000, owner=OWNER) == own
        assert await self._rows(1, owner=OWNER, after=own[0]) == own[1:2]
        assert await self._rows(1000, owner=OWNER, offset=2) == own[2:]
        # The record to start after may belong to another user.
        assert await self._rows(1000, owner=OWNER, after=self.records[1]) == own[1:]
        assert await self._rows(1000, owner=OTHER_OWNER) == [self.records[1]]
        assert await self._rows(1000, owner=NO_USER) == []
        counted = [await self._count(owner) for owner in (OWNER, OTHER_OWNER, NO_USER, None)]
        assert counted == [3, 1, 0, 4]

    async def test_record_with_a_new_owner_changes_lists(self) -> None:
        given = self.kind.make(2, user_uuid=OTHER_OWNER, created_at=moment(2))

        async with self.database.write() as tx:
            store = self.kind.store(tx)
            await store.put(given)
            assert await store.rows(1000, owner=OTHER_OWNER) == [self.records[1], given]
            assert await store.count(OTHER_OWNER) == 2
            assert await store.count(OWNER) == 2

        assert await self._rows(1000, owner=OTHER_OWNER) == [self.records[1], given]
        assert await self._rows(1000, owner=OWNER) == [self.records[0], self.records[3]]

    @pytest.mark.parametrize("method", ["add", "put"])
    async def test_reference_to_a_missing_record_is_not_found(self, method: str) -> None:
        stray = self.kind.make(20 if method == "add" else 1, user_uuid=NO_USER)

        with pytest.raises(NotFound):
            await (self.add if method == "add" else self.put)(stray)

        assert await self._rows(10) == self.records
