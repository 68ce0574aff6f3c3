"""Search in SQL: words in one column of normalised text, and plain columns that equal a value.

The page is found first, by its keys, and the rows are read for these alone. On SQLite the keys,
the text and the filters are in one index, so that a search reads no row that it does not list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import Column, ColumnElement, Select, bindparam, func, or_, select

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import like, page
from phoneprov_adapters.sql.stores.rows import Query, SqlRows
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows

E = TypeVar("E", bound=Struct)

_MOST_STATEMENTS = 100
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

    def _page(self, *, owned: bool, after: bool, newest_first: bool = False) -> Select[Any]:
        assert not newest_first, "a search is listed oldest first"
        found = page(self._narrowed(self._keys, owned), self._position, after=after)
        return self._rows.where(self._position[-1].in_(found)).order_by(*self._position)


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
        return SqlRows(connection, self._query(shape, filters), entity_of, **values)

    def _query_of(self, words: tuple[int, ...], filters: tuple[str, ...]) -> Query:
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
