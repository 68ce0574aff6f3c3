"""Lists of rows: whole ones in pieces, pages, and those of one owner."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Generic, TypeVar

from sqlalchemy import Column, ColumnElement, Select, func, select

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement, page
from phoneprov_core.kernel.store import NewestRows, Rows

E = TypeVar("E")


class SqlQueries:
    """The statements of a store over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection


class Query:
    """The statements that list ``rows``, built once.

    ``position`` is the order: a time and a key, or a key alone. The entities have fields of the
    same names. ``owner`` is the condition for the rows of the parameter ``owner``, ``counted`` the
    count of all rows, by default of the table of the key. ``quick_count`` is one of all rows that
    the condition does not fit.
    """

    def __init__(
        self,
        rows: Select[Any],
        position: Sequence[ColumnElement[Any]],
        *,
        owner: ColumnElement[bool] | None = None,
        counted: Select[Any] | None = None,
        quick_count: Select[Any] | None = None,
    ) -> None:
        self._rows = rows
        self._position = position
        self._owner = owner
        if counted is None:
            key = position[-1]
            assert isinstance(key, Column)
            counted = select(func.count()).select_from(key.table)
        self._counted = counted
        self._quick_count = quick_count
        self.page = cache(self._page)
        self.count = cache(self._count)

    def place(self, entity: Any) -> dict[str, Any]:
        """The parameters of a page that begins after this entity."""
        names = ("after_time", "after_key")[-len(self._position) :]
        fields = (getattr(entity, str(column.name)) for column in self._position)
        return dict(zip(names, fields, strict=True))

    def _page(self, *, owned: bool, after: bool, newest_first: bool = False) -> Select[Any]:
        rows = self._narrowed(self._rows, owned)
        return page(rows, self._position, after=after, newest_first=newest_first)

    def _count(self, *, owned: bool) -> Statement:
        if not owned and self._quick_count is not None:
            return self._quick_count
        return self._narrowed(self._counted, owned)

    def _narrowed(self, statement: Select[Any], owned: bool) -> Select[Any]:
        if not owned:
            return statement
        assert self._owner is not None, "these rows have no owner"
        return statement.where(self._owner)


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
