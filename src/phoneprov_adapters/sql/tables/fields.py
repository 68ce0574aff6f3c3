"""How the fields of a record are stored in the columns of a table."""

from collections.abc import Callable, Iterator
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Struct
from sqlalchemy import Column, Table

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
    """A column of secrets and the one with the ids of their keys."""

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
    pair of columns, a secret SHA-256 as its bytes. ``columns`` are those of the fields in their
    order, that of the sealed data for a secret, and then those of the ids of keys.
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
