"""The keys of stored secrets, and sealing of secrets with another key."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, Select, Table, bindparam, func, literal_column, select, update

from phoneprov_adapters.security.box import Sealed, SecretBox
from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.tables import metadata
from phoneprov_adapters.sql.tables.accounts import api_tokens, users
from phoneprov_adapters.sql.tables.inventory import vendor_users

PINS = "pins"
"""The name of the hashes of PINs: they need a key, but cannot be decrypted."""

TOKENS = "API tokens"
"""The name of the hashes of API tokens: each is computed anew when its token is next used."""

HASHES = {PINS, TOKENS}

_SUFFIX = "_sealed"
_PIN_HASH = "_" * 16 + "$argon2id$%"  # after the id of its key


class KeyUse(Struct, frozen=True):
    """The number of values of one kind that need a key. ``what`` is the ``table.column`` of sealed
    ones, or ``pins``."""

    what: str
    key_id: str
    count: int


def _counts(key_id: Any) -> Select[Any]:
    columns: list[Any] = [key_id, func.count()]
    return select(*columns).group_by(key_id)


class SealedColumn:
    """A column of secrets and the one with the ids of their keys, with their statements."""

    def __init__(self, table: Table, name: str) -> None:
        self.name = name
        self.what = f"{table.name}.{name}"
        self._table = table
        self._sealed: Column[bytes] = table.c[name + _SUFFIX]
        self._key_id: Column[str] = table.c[f"{name}_key_id"]
        (self._key,) = table.primary_key.columns

    @property
    def names(self) -> tuple[str, str]:
        """The names of both columns, that of the ids first."""
        return self._key_id.name, self._sealed.name

    def place(self, row: str) -> str:
        """The place of the secret of a row."""
        return f"{self._table.name}|{self.name}|{row}"

    def sealed(self, box: SecretBox, secret: bytes | None, row: str) -> dict[str, Any]:
        """The values of both columns in the row with this key."""
        sealed = None if secret is None else box.seal(secret, self.place(row))
        values = (None, None) if sealed is None else (sealed.key_id, sealed.data)
        return dict(zip(self.names, values, strict=True))

    def opened(self, box: SecretBox, key_id: str, data: bytes, row: str) -> bytes:
        """The secret of a row. Raises ``WrongKey``."""
        return box.open(Sealed(key_id, data), self.place(row))

    @cached_property
    def counts(self) -> Statement:
        return _counts(self._key_id).where(self._key_id.is_not(None))

    @cached_property
    def needed(self) -> Statement:
        """The ids of the keys, one step through the index for each."""
        other = self._table.alias("other").c[self._key_id.name]
        ids = select(func.min(self._key_id).label("key_id")).cte("ids", recursive=True)
        following = select(func.min(other)).where(other > ids.c.key_id).scalar_subquery()
        ids = ids.union_all(select(following).where(ids.c.key_id.is_not(None)))
        return select(ids.c.key_id).where(ids.c.key_id.is_not(None))

    @cached_property
    def under(self) -> Statement:
        # A row that another transaction holds is skipped until the next pass: waiting for it while
        # holding other rows could deadlock.
        return (
            select(self._key, self._sealed)
            .where(self._key_id == bindparam("key_id"), self._key > bindparam("after"))
            .order_by(self._key)
            .limit(bindparam("limit"))
            .with_for_update(skip_locked=True)
        )

    @cached_property
    def replace(self) -> Statement:
        """The condition that the sealed bytes are still the ones that were read."""
        return (
            update(self._table)
            .where(self._key == bindparam("row"), self._sealed == bindparam("before"))
            .values({self._sealed: bindparam("sealed"), self._key_id: bindparam("key_id")})
            .returning(self._key)
        )


SEALED_COLUMNS = tuple(
    SealedColumn(table, column.name.removesuffix(_SUFFIX))
    for table in metadata.sorted_tables
    for column in table.columns
    if column.name.endswith(_SUFFIX)
)
"""Every column of secrets, by its name."""

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


_TOKEN_COUNTS = _counts(func.substr(api_tokens.c.hash, literal_column("1"), literal_column("16")))


class SqlSecrets:
    """The stored secrets, for key rotation."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def uses(self) -> list[KeyUse]:
        """The number of secrets per key. No other column of the database depends on keys."""
        return [
            KeyUse(column.what, *row)
            for column in SEALED_COLUMNS
            for row in await self._connection.fetch_all(column.counts)
        ] + [
            *await self._pins(),
            *(KeyUse(TOKENS, *row) for row in await self._connection.fetch_all(_TOKEN_COUNTS)),
        ]

    async def needed(self) -> list[KeyUse]:
        """The keys that each kind of secret needs, with the count 0 for all but PINs."""
        return [
            KeyUse(column.what, row[0], 0)
            for column in SEALED_COLUMNS
            for row in await self._connection.fetch_all(column.needed)
        ] + await self._pins()

    async def _pins(self) -> list[KeyUse]:
        return [KeyUse(PINS, *row) for row in await self._connection.fetch_all(_PIN_COUNTS)]

    async def pin_owners(self, key_id: str, limit: int) -> list[str]:
        """The names of users whose PIN needs this key, at most ``limit`` of them."""
        rows = await self._connection.fetch_all(_PIN_OWNERS, key_id=key_id, limit=limit)
        return [str(row[0]) for row in rows]

    async def under(
        self, column: SealedColumn, key_id: str, limit: int, *, after: str = ""
    ) -> Sequence[tuple[str, Sealed]]:
        """Rows whose secret was sealed with this key, in the order of their uuids, after ``after``.
        They are locked until the transaction ends; rows that other transactions hold are
        skipped."""
        rows = await self._connection.fetch_all(
            column.under, key_id=key_id, after=after, limit=limit
        )
        return [(str(row[0]), Sealed(key_id, bytes(row[1]))) for row in rows]

    async def replace(self, column: SealedColumn, row: str, before: Sealed, sealed: Sealed) -> bool:
        """Replace the secret ``before``; returns False if it was changed meanwhile."""
        replaced = await self._connection.fetch_all(
            column.replace,
            row=row,
            before=before.data,
            sealed=sealed.data,
            key_id=sealed.key_id,
        )
        return bool(replaced)
