"""The statements of a kind of record, and its search in SQL: words in one column of normalised
text, and plain columns that equal a value.

The page is found first, by its keys, and the rows are read for these alone. On SQLite the keys,
the text and the filters are in one index, so that a search reads no row that it does not list.

A search that matches many rows fills its page from the first rows of the list; the total is counted
separately. Any other search reads all rows once, for the page and the total together.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cache, lru_cache
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct
from msgspec.json import encode
from sqlalchemy import (
    Column,
    ColumnElement,
    Select,
    Table,
    Text,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.sql import FromClause
from sqlalchemy.sql.util import ClauseAdapter

from phoneprov_adapters.sql.engines.statements import (
    Query,
    Statement,
    in_order,
    json_items,
    like,
    page,
)
from phoneprov_adapters.sql.tables.columns import NOTED, Fields
from phoneprov_core.kernel.search import Search, SearchFields

E = TypeVar("E", bound=Struct)

_MOST_STATEMENTS = 100
_ESCAPED = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})


class SearchQuery(Query):
    """Finds the keys of the page first. With ``plain`` the order is that of the list."""

    def __init__(
        self,
        rows: Select[Any],
        position: Sequence[ColumnElement[Any]],
        owner: ColumnElement[bool] | None,
        conditions: Sequence[ColumnElement[bool]],
        *,
        key: Column[Any],
        plain: bool,
        backwards: bool,
        joined: FromClause | None = None,
    ) -> None:
        counted = select(func.count()).select_from(key.table).where(*conditions)
        keys = select(key).where(*conditions)
        if joined is not None:
            rows, keys = rows.select_from(joined), keys.select_from(joined)
        super().__init__(rows, position, owner=owner, counted=counted)
        self.plain = plain
        self._key = key
        self._backwards = backwards
        self._keys = keys
        self._conditions = conditions
        self.near = cache(self._near)
        self.counted = cache(self._with_total)

    @property
    def _order(self) -> Sequence[ColumnElement[Any]]:
        return [one.desc() for one in self._position] if self._backwards else self._position

    def _page(self, *, owned: bool, after: bool, newest_first: bool = False) -> Select[Any]:
        assert not newest_first, "a search has its own order"
        keys = self._narrowed(self._keys, owned)
        found = page(keys, self._position, after=after, newest_first=self._backwards)
        return self._rows.where(self._key.in_(found)).order_by(*self._order)

    def _near(self, *, owned: bool) -> Select[Any]:
        """A page of the matches among the first rows of the list; ``near`` is their number."""
        key = self._key
        position = [key.table.c[column.name] for column in self._position]
        first = select(key.table).order_by(*position).limit(bindparam("near")).subquery()
        keys = self._narrowed(select(key).where(*self._conditions), owned)
        among = ClauseAdapter(first)
        found = select(first.c[key.name])
        if keys.whereclause is not None:
            found = found.where(among.traverse(keys.whereclause))
        found = page(found, [first.c[column.name] for column in position])
        return self._rows.where(key.in_(found)).order_by(*position)

    def _with_total(self, *, owned: bool) -> Select[Any]:
        """A page of all matches; the last column is their number."""
        key = self._key
        keys = self._narrowed(self._keys.add_columns(func.count().over().label("total")), owned)
        found = page(keys, self._position).cte("found")
        total = select(func.max(found.c.total)).scalar_subquery()
        rows = self._rows.add_columns(total).where(key.in_(select(found.c[key.name])))
        return rows.order_by(*self._position)


class SearchedTable:
    """The statements that search the table of a key. ``rows``, ``position`` and ``owner`` are as in
    ``Query``, ``fields`` the fields in which words are found. ``conditions`` are the filters that
    are not columns, by name; the parameter of one is ``only_`` and its name. ``people`` finds the
    keys of records of people whose searched text has a line like the parameter ``person_``, of whom
    a word may be the begin of the name: for a search with ``people``. ``orders`` are the values of
    other tables that a list is sorted by, read by offset alone, and the tables joined for them."""

    def __init__(
        self,
        rows: Select[Any],
        position: Sequence[Column[Any]],
        owner: ColumnElement[bool] | None = None,
        conditions: Mapping[str, ColumnElement[bool]] | None = None,
        *,
        fields: SearchFields | None = None,
        people: Callable[[ColumnElement[Any], ColumnElement[Any]], Select[Any]] | None = None,
        orders: Mapping[str, tuple[ColumnElement[Any], FromClause]] | None = None,
    ) -> None:
        self._rows = rows
        self._position = position
        self._owner = owner
        self._others = conditions or {}
        self._fields = fields or SearchFields()
        self._people = people
        self._orders = orders or {}
        self._query = lru_cache(_MOST_STATEMENTS)(self._query_of)

    def having(
        self, conditions: Mapping[str, ColumnElement[bool]] | None = None, **more: Any
    ) -> Self:
        """The same table with other conditions, ``people`` or ``orders``."""
        return type(self)(
            self._rows, self._position, self._owner, conditions, fields=self._fields, **more
        )

    def matching(self, search: Search) -> tuple[SearchQuery, dict[str, Any]]:
        """The statements of a search, and its parameters."""
        words = [self._fields.notations(word) for word in search.words]
        values: dict[str, Any] = {}
        for place, word in enumerate(words):
            for notation, text in enumerate(word):
                values[f"word_{place}_{notation}"] = f"%{text.translate(_ESCAPED)}%"
            begin = search.words[place][0].translate(_ESCAPED)
            values |= {f"first_{place}": f"{begin}%", f"line_{place}": f"%\n{begin}%"}
        for place, phrase in enumerate(search.phrases if words else ()):
            line = phrase.translate(_ESCAPED)
            values |= {f"same_{place}": f"%\n{line}\n%", f"begin_{place}": f"%\n{line}%"}
            values[f"inside_{place}"] = f"%{line}%"
        for name, value in search.filters:
            values[f"only_{name}"] = encode(value).decode() if isinstance(value, tuple) else value
        query = self._query(
            tuple(len(word) for word in words),
            tuple((name, isinstance(value, tuple)) for name, value in search.filters),
            search.sort,
            len(search.phrases),
            search.people,
        )
        return query, values

    def is_by_offset(self, search: Search) -> bool:
        """Whether no page of the search begins after an entity."""
        return (search.sort or "").removeprefix("-") in self._orders

    def place(self, search: Search, entity: Any) -> dict[str, Any]:
        """The parameters of a page of a search that begins after this entity."""
        created_at, key = (getattr(entity, column.name) for column in self._position)
        if search.sort is not None:
            value = getattr(entity, search.sort.removeprefix("-")) or ""
            return {"after_time": value.encode().lower().decode(), "after_key": key}
        place = {"after_time": created_at, "after_key": key}
        if search.words:
            place["after_rank"] = search.rank(self._fields.text(entity))
        return place

    def _query_of(
        self,
        words: tuple[int, ...],
        filters: tuple[tuple[str, bool], ...],
        sort: str | None,
        phrases: int,
        people: bool,
    ) -> SearchQuery:
        """``words`` is the number of notations of each word; a filter may have several values."""
        key = self._position[-1]
        columns = key.table.c
        conditions: list[ColumnElement[bool]] = []
        for word, notations in enumerate(words):
            found: list[ColumnElement[bool]] = [
                like(columns.search, bindparam(f"word_{word}_{notation}"))
                for notation in range(notations)
            ]
            # Each account lists phones, and only accounts that see people read notes.
            if NOTED in columns and (people or self._people is None):
                found += [
                    like(columns[NOTED], bindparam(f"word_{word}_{notation}"))
                    for notation in range(notations)
                ]
            if people and self._people is not None:
                first: ColumnElement[str] = bindparam(f"first_{word}")
                line: ColumnElement[str] = bindparam(f"line_{word}")
                found.append(key.in_(self._people(first, line)))
            conditions.append(or_(*found))
        for name, several in filters:
            if name in self._others:
                conditions.append(self._others[name])
            elif several:
                values = json_items(bindparam(f"only_{name}", type_=Text())).table_valued("value")
                conditions.append(columns[name].in_(select(values.c.value)))
            else:
                conditions.append(columns[name] == bindparam(f"only_{name}"))
        position: Sequence[ColumnElement[Any]] = self._position
        backwards = sort is not None and sort.startswith("-")
        joined = None
        if sort is not None and (other := self._orders.get(sort.removeprefix("-"))):
            value, joined = other
            position = [
                value.is_(None) != backwards,
                in_order(value),
                key,
            ]  # last in both directions
        elif sort is not None:
            column = columns[sort.removeprefix("-")]
            position = [key] if column is key else [in_order(func.coalesce(column, "")), key]
        elif words:
            finds_users = people and len(words) == 1
            position = [_rank(columns.search, phrases, finds_users=finds_users), *position]
        return SearchQuery(
            self._rows,
            position,
            self._owner,
            conditions,
            key=key,
            plain=position is self._position,
            backwards=backwards,
            joined=joined,
        )


def _rank(text: ColumnElement[str], phrases: int, *, finds_users: bool) -> ColumnElement[int]:
    """``Search.rank`` in SQL."""
    lines = literal("\n").concat(text).concat("\n")
    same = [like(lines, bindparam(f"same_{phrase}")) for phrase in range(phrases)]
    begins = [like(lines, bindparam(f"begin_{phrase}")) for phrase in range(phrases)]
    if not finds_users:
        return case((or_(*same), 0), (or_(*begins), 1), else_=2)
    inside = [like(text, bindparam(f"inside_{phrase}")) for phrase in range(phrases)]
    return case((or_(*same), 0), (or_(*begins), 1), (or_(*inside), 3), else_=2)


class Records(Generic[E]):
    """The statements that keep one kind of entity in one table, built once.

    ``fields`` are the fields with columns. ``key`` is the primary key if not given, ``owner`` the
    column that says whose record it is. ``search`` names the fields that are searched: their text
    is in the column ``search``; ``conditions`` are filters that are not columns. ``derived`` are
    columns that are not fields: the values of a new row, which ``put`` keeps. ``people`` and
    ``orders`` are as in ``SearchedTable``, ``audited`` whether their changes are in the audit
    trail.
    """

    def __init__(
        self,
        entity: type[E],
        table: Table,
        *,
        key: str = "",
        owner: str | None = None,
        one_name: str = "record",
        search: SearchFields | None = None,
        conditions: Mapping[str, ColumnElement[bool]] | None = None,
        derived: Mapping[str, ColumnElement[Any]] | None = None,
        audited: bool = True,
        people: Callable[..., Select[Any]] | None = None,
        orders: Mapping[str, tuple[ColumnElement[Any], FromClause]] | None = None,
    ) -> None:
        self.fields = Fields(entity, table)
        self.table = table
        self.key = key = key or table.primary_key.columns[0].name
        self.one_name = one_name
        self.audited = audited
        self.search = search
        key_column: Column[Any] = table.c[key]
        columns_read = self.fields.columns
        by_key = select(*columns_read).where(key_column == bindparam("key"))
        self.find = by_key
        derived = derived or {}
        stored: dict[str, Any] = {
            c.name: bindparam(c.name) for c in table.c if c.name not in derived
        }
        self.add: Statement = insert(table).values({**stored, **derived})
        self.put: Statement = (
            update(table)
            .where(key_column == bindparam("the_key"))
            .values({name: value for name, value in stored.items() if name != key})
            .returning(key_column)
        )
        self.remove: Statement = (
            delete(table).where(key_column == bindparam("key")).returning(*columns_read)
        )
        position = (table.c.created_at, key_column)
        is_owned = None if owner is None else table.c[owner] == bindparam("owner")
        self.listed = Query(select(*columns_read), position, owner=is_owned)
        self.searched = SearchedTable(
            select(*columns_read),
            position,
            is_owned,
            conditions,
            fields=search,
            people=people,
            orders=orders,
        )

    def searched_with(self, **more: Any) -> Self:
        """The same statements, with parts of ``SearchedTable`` that need tables of other rooms."""
        others = copy(self)
        others.searched = self.searched.having(**more)
        return others

    @cache  # noqa: B019 - the records of a kind live as long as the program
    def remove_of(self, column: str) -> Statement:
        """Removes the records whose ``column`` is ``owner``."""
        of_owner = self.table.c[column] == bindparam("owner")
        return delete(self.table).where(of_owner).returning(*self.fields.columns)
