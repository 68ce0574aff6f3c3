"""How a kind of record is stored: the columns of its table, and its fields in them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

import msgspec
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
    String,
    Table,
    Text,
    literal,
    null,
)
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from phoneprov_adapters.security.crypto import Sealed, SecretBox
from phoneprov_core.kernel.fields import fields_of

E = TypeVar("E", bound=Struct)
Convert = Callable[[Any], Any]


def parts_of(annotation: Any) -> Iterator[Any]:
    """The types of a union, without their metadata."""
    if get_origin(annotation) is Annotated:
        yield from parts_of(annotation.__origin__)
    elif get_origin(annotation) in {Union, UnionType}:
        for part in get_args(annotation):
            yield from parts_of(part)
    else:
        yield annotation


class SealedColumn:
    """A column of secrets and the column with the ids of their keys."""

    def __init__(self, table: Table, name: str) -> None:
        self.name = name
        self.what = f"{table.name}.{name}"
        self.table = table
        self.sealed: Column[bytes] = table.c[f"{name}_sealed"]
        self.key_id: Column[str] = table.c[f"{name}_key_id"]
        (self.key,) = table.primary_key.columns

    def place(self, row: str) -> str:
        """The place of the secret of a row."""
        return f"{self.table.name}|{self.name}|{row}"

    def seal(self, box: SecretBox, secret: bytes | None, row: str) -> dict[str, Any]:
        """The values of both columns in the row with this key."""
        sealed = None if secret is None else box.seal(secret, self.place(row))
        values = (None, None) if sealed is None else (sealed.data, sealed.key_id)
        return dict(zip((self.sealed.name, self.key_id.name), values, strict=True))

    def open(self, box: SecretBox, key_id: str, data: bytes, row: str) -> bytes:
        """The secret of a row. Raises ``WrongKey``."""
        return box.open(Sealed(key_id, data), self.place(row))


class Fields(Generic[E]):
    """The fields of a struct that have columns in a table.

    A member of an enumeration is stored as its value, a tuple or dict as JSON, a secret text in a
    pair of columns, a secret SHA-256 as its bytes. ``columns`` are the columns of the fields in
    their order, for a secret of the sealed data, and then the columns of the ids of keys.
    """

    def __init__(self, kind: type[E], table: Table) -> None:
        self.kind = kind
        stored = {field.name: field.type for field in fields_of(kind)}
        self._sealed = [SealedColumn(table, name) for name in stored if f"{name}_sealed" in table.c]
        sealed = {column.name: column.sealed for column in self._sealed}
        self.names = tuple(name for name in stored if name in sealed or name in table.c)
        self.columns = [
            *(table.c[name] if name not in sealed else sealed[name] for name in self.names),
            *(column.key_id for column in self._sealed),
        ]
        self._key: str = table.primary_key.columns[0].name
        self._converted: dict[str, tuple[Convert, Convert]] = {
            name: pair
            for name in self.names
            if name not in sealed and (pair := _converted(stored[name])) is not None
        }
        self.is_plain = self.names == tuple(stored) and not self._sealed and not self._converted

    def read(self, row: Any, box: SecretBox, **others: Any) -> E:
        """The record in a row of ``columns``; ``others`` are the values of its other fields."""
        if self.is_plain:
            return self.kind(*row)
        values = dict(zip(self.names, row, strict=False))
        for name, (_, of_column) in self._converted.items():
            if values[name] is not None:
                values[name] = of_column(values[name])
        for column, key_id in zip(self._sealed, row[len(self.names) :], strict=True):
            if (data := values[column.name]) is not None:
                secret = column.open(box, key_id, data, values[self._key])
                values[column.name] = secret.hex() if column.name == "sha256" else secret.decode()
        return self.kind(**values, **others)

    def first(self, row: Any, box: SecretBox) -> tuple[E | None, Any]:
        """The record at the begin of a row of several tables, None if it is missing, and the rest
        of the row."""
        size = len(self.columns)
        return None if row[0] is None else self.read(row[:size], box), row[size:]

    def row(self, record: E, box: SecretBox) -> dict[str, Any]:
        """The values of ``columns``, by their names."""
        row = {name: getattr(record, name) for name in self.names}
        for name, (to_column, _) in self._converted.items():
            if row[name] is not None:
                row[name] = to_column(row[name])
        for column in self._sealed:
            if (secret := row.pop(column.name)) is not None:
                secret = bytes.fromhex(secret) if column.name == "sha256" else secret.encode()
            row |= column.seal(box, secret, row[self._key])
        return row


def _converted(annotation: Any) -> tuple[Convert, Convert] | None:
    """The conversions to a column and back."""
    for part in parts_of(annotation):
        if isinstance(part, type) and issubclass(part, Enum):
            return lambda member: member.value, part
        if get_origin(part) in {tuple, dict}:
            return json_text, msgspec.json.Decoder(part).decode
    return None


def json_text(value: Any) -> str:
    """A value in JSON."""
    return msgspec.json.encode(value).decode()


NOTED = "noted"
"""The column with the searched text of a note, in tables whose records have notes."""

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
    ``used`` the columns that name a record that cannot be deleted before. ``unique`` is a column
    with one record for each value. ``sealed`` fields are encrypted, ``without`` are fields that are
    not stored, ``required`` fields that every row has and some views of the record hide,
    ``types_of`` the types that a field and its name do not show. ``searched`` is the command that
    selects records of a list: its fields that are columns are filters. ``listed`` is whether all
    records are listed, oldest first. ``items`` are indexes and columns: further ones, and columns
    of fields that the others do not describe.
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
