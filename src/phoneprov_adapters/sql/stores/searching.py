"""Search in SQL: words in one column of normalised text, and plain columns that equal a value.

The page is found first, by its keys, and the rows are read for these alone. On SQLite the keys,
the text and the filters are in one index, so that a search reads no row that it does not list.

A search that matches many rows fills its page from the first rows of the list; the total is counted
separately. Any other search reads all rows once, for the page and the total together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct
from sqlalchemy import ColumnElement, Select, Table, bindparam, func, or_, select
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement, like, page
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import CountedRows

E = TypeVar("E", bound=Struct)

_MOST_STATEMENTS = 100
_NEAR = 20
"""A page is looked for first in the first rows of the list, 20 for each row up to its end."""
_ESCAPED = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})


Condition = Callable[[ColumnElement[str]], ColumnElement[bool]]


class _Shape(NamedTuple):
    """What two searches with the same statement have in common: the number of notations of each
    word, and the filters."""

    words: tuple[int, ...]
    filters: tuple[str, ...]
    owned: bool


class SearchedTable:
    """The statements that search one table. ``rows`` selects what is listed, ``key`` and ``owner``
    are columns. ``conditions`` are the filters that are not columns, by name, as functions of the
    key; the parameter of one is ``only_`` and its name."""

    def __init__(
        self,
        table: Table,
        rows: Select[Any],
        *,
        key: str = "uuid",
        owner: str | None = None,
        conditions: Mapping[str, Condition] | None = None,
    ) -> None:
        self.key = key
        self._table = table
        self._rows = rows
        self._position = (table.c.created_at, table.c[key])
        self._owner = owner
        self._others = conditions or {}
        self.rows = lru_cache(_MOST_STATEMENTS)(self._page)
        self.count = lru_cache(_MOST_STATEMENTS)(self._count)
        self.near = lru_cache(_MOST_STATEMENTS)(self._near)
        self.counted = lru_cache(_MOST_STATEMENTS)(self._counted)

    def _page(self, shape: _Shape, *, after: bool) -> Statement:
        key = self._position[1]
        keys = select(key).where(*self._conditions(shape, self._table.c))
        found = key.in_(page(keys, self._position, after=after))
        return self._rows.where(found).order_by(*self._position)

    def _count(self, shape: _Shape) -> Statement:
        count = select(func.count()).select_from(self._table)
        return count.where(*self._conditions(shape, self._table.c))

    def _near(self, shape: _Shape) -> Statement:
        """A page of the matches among the first rows of the list; ``near`` is their number."""
        first = select(self._table).order_by(*self._position).limit(bindparam("near")).subquery()
        keys = select(first.c[self.key]).where(*self._conditions(shape, first.c))
        keys = page(keys, (first.c.created_at, first.c[self.key]))
        return self._rows.where(self._position[1].in_(keys)).order_by(*self._position)

    def _counted(self, shape: _Shape) -> Statement:
        """A page of all matches; the last column is their number."""
        key = self._position[1]
        found = select(key, func.count().over().label("total"))
        keys = page(found.where(*self._conditions(shape, self._table.c)), self._position)
        table = keys.cte("found")
        total = select(func.max(table.c.total)).scalar_subquery()
        rows = self._rows.add_columns(total).where(key.in_(select(table.c[self.key])))
        return rows.order_by(*self._position)

    def _conditions(
        self, shape: _Shape, columns: ReadOnlyColumnCollection[str, Any]
    ) -> list[ColumnElement[bool]]:
        conditions: list[ColumnElement[bool]] = [
            or_(
                *(
                    like(columns.search, bindparam(f"word_{word}_{notation}"))
                    for notation in range(notations)
                )
            )
            for word, notations in enumerate(shape.words)
        ]
        conditions += [
            self._others[name](columns[self.key])
            if name in self._others
            else columns[name] == bindparam(f"only_{name}")
            for name in shape.filters
        ]
        if shape.owned:
            assert self._owner is not None
            conditions.append(columns[self._owner] == bindparam("owner"))
        return conditions


class SqlSearchedRows(CountedRows[E], Generic[E]):
    """The rows of a table that a search matches."""

    def __init__(
        self,
        connection: Connection,
        table: SearchedTable,
        search: Search,
        entity_of: Callable[[Row], E],
    ) -> None:
        self._connection = connection
        self._table = table
        self._entity_of = entity_of
        self._words = tuple(len(word) for word in search.words)
        self._filters = tuple(name for name, _ in search.filters)
        self._values: dict[str, Any] = {
            f"word_{place}_{notation}": f"%{text.translate(_ESCAPED)}%"
            for place, word in enumerate(search.words)
            for notation, text in enumerate(word)
        }
        self._values |= {f"only_{name}": value for name, value in search.filters}

    async def count(self, owner: str | None = None) -> int:
        shape, values = self._narrowed(owner)
        return int((await self._connection.rows(self._table.count(shape), **values))[0][0])

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        shape, values = self._narrowed(owner)
        values |= {"limit": limit, "offset": offset}
        if after is not None:
            values["after_time"] = after.created_at  # type: ignore[attr-defined]
            values["after_key"] = getattr(after, self._table.key)
        statement = self._table.rows(shape, after=after is not None)
        return [self._entity_of(row) for row in await self._connection.rows(statement, **values)]

    async def page(
        self, limit: int, *, offset: int = 0, owner: str | None = None
    ) -> tuple[list[E], int | None]:
        shape, values = self._narrowed(owner)
        values |= {"limit": limit, "offset": offset}
        near = min(_NEAR * (offset + limit), 2**62)
        rows = await self._connection.rows(self._table.near(shape), **values, near=near)
        if len(rows) == limit:
            return [self._entity_of(row) for row in rows], None
        rows = await self._connection.rows(self._table.counted(shape), **values)
        return [self._entity_of(row[:-1]) for row in rows], rows[0][-1] if rows else None

    def _narrowed(self, owner: str | None) -> tuple[_Shape, dict[str, Any]]:
        shape = _Shape(self._words, self._filters, owner is not None)
        return shape, {**self._values, **({} if owner is None else {"owner": owner})}
