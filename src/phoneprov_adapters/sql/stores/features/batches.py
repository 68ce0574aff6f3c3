"""Batches in SQL: reading, leases of batches and claims of their phones."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache, cached_property
from typing import Any

import msgspec
from sqlalchemy import Select, Text, bindparam, exists, func, or_, select

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Query, Statement, json_items
from phoneprov_adapters.sql.stores.features import batch_statements as sql
from phoneprov_adapters.sql.stores.store import SqlNewestRows, SqlRows, reader
from phoneprov_adapters.sql.tables.columns import Fields, json_text
from phoneprov_adapters.sql.tables.switching import batch_phones, batches
from phoneprov_core.features.batches.commands import WantedPhones
from phoneprov_core.features.batches.model import (
    Batch,
    BatchPhone,
    BatchState,
    Counts,
    PhoneState,
)
from phoneprov_core.features.batches.ports import (
    BatchItem,
    BatchLease,
    BatchStore,
    Claim,
    FirstPhones,
    PlannedVariant,
    Transition,
)
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.ports import Rows
from phoneprov_core.kernel.values import millis
from phoneprov_core.switching.deployments.model import Confirmation

_STATES = tuple(state.value for state in PhoneState)
_PHONE = Fields(BatchPhone, batch_phones)

_COUNTS: Statement = (
    select(batch_phones.c.state, func.count())
    .where(batch_phones.c.batch_uuid == bindparam("batch_uuid"))
    .group_by(batch_phones.c.state)
)


def _counts_in(rows: Any) -> Counts:
    """The counts in the rows of ``_COUNTS``."""
    found = {str(state): int(count) for state, count in rows}
    return Counts(**found, total=sum(found.values()))


@cache
def _phones(*, state: bool) -> Query:
    def narrowed(statement: Select[Any]) -> Select[Any]:
        matching = statement.where(
            batch_phones.c.batch_uuid == bindparam("batch_uuid"),
            batch_phones.c.position > bindparam("begin"),
        )
        return matching.where(batch_phones.c.state == bindparam("state")) if state else matching

    count = select(func.count()).select_from(batch_phones)
    return Query(
        narrowed(select(*_PHONE.columns)), (batch_phones.c.position,), counted=narrowed(count)
    )


_undo = batches.alias("undo")
_UNDONE_BY = (
    select(_undo.c.uuid)
    .where(_undo.c.undo_of == batches.c.uuid)
    .limit(1)
    .correlate(batches)
    .scalar_subquery()
)
_COLUMNS = [*sql.BATCH.columns, _UNDONE_BY.label("undone_by")]
_FIND = select(*_COLUMNS).where(batches.c.uuid == bindparam("uuid"))
_FIND_AND_HOLD: Statement = _FIND.with_for_update(of=batches)


def _counted(state: str) -> Any:
    return (
        select(func.count())
        .select_from(batch_phones)
        .where(batch_phones.c.batch_uuid == batches.c.uuid, batch_phones.c.state == state)
        .correlate(batches)
        .scalar_subquery()
    )


_BATCHES = Query(
    select(*_COLUMNS, *(_counted(state) for state in _STATES)),
    (batches.c.created_at, batches.c.uuid),
    owner=batches.c.user_uuid == bindparam("owner"),
)
"""Batches, with the counts of their phones by state after the other columns."""


def _among(column: Any, name: str) -> Any:
    return column.in_(
        select(json_items(bindparam(name, type_=Text())).table_valued("value").c.value)
    )


_OPEN_WITH = (
    select(*_COLUMNS)
    .where(
        batches.c.ended_at.is_(None),
        exists().where(
            batch_phones.c.batch_uuid == batches.c.uuid,
            batch_phones.c.state == PhoneState.WAITING.value,
            or_(
                _among(batch_phones.c.mac, "macs"),
                _among(batch_phones.c.profile_uuid, "profiles"),
                _among(batch_phones.c.planned_profile, "profiles"),
                _among(batches.c.profile_uuid, "profiles"),
            ),
        ),
    )
    .order_by(batches.c.created_at, batches.c.uuid)
)


class SqlBatches(SqlNewestRows[Batch], BatchStore):
    """Batches, by uuid. The process of the connection acquires them."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _BATCHES, self._counted)

    def _batch(self, row: Row, phones: Counts) -> Batch:
        """The batch in a row of ``_COLUMNS``."""
        *fields, undone_by = row
        return sql.BATCH.read(fields, self._connection.box, phones=phones, undone_by=undone_by)

    def _counted(self, row: Row) -> Batch:
        """The batch in a row of ``_BATCHES``."""
        size = len(_COLUMNS)
        return self._batch(row[:size], _counts_in(zip(_STATES, row[size:], strict=True)))

    async def add(self, batch: Batch) -> None:
        row = sql.BATCH.row(batch, self._connection.box)
        row |= {"holder": "", "process": "", "fence": 0, "expires_at": 0, "begins_at": 0}
        row["pinned"] = None
        if batch.start_at is not None:
            row["begins_at"] = millis(datetime.fromisoformat(batch.start_at))
        await self._connection.fetch_all(sql.ADD, **row)

    async def add_phones(self, phones: Sequence[BatchItem]) -> None:
        rows = [msgspec.structs.astuple(phone) for phone in phones]
        await self._connection.fetch_all(sql.ADD_PHONES, phones=json_text(rows))

    async def pin(
        self, batch: Batch, variants: Sequence[PlannedVariant], *, revisions: bool
    ) -> None:
        fetch, of = self._connection.fetch_all, {"the_uuid": batch.uuid}
        await fetch(sql.PIN_PROFILES, **of, the_profile=batch.profile_uuid)
        if revisions:
            await fetch(sql.PIN_REVISIONS, **of)
        await fetch(sql.PIN_VARIANTS, **of, the_variants=json_text(variants))

    async def pinned(self, batch_uuid: str) -> list[PlannedVariant]:
        row = await self._connection.fetch_one(sql.PINNED, the_uuid=batch_uuid)
        kept = row[0] if row and row[0] else "[]"
        return msgspec.json.decode(kept, type=list[PlannedVariant])

    async def items(self, batch_uuid: str, after: int, most: int) -> list[Claim]:
        return await self._all(Claim, sql.ITEMS, the_uuid=batch_uuid, after=after, most=most)

    async def find(self, key: str) -> Batch | None:
        if not key:
            return None
        statement = _FIND_AND_HOLD if self._connection.writing else _FIND
        row = await self._connection.fetch_one(statement, uuid=key)
        return None if row is None else self._batch(row, await self.counts(key))

    def phones(self, batch_uuid: str, wanted: WantedPhones) -> Rows[BatchPhone]:
        values = {"batch_uuid": batch_uuid, "begin": wanted.after or 0}
        if wanted.state is not None:
            values["state"] = wanted.state
        query = _phones(state=wanted.state is not None)
        return SqlRows(self._connection, query, reader(_PHONE, self._connection.box), **values)

    async def counts(self, batch_uuid: str) -> Counts:
        return _counts_in(await self._connection.fetch_all(_COUNTS, batch_uuid=batch_uuid))

    async def state(self, batch_uuid: str) -> BatchState | None:
        return await self._one(BatchState, self._held(sql.STATE), the_uuid=batch_uuid)

    async def put(self, batch: Batch) -> None:
        row = sql.BATCH.row(batch, self._connection.box)
        row["the_uuid"] = row.pop("uuid")
        if await self._connection.fetch_one(sql.PUT, **row) is None:
            raise NotFound("There is no such batch.")

    async def open_with(self, macs: Sequence[str], profiles: Sequence[str]) -> list[Batch]:
        values = {"macs": json_text(macs), "profiles": json_text(profiles)}
        return await self._all(lambda *row: self._batch(row, Counts()), _OPEN_WITH, **values)

    async def any_free(self) -> bool:
        return await self._connection.fetch_one(sql.ANY_FREE) is not None

    async def take(self, holder: str, seconds: int) -> BatchLease | None:
        values = {"the_process": self._connection.process, "lifetime_ms": seconds * 1000}
        return await self._one(BatchLease, sql.TAKE, the_holder=holder, **values)

    async def keep(self, hold: BatchLease, seconds: int) -> BatchState | None:
        return await self._one(BatchState, sql.KEEP, **_held(hold), lifetime_ms=seconds * 1000)

    async def release(self, hold: BatchLease) -> None:
        await self._connection.fetch_all(sql.RELEASE, **_held(hold))

    async def release_of(self, process: str) -> None:
        await self._connection.fetch_all(sql.RELEASE_OF, the_process=process)

    async def claim(
        self, hold: BatchLease, most: int, transition: Transition, *, first: int | None = None
    ) -> list[Claim]:
        values = {"the_uuid": hold.batch_uuid, "most": most, "last": first or 2**31 - 1}
        statement = sql.claim(_shape(transition))
        claims = await self._all(Claim, statement, **values, **_values(transition))
        return sorted(claims, key=lambda claim: claim.position)

    async def first_phones(self, batch_uuid: str, first: int, now: str) -> list[FirstPhones]:
        values = {"the_uuid": batch_uuid, "the_first": first, "now": now}
        return await self._all(_first_phones, sql.FIRST_PHONES, **values)

    async def last_start(self, batch_uuid: str) -> str | None:
        row = await self._connection.fetch_one(sql.LAST_START, the_uuid=batch_uuid)
        return None if row is None else row[0]

    async def tried(self, batch_uuid: str, after: int, most: int) -> list[Claim]:
        return await self._all(Claim, sql.TRIED, the_uuid=batch_uuid, after=after, most=most)

    async def abandoned(self, hold: BatchLease, most: int) -> list[Claim]:
        values = {"the_uuid": hold.batch_uuid, "the_fence": hold.fence, "most": most}
        return await self._all(Claim, sql.ABANDONED, **values)

    async def move(self, claim: Claim, transition: Transition) -> bool:
        values = {"the_uuid": claim.batch_uuid, "the_fence": claim.fence, **_values(transition)}
        statement = sql.move(_shape(transition))
        moved = await self._connection.fetch_all(statement, the_position=claim.position, **values)
        return bool(moved)

    async def move_all(self, batch_uuid: str, transition: Transition) -> None:
        statement = sql.move_all(_shape(transition))
        await self._connection.fetch_all(statement, the_uuid=batch_uuid, **_values(transition))


def _first_phones(
    state: str, confirmation: str | None, is_lost: int, position: int, ended_at: str | None
) -> FirstPhones:
    known = None if confirmation is None else Confirmation(confirmation)
    return FirstPhones(PhoneState(state), known, bool(is_lost), position, ended_at)


def _shape(transition: Transition) -> sql.Shape:
    is_due_later = transition.due_after is not None
    return transition.of.value, tuple(transition.sets), transition.tries, is_due_later


def _values(transition: Transition) -> dict[str, Any]:
    values = {"state": transition.to.value, **transition.sets}
    if transition.due_after is not None:
        values["rest_ms"] = transition.due_after * 1000
    return values


def _held(hold: BatchLease) -> dict[str, Any]:
    return {"the_uuid": hold.batch_uuid, "the_holder": hold.holder, "the_fence": hold.fence}


class BatchStores:
    """The store of batches."""

    _connection: Connection

    batches = cached_property(lambda self: SqlBatches(self._connection))
