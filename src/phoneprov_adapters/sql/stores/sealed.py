"""The keys of stored secrets, and sealing of secrets with another key."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from msgspec import Struct
from sqlalchemy import Select, bindparam, func, literal_column, select, update

from phoneprov_adapters.security.crypto import Sealed
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables import metadata
from phoneprov_adapters.sql.tables.columns import SealedColumn
from phoneprov_adapters.sql.tables.inventory import vendor_users
from phoneprov_adapters.sql.tables.people import api_tokens, users

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


@cache
def _counts_of(column: SealedColumn) -> Statement:
    return _counts(column.key_id).where(column.key_id.is_not(None))


@cache
def _needed(column: SealedColumn) -> Statement:
    """The ids of the keys, one step through the index for each."""
    key_id, other = column.key_id, column.table.alias("other").c[column.key_id.name]
    ids = select(func.min(key_id).label("key_id")).cte("ids", recursive=True)
    following = select(func.min(other)).where(other > ids.c.key_id).scalar_subquery()
    ids = ids.union_all(select(following).where(ids.c.key_id.is_not(None)))
    return select(ids.c.key_id).where(ids.c.key_id.is_not(None))


@cache
def _under(column: SealedColumn) -> Statement:
    # A row that another transaction holds is skipped until the next pass: waiting for it while
    # holding other rows could deadlock.
    return (
        select(column.key, column.sealed)
        .where(column.key_id == bindparam("key_id"), column.key > bindparam("after"))
        .order_by(column.key)
        .limit(bindparam("limit"))
        .with_for_update(skip_locked=True)
    )


@cache
def _replace(column: SealedColumn) -> Statement:
    """The condition that the sealed bytes have not changed since they were read."""
    return (
        update(column.table)
        .where(column.key == bindparam("row"), column.sealed == bindparam("before"))
        .values({column.sealed: bindparam("sealed"), column.key_id: bindparam("key_id")})
        .returning(column.key)
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


class SqlSecrets(SqlQueries):
    """The stored secrets, for key rotation."""

    async def uses(self) -> list[KeyUse]:
        """The number of secrets per key. No other column of the database depends on keys."""
        counts = [(one.what, _counts_of(one)) for one in SEALED_COLUMNS]
        counts += [(PINS, _PIN_COUNTS), (TOKENS, _TOKEN_COUNTS)]
        return [
            KeyUse(what, *row)
            for what, statement in counts
            for row in await self._connection.fetch_all(statement)
        ]

    async def needed(self) -> list[KeyUse]:
        """The keys that each kind of secret needs, with the count 0 for all but PINs."""
        uses = [
            KeyUse(column.what, row[0], 0)
            for column in SEALED_COLUMNS
            for row in await self._connection.fetch_all(_needed(column))
        ]
        return uses + await self._all(partial(KeyUse, PINS), _PIN_COUNTS)

    async def pin_owners(self, key_id: str, limit: int) -> list[str]:
        """The names of users whose PIN needs this key, at most ``limit`` of them."""
        return await self._all(str, _PIN_OWNERS, key_id=key_id, limit=limit)

    async def under(
        self, column: SealedColumn, key_id: str, limit: int, *, after: str = ""
    ) -> Sequence[tuple[str, Sealed]]:
        """Rows whose secret was sealed with this key, in the order of their uuids, after ``after``.
        They are locked until the transaction ends; rows that other transactions hold are
        skipped."""
        rows = await self._connection.fetch_all(
            _under(column), key_id=key_id, after=after, limit=limit
        )
        return [(str(row[0]), Sealed(key_id, bytes(row[1]))) for row in rows]

    async def replace(self, column: SealedColumn, row: str, before: Sealed, sealed: Sealed) -> bool:
        """Replace the secret ``before``; returns False if it was changed meanwhile."""
        values = {"before": before.data, "sealed": sealed.data, "key_id": sealed.key_id}
        return bool(await self._connection.fetch_all(_replace(column), row=row, **values))
