"""Which keys the stored secrets need, and how a secret is sealed anew under another one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from sqlalchemy import (
    Column,
    Select,
    Table,
    bindparam,
    func,
    literal_column,
    select,
    update,
)

from phoneprov_adapters.security.box import Sealed
from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.tables import metadata, users, vendor_users

PINS = "pins"
"""What the hashes of PINs are called: they are made with a key, but cannot be opened."""

_SUFFIX = "_sealed"
_PIN_HASH = "_" * 16 + "$argon2id$%"  # behind the id of its key


class KeyUse(Struct, frozen=True):
    """``count`` values of one kind need a key. ``what`` is the ``table.column`` of sealed
    ones, or ``pins``."""

    what: str
    key_id: str
    count: int


def _counts(key_id: Any) -> Select[Any]:
    columns: list[Any] = [key_id, func.count()]
    return select(*columns).group_by(key_id)


class SealedColumn:
    """One column of secrets, and the statements that look after it."""

    def __init__(self, table: Table, column: Column[bytes]) -> None:
        self.name = column.name.removesuffix(_SUFFIX)
        self.what = f"{table.name}.{self.name}"
        self._table = table
        self._sealed = column
        self._key_id: Column[str] = table.c[f"{self.name}_key_id"]
        (self._key,) = table.primary_key.columns

    def place(self, row: str) -> str:
        """What the secret of a row is bound to."""
        return f"{self._table.name}|{self.name}|{row}"

    @cached_property
    def counts(self) -> Statement:
        return _counts(self._key_id).where(self._key_id.is_not(None))

    @cached_property
    def under(self) -> Statement:
        # A row that somebody is changing is left for the next round. Waiting for it, with
        # rows of our own in hand, could end in a deadlock that the other one pays for.
        return (
            select(self._key, self._sealed)
            .where(self._key_id == bindparam("key_id"), self._key > bindparam("after"))
            .order_by(self._key)
            .limit(bindparam("limit"))
            .with_for_update(skip_locked=True)
        )

    @cached_property
    def replace(self) -> Statement:
        """The sealed bytes that were read must still be there."""
        return (
            update(self._table)
            .where(self._key == bindparam("row"), self._sealed == bindparam("before"))
            .values({self._sealed: bindparam("sealed"), self._key_id: bindparam("key_id")})
            .returning(self._key)
        )


SEALED_COLUMNS = tuple(
    SealedColumn(table, column)
    for table in metadata.sorted_tables
    for column in table.columns
    if column.name.endswith(_SUFFIX)
)
"""Every column of secrets there is, found by its name."""

_pin_key_id = func.substr(vendor_users.c.pin_code, literal_column("1"), literal_column("16"))
_is_pin_hash = vendor_users.c.pin_code.like(_PIN_HASH)
_PIN_COUNTS = _counts(_pin_key_id).where(_is_pin_hash)
_PIN_OWNERS = (
    select(users.c.username)
    .join_from(vendor_users, users, users.c.uuid == vendor_users.c.user_uuid)
    .where(_is_pin_hash, _pin_key_id == bindparam("key_id"))
    .order_by(users.c.username_key)
    .limit(bindparam("limit"))
)


class SqlSecrets:
    """The stored secrets as somebody sees them who looks after their keys."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def uses(self) -> list[KeyUse]:
        """What needs which key. Nothing else in the database does."""
        uses = [
            KeyUse(column.what, *row)
            for column in SEALED_COLUMNS
            for row in await self._connection.rows(column.counts)
        ]
        return [*uses, *[KeyUse(PINS, *row) for row in await self._connection.rows(_PIN_COUNTS)]]

    async def pin_owners(self, key_id: str, limit: int) -> list[str]:
        """The names of users whose PIN needs this key, at most ``limit`` of them."""
        rows = await self._connection.rows(_PIN_OWNERS, key_id=key_id, limit=limit)
        return [str(row[0]) for row in rows]

    async def under(
        self, column: SealedColumn, key_id: str, limit: int, *, after: str = ""
    ) -> Sequence[tuple[str, Sealed]]:
        """Rows whose secret was sealed under this key, and the secret, in the order of their
        uuids and behind ``after``. They are held until the transaction ends; rows that others
        hold are passed over."""
        rows = await self._connection.rows(column.under, key_id=key_id, after=after, limit=limit)
        return [(str(row[0]), Sealed(key_id, bytes(row[1]))) for row in rows]

    async def replace(self, column: SealedColumn, row: str, before: Sealed, sealed: Sealed) -> bool:
        """Put a secret in the place of ``before``; whether ``before`` was still there."""
        replaced = await self._connection.rows(
            column.replace,
            row=row,
            before=before.data,
            sealed=sealed.data,
            key_id=sealed.key_id,
        )
        return bool(replaced)
