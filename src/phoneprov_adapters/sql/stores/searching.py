"""Search in SQL: words in one column of normalised text, and plain columns that equal a value.

The page is found first, by its keys, and the rows are read for these alone. On SQLite the keys,
the text and the filters are in one index, so that a search reads no row that it does not list.

A search that matches many rows fills its page from the first rows of the list; the total is counted
separately. Any other search reads all rows once, for the page and the total together.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import Column, ColumnElement, Select, bindparam, func, or_, select
from sqlalchemy.sql.util import ClauseAdapter

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import like, page
from phoneprov_adapters.sql.stores.rows import Query, SqlRows
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows

E = TypeVar("E", bound=Struct)

_MOST_STATEMENTS = 100
_NEAR = 20
"""A page is looked for first in the first rows of the list, 20 for each row up to its end."""
_ESCAPED = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})


class _SearchQuery(Query):
    """Finds the keys of the page first."""

    def __init__(
        self,
        rows: Select[Any],
        position: Sequence[Column[Any]],
        owner: ColumnElement[bool] | None,
        conditions: Sequence[ColumnElement[bool]],
    ) -> None:
        key = position[-1]
        counted = select(func.count()).select_from(key.table).where(*conditions)
        super().__init__(rows, position, owner=owner, counted=counted)
        self._keys = select(key).where(*conditions)
        self._conditions = conditions
        self.near = cache(self._near)
        self.counted = cache(self._with_total)

    def _page(self, *, owned: bool, after: bool, newest_first: bool = False) -> Select[Any]:
        assert not newest_first, "a search is listed oldest first"
        found = page(self._narrowed(self._keys, owned), self._position, after=after)
        return self._rows.where(self._position[-1].in_(found)).order_by(*self._position)

    def _near(self, *, owned: bool) -> Select[Any]:
        """A page of the matches among the first rows of the list; ``near`` is their number."""
        key = self._position[-1]
        first = select(key.table).order_by(*self._position).limit(bindparam("near")).subquery()
        keys = self._narrowed(select(key).where(*self._conditions), owned)
        among = ClauseAdapter(first)
        found = select(first.c[key.name])
        if keys.whereclause is not None:
            found = found.where(among.traverse(keys.whereclause))
        found = page(found, [first.c[column.name] for column in self._position])
        return self._rows.where(key.in_(found)).order_by(*self._position)

    def _with_total(self, *, owned: bool) -> Select[Any]:
        """A page of all matches; the last column is their number."""
        key = self._position[-1]
        keys = self._narrowed(self._keys.add_columns(func.count().over().label("total")), owned)
        found = page(keys, self._position).cte("found")
        total = select(func.max(found.c.total)).scalar_subquery()
        rows = self._rows.add_columns(total).where(key.in_(select(found.c[key.name])))
        return rows.order_by(*self._position)


class _SearchedRows(SqlRows[E]):
    """The rows that a search matches."""

    _query: _SearchQuery

    async def page(
        self, limit: int, *, offset: int = 0, owner: str | None = None
    ) -> tuple[list[E], int | None]:
        values = {**self._of(owner), "limit": limit, "offset": offset}
        near = min(_NEAR * (offset + limit), 2**62)
        statement = self._query.near(owned=owner is not None)
        rows = await self._connection.rows(statement, **values, near=near)
        if len(rows) == limit:
            return self._entities(rows), None
        statement = self._query.counted(owned=owner is not None)
        rows = await self._connection.rows(statement, **values)
        return self._entities([row[:-1] for row in rows]), rows[0][-1] if rows else None


class SearchedTable:
    """The statements that search the table of a key. ``rows``, ``position`` and ``owner`` are those
    of ``Query``. ``conditions`` are the filters that are not columns, by name; the parameter of one
    is ``only_`` and its name."""

    def __init__(
        self,
        rows: Select[Any],
        position: Sequence[Column[Any]],
        owner: ColumnElement[bool] | None = None,
        conditions: Mapping[str, ColumnElement[bool]] | None = None,
    ) -> None:
        self._rows = rows
        self._position = position
        self._owner = owner
        self._others = conditions or {}
        self._query = lru_cache(_MOST_STATEMENTS)(self._query_of)

    def rows(
        self, connection: Connection, search: Search, entity_of: Callable[[Row], E]
    ) -> Rows[E]:
        """The rows that a search matches."""
        shape = tuple(len(word) for word in search.words)
        filters = tuple(name for name, _ in search.filters)
        values = {
            f"word_{place}_{notation}": f"%{text.translate(_ESCAPED)}%"
            for place, word in enumerate(search.words)
            for notation, text in enumerate(word)
        } | {f"only_{name}": value for name, value in search.filters}
        return _SearchedRows(connection, self._query(shape, filters), entity_of, **values)

    def _query_of(self, words: tuple[int, ...], filters: tuple[str, ...]) -> _SearchQuery:
        """``words`` is the number of notations of each word."""
        columns = self._position[-1].table.c
        conditions: list[ColumnElement[bool]] = [
            or_(
                *(
                    like(columns.search, bindparam(f"word_{word}_{notation}"))
                    for notation in range(notations)
                )
            )
            for word, notations in enumerate(words)
        ]
        conditions += [
            self._others[name]
            if name in self._others
            else columns[name] == bindparam(f"only_{name}")
            for name in filters
        ]
        return _SearchQuery(self._rows, self._position, self._owner, conditions)
