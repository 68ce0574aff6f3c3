"""The contract of ``Store.rows`` and ``Store.count``: lists, pieces and owners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import pytest_asyncio

from phoneprov_adapters.testing.kinds import NO_USER, OTHER_OWNER, OWNER, PROFILES, Kind, add
from phoneprov_adapters.testing.phone_records import a_profile
from phoneprov_adapters.testing.records import moment
from phoneprov_core.stores import Database

Records = Sequence[Any]


async def _rows(database: Database, kind: Kind, limit: int, **more: Any) -> list[Any]:
    async with database.read() as tx:
        return await kind.store(tx).rows(limit, **more)


@pytest.mark.asyncio
class RowsContract:
    """The contract of ``Store.rows`` and ``Store.count``: lists, pieces and owners."""

    @pytest_asyncio.fixture
    async def records(self, database: Database, kind: Kind) -> Sequence[Any]:
        """Four records, oldest first: 3, 1, 2, 4. Those in the middle were created at the same
        moment, so that the key decides. They were added in another order."""
        records = [
            kind.make(3, created_at=moment(1)),
            kind.make(1, created_at=moment(2)),
            kind.make(2, created_at=moment(2)),
            kind.make(4, created_at=moment(4)),
        ]
        await add(database, kind, *(records[place] for place in (2, 0, 3, 1)))
        return records

    async def test_rows_are_ordered_by_creation_then_key(
        self, database: Database, kind: Kind, records: Sequence[Any]
    ) -> None:
        assert await _rows(database, kind, 1000) == records

    async def test_rows_limit_is_the_maximum(
        self, database: Database, kind: Kind, records: Sequence[Any]
    ) -> None:
        assert await _rows(database, kind, 2) == records[:2]
        assert await _rows(database, kind, 4) == records

    async def test_rows_begin_after_a_record(
        self, database: Database, kind: Kind, records: Sequence[Any]
    ) -> None:
        for place, record in enumerate(records):
            assert await _rows(database, kind, 1000, after=record) == records[place + 1 :]
        assert await _rows(database, kind, 1, after=records[0]) == records[1:2]

    async def test_rows_leave_out_an_offset(
        self, database: Database, kind: Kind, records: Sequence[Any]
    ) -> None:
        assert await _rows(database, kind, 1000, offset=1) == records[1:]
        assert await _rows(database, kind, 2, offset=1) == records[1:3]
        assert await _rows(database, kind, 1000, offset=4) == []
        assert await _rows(database, kind, 1000, offset=2**62) == []
        assert await _rows(database, kind, 1000, after=records[0], offset=1) == records[2:]

    async def test_rows_continue_after_a_removed_record(
        self, database: Database, kind: Kind, records: Sequence[Any]
    ) -> None:
        async with database.write() as tx:
            await kind.store(tx).remove(kind.key_of(records[1]))

        assert await _rows(database, kind, 1000, after=records[1]) == records[2:]
        assert await _rows(database, kind, 1000, after=records[0]) == records[2:]

    async def test_changed_record_keeps_its_position_in_lists(
        self, database: Database, kind: Kind, records: Sequence[Any]
    ) -> None:
        async with database.write() as tx:
            await kind.store(tx).put(records[0])

        assert await _rows(database, kind, 1000) == records

    async def test_rows_show_changes_of_the_transaction(
        self, database: Database, kind: Kind, records: Sequence[Any]
    ) -> None:
        async with database.write() as tx:
            store = kind.store(tx)
            await store.remove(kind.key_of(records[1]))
            left = [records[0], *records[2:]]

            assert await store.rows(1000) == left
            assert await store.rows(1, offset=1) == left[1:2]
            assert await store.rows(1000, after=left[0]) == left[1:]

            await store.add(records[1])

            assert await store.rows(1000) == records
            assert await store.rows(2, after=records[0]) == records[1:3]

    async def test_records_are_counted(
        self, database: Database, kind: Kind, records: Records
    ) -> None:
        async with database.write() as tx:
            assert await kind.store(tx).count() == 4
            await kind.store(tx).remove(kind.key_of(records[0]))
            assert await kind.store(tx).count() == 3
        async with database.read() as tx:
            assert await kind.store(tx).count() == 3

    async def test_empty_store_has_no_rows(self, database: Database) -> None:
        async with database.read() as tx:
            assert await tx.users.rows(10) == []
            assert await tx.users.count() == 0
            assert await tx.profiles.rows(10, owner=OWNER) == []
            assert await tx.profiles.count(OWNER) == 0

    @pytest_asyncio.fixture
    async def owned(self, database: Database) -> Sequence[Any]:
        """Four profiles, oldest first; the second belongs to another user."""
        records = [
            a_profile(3, OWNER, created_at=moment(1)),
            a_profile(1, OTHER_OWNER, created_at=moment(2)),
            a_profile(2, OWNER, created_at=moment(2)),
            a_profile(4, OWNER, created_at=moment(4)),
        ]
        async with database.write() as tx:
            await PROFILES.prepare(tx)
        await add(database, PROFILES, *(records[place] for place in (2, 0, 3, 1)))
        return records

    async def test_rows_of_an_owner_are_their_own(
        self, database: Database, owned: Sequence[Any]
    ) -> None:
        own = [owned[0], *owned[2:]]

        assert await _rows(database, PROFILES, 1000, owner=OWNER) == own
        assert await _rows(database, PROFILES, 1, owner=OWNER, after=own[0]) == own[1:2]
        assert await _rows(database, PROFILES, 1000, owner=OWNER, offset=2) == own[2:]
        # The record to start after may belong to another user.
        assert await _rows(database, PROFILES, 1000, owner=OWNER, after=owned[1]) == own[1:]
        assert await _rows(database, PROFILES, 1000, owner=OTHER_OWNER) == [owned[1]]
        assert await _rows(database, PROFILES, 1000, owner=NO_USER) == []
        async with database.read() as tx:
            counted = [await tx.profiles.count(owner) for owner in (OWNER, OTHER_OWNER, NO_USER)]
        assert counted == [3, 1, 0]

    async def test_record_with_a_new_owner_changes_lists(
        self, database: Database, owned: Sequence[Any]
    ) -> None:
        given = a_profile(2, OTHER_OWNER, created_at=moment(2))

        async with database.write() as tx:
            await tx.profiles.put(given)
            assert await tx.profiles.rows(1000, owner=OTHER_OWNER) == [owned[1], given]
            assert await tx.profiles.count(OTHER_OWNER) == 2
            assert await tx.profiles.count(OWNER) == 2

        assert await _rows(database, PROFILES, 1000, owner=OTHER_OWNER) == [owned[1], given]
        assert await _rows(database, PROFILES, 1000, owner=OWNER) == [owned[0], owned[3]]
