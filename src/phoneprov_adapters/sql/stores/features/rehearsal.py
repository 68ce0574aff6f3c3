"""The rows that a batch needs, as they are stored: read for a twin, and written into it."""

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Text, bindparam, cast, func, insert, or_, select

from phoneprov_adapters.security.crypto import Subkeys
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement, json_items
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables import metadata
from phoneprov_adapters.sql.tables.columns import json_text
from phoneprov_adapters.sql.tables.people import audit
from phoneprov_adapters.sql.tables.switching import (
    batch_phones,
    batches,
    deployments,
    profile_revisions as revisions,
)

_KEPT, _PLACED = 8, 3
"""Deployments of each phone that a twin has: the newest, and the newest of deployments with a
place."""


def _among(name: str) -> Any:
    return select(json_items(bindparam(name, type_=Text())).table_valued("value").c.value)


@cache
def _rows(table: str, column: str | None) -> Statement:
    of = metadata.tables[table]
    statement = select(*of.c)
    return statement if column is None else statement.where(of.c[column].in_(_among("keys")))


def _deployments(*since: ColumnElement[bool]) -> Statement:
    """The newest ones of each phone under these conditions."""
    d, by_number = deployments.c, deployments.c.number.desc()
    ranked = (
        select(
            d.uuid,
            d.place,
            func.row_number().over(partition_by=d.mac, order_by=by_number).label("rank"),
            func.row_number()
            .over(partition_by=(d.mac, d.place.is_(None)), order_by=by_number)
            .label("placed"),
        )
        .where(d.mac.in_(_among("keys")), *since)
        .subquery()
    )
    is_kept = or_(
        ranked.c.rank <= _KEPT, ranked.c.place.is_not(None) & (ranked.c.placed <= _PLACED)
    )
    return select(*d).where(d.uuid.in_(select(ranked.c.uuid).where(is_kept)))


def _revisions() -> Statement:
    r, other = revisions.c, revisions.alias("other")
    newest = select(func.max(other.c.number)).where(other.c.profile_uuid == r.profile_uuid)
    numbers = json_items(bindparam("numbers", type_=Text())).table_valued("value").c.value
    named = r.number.in_(select(cast(numbers, BigInteger)))
    return select(*r).where(
        r.profile_uuid.in_(_among("keys")),
        or_(named, r.number == newest.scalar_subquery()),
    )


_AT: ColumnElement[str] = bindparam("at", type_=Text())
_DEPLOYMENTS, _REVISIONS = _deployments(), _revisions()
_BEFORE = _deployments(deployments.c.created_at <= _AT)
_SINCE: Statement = select(*deployments.c).where(
    deployments.c.mac.in_(_among("keys")), deployments.c.created_at > _AT
)
_CHANGED: Statement = select(*audit.c).where(
    audit.c.resource_id.in_(_among("keys")),
    or_(audit.c.resource == "phone", audit.c.resource == "desk"),
    audit.c.at > _AT,
)
_OLDEST = select(audit.c.uuid).order_by(audit.c.at, audit.c.uuid).limit(1)
_KEPT_SINCE: Statement = select(*audit.c).where(
    or_(audit.c.action == "retention.pruned", audit.c.uuid.in_(_OLDEST))
)
_NEWEST: Statement = (
    select(*deployments.c)
    .where(deployments.c.ended_at.is_not(None))
    .order_by(deployments.c.created_at.desc(), deployments.c.uuid.desc())
    .limit(bindparam("most"))
)
_BUSY: Statement = (
    select(
        batch_phones.c.mac,
        batch_phones.c.waiting_since,
        batch_phones.c.ended_at,
        batch_phones.c.state,
        batch_phones.c.message,
    )
    .join_from(batches, batch_phones, batch_phones.c.batch_uuid == batches.c.uuid)
    .where(
        batches.c.created_at >= bindparam("since"),
        batch_phones.c.mac.in_(_among("keys")),
        batch_phones.c.waiting_since.is_not(None),
    )
    .order_by(batches.c.created_at)
)


@cache
def _insert(table: str) -> Statement:
    return insert(metadata.tables[table])


class SqlTwin(SqlQueries):
    """Rows of tables, with secrets sealed as they are stored."""

    @property
    def keys(self) -> Subkeys:
        """What opens these secrets."""
        return self._connection.box.keys

    async def rows(
        self, table: str, column: str | None = None, keys: Sequence[str] = ()
    ) -> list[tuple[Any, ...]]:
        """The rows of a table whose ``column`` is one of the keys; without a column all."""
        values = {} if column is None else {"keys": json_text(keys)}
        return _plain(await self._connection.fetch_all(_rows(table, column), **values))

    async def deployments(self, macs: Sequence[str]) -> list[tuple[Any, ...]]:
        """The newest deployments of each phone, and of each the newest with a place."""
        return _plain(await self._connection.fetch_all(_DEPLOYMENTS, keys=json_text(macs)))

    async def past(self, macs: Sequence[str], at: str) -> dict[str, list[tuple[Any, ...]]]:
        """The deployments around a moment and since then, and the changes of phones and desks
        since."""
        values = {"keys": json_text(macs), "at": at}
        ask = self._connection.fetch_all
        placed = [*await ask(_BEFORE, **values), *await ask(_SINCE, **values)]
        return {"deployments": _plain(placed), "audit": _plain(await ask(_CHANGED, **values))}

    async def kept_since(self) -> list[tuple[Any, ...]]:
        """The entries of the trail that say which moments are kept."""
        return _plain(await self._connection.fetch_all(_KEPT_SINCE))

    async def newest_deployments(self, most: int) -> list[tuple[Any, ...]]:
        """The newest deployments of all phones that ended."""
        return _plain(await self._connection.fetch_all(_NEWEST, most=most))

    async def revisions(
        self, profiles: Sequence[str], numbers: Sequence[int]
    ) -> list[tuple[Any, ...]]:
        """The newest revision of each profile, and the revisions with these numbers."""
        values = {"keys": json_text(profiles), "numbers": json_text(numbers)}
        return _plain(await self._connection.fetch_all(_REVISIONS, **values))

    async def busy(self, macs: Sequence[str], since: str) -> list[tuple[Any, ...]]:
        """The phones that batches since then found busy: MAC, since when, when the batch ended for
        it, its state in the batch and the message; the newest batch last."""
        return _plain(await self._connection.fetch_all(_BUSY, keys=json_text(macs), since=since))

    async def load(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write rows with all columns of a table, in their order."""
        names = [one.name for one in metadata.tables[table].c]
        for row in rows:
            await self._connection.execute(_insert(table), **dict(zip(names, row, strict=True)))


def _plain(rows: Sequence[Row]) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in rows]


def place_in(table: str, column: str) -> int:
    """The position of a column in the rows of a table."""
    return [one.name for one in metadata.tables[table].c].index(column)


class RehearsalStores:
    """What a rehearsal copies."""

    _connection: Connection

    twin = cached_property(lambda self: SqlTwin(self._connection))
