"""SQL expressions and statements that both databases execute."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Table,
    Text,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql import Delete, Insert, Select, Update
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

Statement: TypeAlias = "Select[Any] | Insert | Update | Delete"


def page(
    rows: Select[Any],
    position: Sequence[ColumnElement[Any]],
    *,
    after: bool = False,
    newest_first: bool = False,
) -> Select[Any]:
    """A page of rows in the order of ``position``: (time, key), (key) or (rank, time, key). The
    parameters of the statement are ``limit`` and ``offset``. With ``after`` the page begins after
    the row with ``after_rank``, ``after_time`` and ``after_key``; without a rank each page costs
    the same."""
    if after:
        names = ("after_rank", "after_time", "after_key")[-len(position) :]
        place, last = tuple_(*position), tuple_(*(bindparam(name) for name in names))
        rows = rows.where(place < last if newest_first else place > last)
    order = [column.desc() if newest_first else column for column in position]
    return rows.order_by(*order).limit(bindparam("limit")).offset(bindparam("offset"))


class Query:
    """The statements that list ``rows``, built once.

    ``position`` is the order: (time, key) or (key). The entities have fields with the names of
    these columns. ``owner`` is the condition for the rows of one owner, which is the parameter
    ``owner``. ``counted`` counts all rows, by default those in the table of the key.
    ``quick_count`` also counts all rows, but cannot be combined with the condition ``owner``.
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


insert_into = postgresql.insert
"""``insert`` with ``on_conflict_do_update`` and ``on_conflict_do_nothing``. SQLAlchemy compiles
PostgreSQL's clauses for SQLite, too, but not SQLite's for PostgreSQL."""


def upsert(
    table: Table,
    keys: Sequence[str],
    *changed: str,
    where: Callable[[Any], ColumnElement[bool]] | None = None,
    **computed: Any,
) -> postgresql.Insert:
    """Insert a row, or update the row with the same keys. The columns ``changed`` get the values of
    the new row, the columns ``computed`` get the values of expressions. ``where`` returns the
    condition of the update from the columns of the new row."""
    row = insert_into(table)
    new = {name: row.excluded[name] for name in changed}
    return row.on_conflict_do_update(
        index_elements=keys,
        set_={**new, **computed},
        where=None if where is None else where(row.excluded),
    )


class _ByDialect(FunctionElement[Any]):
    """SQL that differs between the databases; the braces stand for the arguments."""

    inherit_cache = True
    sqlite: str
    postgresql: str


@compiles(_ByDialect)
def _compiled(element: _ByDialect, compiler: SQLCompiler, **keywords: Any) -> str:
    template: str = getattr(element, compiler.dialect.name)
    return template.format(*(compiler.process(one, **keywords) for one in element.clauses))


class now_ms(_ByDialect):  # noqa: N801 - reads like the SQL function it is
    """The database's clock, in milliseconds since 1970."""

    type = BigInteger()
    sqlite = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
    postgresql = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"


class like(_ByDialect):  # noqa: N801 - see above
    """``LIKE`` with the backslash as escape character. It is PostgreSQL's default and not named
    there: PostgreSQL would evaluate an ESCAPE clause again for each row."""

    type = Boolean()
    sqlite = r"({} LIKE {} ESCAPE '\')"
    postgresql = "{} LIKE {}"


class in_order(_ByDialect):  # noqa: N801 - see above
    """The sort key of a text in lists: ASCII letters in lower case, compared byte by byte."""

    type = Text()
    sqlite = "lower({})"
    postgresql = 'lower({} COLLATE "C")'


class json_items(_ByDialect):  # noqa: N801 - see above
    """The texts in a JSON list, as rows of one column ``value``."""

    type = Text()
    sqlite = "json_each({})"
    postgresql = "json_array_elements_text(CAST({} AS JSON))"


class user_of_change(_ByDialect):  # noqa: N801 - see above
    """``user_uuid`` of a record that was deleted or created, from the changes in its audit
    entry."""

    type = Text()
    sqlite = "coalesce(json_extract({0}, '$.user_uuid.old'), json_extract({0}, '$.user_uuid.new'))"
    postgresql = (
        "coalesce(CAST({0} AS JSON) -> 'user_uuid' ->> 'old', "
        "CAST({0} AS JSON) -> 'user_uuid' ->> 'new')"
    )


class json_list(FunctionElement[Any]):  # noqa: N801 - see above
    """The values as a JSON list, in a text."""

    inherit_cache = True
    type = Text()


_TRUE: ColumnElement[str] = literal_column("json('true')")
_FALSE: ColumnElement[str] = literal_column("json('false')")


@compiles(json_list)
def _compiled_list(element: json_list, compiler: SQLCompiler, **keywords: Any) -> str:
    if compiler.dialect.name == "postgresql":
        return f"json_build_array({compiler.process(element.clauses, **keywords)})"
    # SQLite stores truth values as numbers. ``|| ''`` makes the list a plain text: json_array()
    # would nest a JSON value as a list, not as a text.
    values = [
        case((one, _TRUE), (one.is_not(None), _FALSE)) if isinstance(one.type, Boolean) else one
        for one in element.clauses
    ]
    return f"(json_array({', '.join(compiler.process(one, **keywords) for one in values)}) || '')"


def at_places(phones: Table) -> ColumnElement[bool]:
    """Whether a phone's location is one of ``places``, a JSON list."""
    places = json_items(bindparam("places", type_=Text())).table_valued("value")
    return phones.c.location.in_(select(places.c.value))


class json_field(_ByDialect):  # noqa: N801 - see above
    """The text of an element, by its position, of a JSON list."""

    type = Text()
    sqlite = "json_extract({}, '$[' || {} || ']')"
    postgresql = "(CAST({} AS JSON) ->> {})"


class claimed(_ByDialect):  # noqa: N801 - see above
    """Whether this transaction holds the claim ``name`` until it ends: True unless another open
    transaction holds it. SQLite has one writing transaction at a time."""

    type = Boolean()
    sqlite = "({} IS NOT NULL)"
    # The first of the two numbers of an advisory lock marks the locks of phoneprov.
    postgresql = "pg_try_advisory_xact_lock(1886415973, hashtext({}))"


def held(table: Table, key: str) -> tuple[ColumnElement[bool], ...]:
    """Conditions for the row with this key: its lease has ``the_holder`` and ``the_fence``, and has
    not expired."""
    names = {key: f"the_{key}", "holder": "the_holder", "fence": "the_fence"}
    is_same = (table.c[name] == bindparam(parameter) for name, parameter in names.items())
    return *is_same, table.c.expires_at > now_ms()


def release_of(table: Table) -> Update:
    """Ends the leases of ``the_process``."""
    of_process = table.c.process == bindparam("the_process")
    return update(table).where(of_process, table.c.expires_at != 0).values(expires_at=0)


LONGEST_MS = 180_000
"""Three times the longest lease. A lease that ends even later was acquired before the clock was set
back, and counts as expired."""


def is_over(moment: ColumnElement[int]) -> ColumnElement[bool]:
    """Whether a lease that ends at this time has expired."""
    return or_(moment <= now_ms(), moment > now_ms() + LONGEST_MS)
