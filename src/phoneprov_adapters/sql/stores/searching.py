"""Search in SQL: words in one column of normalised text, and plain columns that equal a value.

The page is found first, by its keys, and the rows are read for these alone. On SQLite the keys,
the text and the filters are in one index, so that a search reads no row that it does not list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec import Struct
from sqlalchemy import ColumnElement, Select, Table, bindparam, func, or_, select

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement, like, page
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows

E = TypeVar("E", bound=Struct)

_MOST_STATEMENTS = 100
_ESCAPED = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})


class _Shape(NamedTuple):
    """What two searches with the same statement have in common: the number of notations of each
    word, and the filters."""

    words: tuple[int, ...]
    filters: tuple[str, ...]
    owned: bool


class SearchedTable:
    """The statements that search one table. ``rows`` selects what is listed, ``key`` and ``owner``
    are columns. ``conditions`` are the filters that are not columns, by name; the parameter of one
    is ``only_`` and its name."""

    def __init__(
        self,
        table: Table,
        rows: Select[Any],
        *,
        key: str = "uuid",
        owner: str | None = None,
        conditions: Mapping[str, ColumnElement[bool]] | None = None,
    ) -> None:
        self.key = key
        self._table = table
        self._rows = rows
        self._position = (table.c.created_at, table.c[key])
        self._owner = owner
        self._others = conditions or {}
        self.rows = lru_cache(_MOST_STATEMENTS)(self._page)
        self.count = lru_cache(_MOST_STATEMENTS)(self._count)

    def _page(self, shape: _Shape, *, after: bool) -> Statement:
        key = self._position[1]
        keys = select(key).where(*self._conditions(shape))
        found = key.in_(page(keys, self._position, after=after))
        return self._rows.where(found).order_by(*self._position)

    def _count(self, shape: _Shape) -> Statement:
        count = select(func.count()).select_from(self._table)
        return count.where(*self._conditions(shape))

    def _conditions(self, shape: _Shape) -> list[ColumnElement[bool]]:
        columns = self._table.c
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
            self._others[name]
            if name in self._others
            else columns[name] == bindparam(f"only_{name}")
            for name in shape.filters
        ]
        if shape.owned:
            assert self._owner is not None
            conditions.append(columns[self._owner] == bindparam("owner"))
        return conditions


class SqlSearchedRows(Rows[E], Generic[E]):
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

    def _narrowed(self, owner: str | None) -> tuple[_Shape, dict[str, Any]]:
        shape = _Shape(self._words, self._filters, owner is not None)
        return shape, self._values if owner is None else {**self._values, "owner": owner}
