"""What all stores are made of: lists of rows, in pieces, in pages and of one owner;
and the methods of a store of records."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct
from sqlalchemy import Select

from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Query, Statement
from phoneprov_adapters.sql.tables.columns import Fields
from phoneprov_adapters.sql.tables.records import Records, SearchedTable, SearchQuery
from phoneprov_core.kernel.errors import InUse, NotFound
from phoneprov_core.kernel.ports import NewestRows, Rows, SearchedStore, Store
from phoneprov_core.kernel.search import Search

E = TypeVar("E")
T = TypeVar("T")
R = TypeVar("R", bound=Struct)

_NEAR = 20
"""A page is looked for first in the first rows of the list, 20 for each row up to its end."""


@cache
def _locking(statement: Select[Any]) -> Statement:
    return statement.with_for_update()


def reader(fields: Fields[R], box: SecretBox) -> Callable[[Row], R]:
    """Reads a row of the columns of these fields."""
    kind, read = fields.kind, fields.read
    return (lambda row: kind(*row)) if fields.is_plain else lambda row: read(row, box)


class SqlQueries:
    """The statements of a store over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _held(self, statement: Select[Any]) -> Statement:
        """The statement that locks what it finds in a writing transaction."""
        return _locking(statement) if self._connection.writing else statement

    async def _one(self, make: Callable[..., T], statement: Statement, **values: Any) -> T | None:
        """What is made of the columns of the row that a statement finds, or None."""
        row = await self._connection.fetch_one(statement, **values)
        return None if row is None else make(*row)

    async def _all(self, make: Callable[..., T], statement: Statement, **values: Any) -> list[T]:
        """What is made of the columns of each row."""
        return [make(*row) for row in await self._connection.fetch_all(statement, **values)]


class SqlRows(SqlQueries, Rows[E], Generic[E]):
    """The rows of a query, each as ``entity_of`` reads it; subclasses may override ``_entities``
    instead. ``values`` are its other parameters."""

    def __init__(
        self,
        connection: Connection,
        query: Query,
        entity_of: Callable[[Row], E] | None = None,
        **values: Any,
    ) -> None:
        super().__init__(connection)
        self._query = query
        self._read_row = entity_of
        self._values = values

    async def count(self, owner: str | None = None) -> int:
        statement = self._query.count(owned=owner is not None)
        # The cost of counting grows with the number of rows: ``row`` is for short queries.
        return int((await self._connection.fetch_all(statement, **self._of(owner)))[0][0])

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        return self._entities(await self._read(limit, after, offset, owner))

    def _entities(self, rows: Sequence[Row]) -> list[E]:
        assert self._read_row is not None
        return [self._read_row(row) for row in rows]

    async def _read(
        self, limit: int, after: E | None, offset: int, owner: str | None, **order: bool
    ) -> Sequence[Row]:
        values = {**self._of(owner), "limit": limit, "offset": offset}
        if after is not None:
            values |= self._place(after)
        statement = self._query.page(owned=owner is not None, after=after is not None, **order)
        return await self._connection.fetch_all(statement, **values)

    def _place(self, entity: E) -> dict[str, Any]:
        """The parameters of a page that begins after this entity."""
        return self._query.place(entity)

    def _of(self, owner: str | None) -> dict[str, Any]:
        return self._values if owner is None else {**self._values, "owner": owner}


class SqlNewestRows(SqlRows[E], NewestRows[E]):
    """Rows that are also listed newest first."""

    async def newest(
        self, limit: int, *, before: E | None = None, owner: str | None = None
    ) -> list[E]:
        return self._entities(await self._read(limit, before, 0, owner, newest_first=True))


class SqlSearchedRows(SqlRows[E]):
    """The rows that a search matches."""

    _query: SearchQuery

    def __init__(
        self,
        connection: Connection,
        table: SearchedTable,
        search: Search,
        entity_of: Callable[[Row], E],
    ) -> None:
        query, values = table.matching(search)
        super().__init__(connection, query, entity_of, **values)
        self._table, self._search = table, search
        self.by_offset = table.is_by_offset(search)

    def _place(self, entity: E) -> dict[str, Any]:
        return self._table.place(self._search, entity)

    async def page(
        self, limit: int, *, offset: int = 0, owner: str | None = None
    ) -> tuple[list[E], int | None]:
        if not self._query.plain:
            # Every row that matches is ranked or sorted: the page alone, and the count alone.
            return await self.rows(limit, offset=offset, owner=owner), None
        values = {**self._of(owner), "limit": limit, "offset": offset}
        near = min(_NEAR * (offset + limit), 2**62)
        statement = self._query.near(owned=owner is not None)
        rows = await self._connection.fetch_all(statement, **values, near=near)
        if len(rows) == limit:
            return self._entities(rows), None
        statement = self._query.counted(owned=owner is not None)
        rows = await self._connection.fetch_all(statement, **values)
        return self._entities([row[:-1] for row in rows]), rows[0][-1] if rows else None


class Removes(Protocol):
    """A store whose records are removed with their owner."""

    async def remove_of(self, column: str, owner: str) -> None:
        """Remove the records whose ``column`` is this one."""


class SqlStore(SqlRows[R], Store[R]):
    """A store over one table, that of ``records``. Subclasses name theirs, add columns that are not
    fields to the row of an entity, and add the methods of their feature."""

    records: Records[R]

    def __init__(self, connection: Connection, records: Records[R] | None = None) -> None:
        if records is not None:
            self.records = records
        self._entity_of = reader(self.records.fields, connection.box)
        super().__init__(connection, self.records.listed, self._entity_of)

    def _row_of(self, entity: R) -> dict[str, Any]:
        row = self.records.fields.row(entity, self._connection.box)
        if self.records.search is not None:
            row["search"] = self.records.search.text(entity)
        return row

    async def add(self, entity: R) -> None:
        await self._connection.execute(self.records.add, **self._row_of(entity))
        self._changed(None, entity)

    async def find(self, key: str) -> R | None:
        if not key:
            return None
        row = await self._connection.fetch_one(self._held(self.records.find), key=key)
        if row is None:
            return None
        entity = self._entity_of(row)
        if self._connection.trail.active:
            self._connection.trail.remember(key, entity)
        return entity

    async def _found(self, statement: Statement, **values: Any) -> R | None:
        row = await self._connection.fetch_one(statement, **values)
        return None if row is None else self._entity_of(row)

    async def put(self, entity: R) -> None:
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

    async def _before(self, entity: R) -> R | None:
        """The record that is about to be replaced, read at most once in a transaction."""
        if not self._audited:
            return None
        key = str(getattr(entity, self.records.key))
        return self._connection.trail.known(type(entity), key) or await self.find(key)

    def _changed(self, before: R | None, after: R | None) -> None:
        if self._audited:
            key = getattr(after if after is not None else before, self.records.key)
            self._connection.trail.changed(key, before, after)


class SqlSearchedStore(SqlStore[R], SearchedStore[R]):
    """A store whose records have ``search`` fields."""

    def matching(self, search: Search) -> Rows[R]:
        return SqlSearchedRows(self._connection, self.records.searched, search, self._entity_of)
