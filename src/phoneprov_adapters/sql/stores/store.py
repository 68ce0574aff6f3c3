"""The common methods of all stores."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.rows import SqlRows
from phoneprov_adapters.sql.tables.records import Records
from phoneprov_core.kernel.errors import InUse, NotFound
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows, SearchedStore, Store

E = TypeVar("E", bound=Struct)


class Removes(Protocol):
    """A store whose records are removed with their owner."""

    async def remove_of(self, column: str, owner: str) -> None:
        """Remove the records whose ``column`` is this one."""


class SqlStore(SqlRows[E], Store[E]):
    """A store over one table, that of ``records``. Subclasses name theirs, convert entities to
    rows if the columns are not the fields, and add the methods of their feature."""

    records: Records[E]

    def __init__(self, connection: Connection, records: Records[E] | None = None) -> None:
        if records is not None:
            self.records = records
        super().__init__(connection, self.records.listed, self._entity_of)

    def _row_of(self, entity: E) -> dict[str, Any]:
        row = msgspec.structs.asdict(entity)
        if self.records.search is not None:
            row["search"] = self.records.search.text(entity)
        return row

    def _entity_of(self, row: Row) -> E:
        return self.records.entity(*row)

    async def add(self, entity: E) -> None:
        await self._connection.execute(self.records.add, **self._row_of(entity))
        self._changed(None, entity)

    async def find(self, key: str) -> E | None:
        if not key:
            return None
        records = self.records
        statement = records.find_and_hold if self._connection.writing else records.find
        row = await self._connection.fetch_one(statement, key=key)
        if row is None:
            return None
        entity = self._entity_of(row)
        if self._connection.trail.active:
            self._connection.trail.found(key, entity)
        return entity

    async def _one(self, statement: Statement, **values: Any) -> E | None:
        row = await self._connection.fetch_one(statement, **values)
        return None if row is None else self._entity_of(row)

    async def put(self, entity: E) -> None:
        before = await self._before(entity)
        row = self._row_of(entity)
        row["the_key"] = row.pop(self.records.key)
        if not await self._connection.fetch_all(self.records.put, **row):
            raise NotFound(f"There is no such {self.records.one_name}.")
        self._changed(before, entity)

    async def remove(self, key: str) -> bool:
        if self._connection.trail.active and (dependents := self._dependents()):
            await self.find(key)  # Locked: no record is added to it meanwhile.
            for store, column in dependents:
                await store.remove_of(column, key)
        try:
            removed = await self._connection.fetch_all(self.records.remove, key=key)
        except NotFound:
            raise InUse(f"This {self.records.one_name} is in use and cannot be deleted.") from None
        if removed and self._audited:
            self._changed(self._entity_of(removed[0]), None)
        return bool(removed)

    async def remove_of(self, column: str, owner: str) -> None:
        """Remove the records whose ``column`` is this one. The database would do it silently; each
        of them has an entry."""
        for row in await self._connection.fetch_all(self.records.remove_of(column), owner=owner):
            self._changed(self._entity_of(row), None)

    def _dependents(self) -> Sequence[tuple[Removes, str]]:
        """The stores of the records that are removed with one of these, and their column that
        names it."""
        return ()

    @property
    def _audited(self) -> bool:
        return self._connection.trail.active and self.records.audited

    async def _before(self, entity: E) -> E | None:
        """The record that is about to be replaced, read at most once in a transaction."""
        if not self._audited:
            return None
        key = str(getattr(entity, self.records.key))
        return self._connection.trail.known(type(entity), key) or await self.find(key)

    def _changed(self, before: E | None, after: E | None) -> None:
        if self._audited:
            key = getattr(after if after is not None else before, self.records.key)
            self._connection.trail.changed(key, before, after)


class SqlSearchedStore(SqlStore[E], SearchedStore[E]):
    """A store whose records have ``search`` fields."""

    def matching(self, search: Search) -> Rows[E]:
        return self.records.searched.rows(self._connection, search, self._entity_of)
