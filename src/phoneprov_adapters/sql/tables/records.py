"""How a kind of record is declared: its struct, and what the struct does not say."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from enum import Enum
from functools import cache
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Select,
    String,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    literal,
    null,
    select,
    update,
)
from sqlalchemy.schema import SchemaItem
from sqlalchemy.sql import FromClause
from sqlalchemy.types import TypeEngine

from phoneprov_adapters.sql.engines.statements import Query, Statement
from phoneprov_adapters.sql.tables.fields import Fields, parts_of
from phoneprov_adapters.sql.tables.searching import NOTED, SearchedTable
from phoneprov_core.kernel.fields import fields_of
from phoneprov_core.kernel.search import SearchFields

E = TypeVar("E", bound=Struct)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


# Columns that are searched or sorted are compared byte by byte in both databases: PostgreSQL's
# default collation depends on the operating system, and an upgrade of that breaks indexes.
text = Text().with_variant(Text(collation="C"), "postgresql")


def string(length: int) -> String:
    """Text with a maximum number of characters, compared byte by byte."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


def uuid() -> Column[str]:
    """The primary key of a table."""
    return Column("uuid", string(36), primary_key=True)


def moment(name: str, *, nullable: bool = False) -> Column[str]:
    """A column for a shown moment."""
    return Column(name, string(24), nullable=nullable)


def note_columns() -> tuple[Column[str], Column[str]]:
    """The note on a record, which is no field of it, and its text for searches."""
    return Column("note", Text), Column(NOTED, text, nullable=False, server_default="")


WITHOUT_NOTE: Mapping[str, ColumnElement[Any]] = {"note": null(), NOTED: literal("")}
"""The columns of a note in a new record."""


def _listed(table: str, *columns: str, filters: Sequence[str]) -> tuple[SchemaItem, SchemaItem]:
    """The index of a searched list. SQLite searches in the index alone; PostgreSQL, which bounds
    the size of an entry, searches in the rows."""
    return (
        only_on("sqlite", Index(f"ix_{table}_listed", *columns, "search", *filters)),
        only_on("postgresql", Index(None, *columns)),
    )


def only_on(dialect: str, index: Index) -> SchemaItem:
    """An index of one of the databases."""
    index.info["dialect"] = dialect
    return index.ddl_if(dialect=dialect)


def owner(name: str, table: str, **options: Any) -> Column[str]:
    """The record that owns this one, which is deleted with it."""
    return _reference(name, table, "CASCADE", **options)


def _reference(name: str, table: str, on_delete: str, **options: Any) -> Column[str]:
    reference = ForeignKey(f"{table}.uuid", ondelete=on_delete)
    return Column(name, string(36), reference, nullable=False, **options)


def user(**options: Any) -> Column[str]:
    """The account that owns the record."""
    return owner("user_uuid", "users", **options)


_LENGTHS = {"uuid": 36, "by": 36, "mac": 17, "ip": 45, "at": 24}
"""The lengths of identifiers, addresses and moments, by the last word of the field's name."""

_TYPES: dict[Any, TypeEngine[Any]] = {int: BigInteger(), bool: Boolean()}
"""Any other value is stored as text."""


def table_of(
    entity: type[Struct],
    name: str,
    /,
    *items: SchemaItem,
    key: str = "uuid",
    owners: Mapping[str, str] = {},
    used: Mapping[str, str] = {},
    unique: str | None = None,
    sealed: Sequence[str] = (),
    without: Sequence[str] = (),
    required: Sequence[str] = (),
    searched: type[Struct] | None = None,
    listed: bool = True,
    **types_of: TypeEngine[Any],
) -> Table:
    """The table of a kind of record: a column for each field of the struct, in their order.

    ``owners`` are the columns that name a record with which this one is deleted, and its table;
    ``used`` those that name one that cannot be deleted before. ``unique`` is a column with one
    record for each value. ``sealed`` fields are encrypted, ``without`` are those that are not
    stored, ``required`` those that every row has and some views of the record hide, ``types_of``
    the types that a field and its name do not show. ``searched`` is the command that selects
    records of a list: its fields that are columns are filters. ``listed`` is whether all records
    are listed, oldest first. ``items`` are indexes and columns: more ones, and those of fields that
    the others do not describe.
    """
    given = {item.name: item for item in items if isinstance(item, Column)}
    named = {
        *owners,
        *used,
        *sealed,
        *without,
        *required,
        *types_of,
        unique or key,
        key,
    } - given.keys()
    assert named <= {*entity.__struct_fields__}, f"{name}: not all of these are fields: {named}"
    columns: list[SchemaItem] = []
    for field in fields_of(entity):
        if field.name in without:
            continue
        if field.name in given:
            columns.append(given.pop(field.name))
            continue
        parts = set(parts_of(field.type))
        null = type(None) in parts and field.name not in required
        is_unique = field.name == unique or None
        if field.name in sealed:
            columns += [
                Column(f"{field.name}_sealed", LargeBinary, nullable=null),
                Column(f"{field.name}_key_id", string(16), nullable=null),
            ]
        elif field.name in owners:
            columns.append(owner(field.name, owners[field.name], unique=is_unique))
        elif field.name in used:
            columns.append(_reference(field.name, used[field.name], "RESTRICT", index=True))
        else:
            stored = types_of.get(field.name) or _type(field.name, parts)
            if is_unique and isinstance(stored, Text):
                stored = text
            columns.append(
                Column(
                    field.name,
                    stored,
                    primary_key=field.name == key,
                    nullable=null,
                    unique=is_unique,
                )
            )
    columns += given.values()
    indexes = [item for item in items if not isinstance(item, Column)]
    position = ("created_at", key)
    if searched is not None:
        columns.append(Column("search", text, nullable=False))
        names = {column.name for column in columns if isinstance(column, Column)}
        filters = [name for name in searched.__struct_fields__ if name in names]
        if NOTED in names:
            filters.append(NOTED)
        indexes += _listed(name, *position, filters=filters)
    elif listed:
        indexes.append(Index(None, *position))
    indexes += [Index(None, f"{field}_key_id", key) for field in sealed]
    return Table(name, metadata, *columns, *indexes)


def _type(name: str, parts: set[Any]) -> TypeEngine[Any]:
    if any(isinstance(part, type) and issubclass(part, Enum) for part in parts):
        return string(16)
    length = _LENGTHS.get(name.rpartition("_")[2])
    if length is not None and str in parts:
        return string(length)
    return next((_TYPES[part] for part in parts if part in _TYPES), Text())


class Records(Generic[E]):
    """The statements that keep one kind of entity in one table, built once.

    ``fields`` are those that have columns. ``key`` is the primary key if not given, ``owner`` the
    column that says whose record it is. ``search`` names the fields that are searched: their text
    is in the column ``search``; ``conditions`` are filters that are not columns. ``derived`` are
    columns that are not fields: the values of a new row, which ``put`` keeps. ``people`` and
    ``orders`` are those of ``SearchedTable``, ``audited`` whether their changes are in the audit
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
