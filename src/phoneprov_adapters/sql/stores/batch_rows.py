"""Reading of batches and their phones."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import bindparam, func, select

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement, page
from phoneprov_adapters.sql.tables import batch_phones, batches
from phoneprov_core.batches.model import (
    Batch,
    BatchAction,
    BatchPhone,
    BatchState,
    Counts,
    PhoneState,
    WantedPhones,
)
from phoneprov_core.batches.ports import BatchPhones

BATCH_FIELDS = tuple(name for name in Batch.__struct_fields__ if name != "phones")
_STATES = tuple(state.value for state in PhoneState)
_PHONE_COLUMNS = [batch_phones.c[name] for name in BatchPhone.__struct_fields__]

COUNTS: Statement = (
    select(batch_phones.c.state, func.count())
    .where(batch_phones.c.batch_uuid == bindparam("batch_uuid"))
    .group_by(batch_phones.c.state)
)


def counts_in(rows: Any) -> Counts:
    """The counts in the rows of ``COUNTS``."""
    found = {str(state): int(count) for state, count in rows}
    return Counts(**found, total=sum(found.values()))


def batch_in(row: Row, phones: Counts) -> Batch:
    """The batch in a row of its columns, in the order of ``BATCH_FIELDS``."""
    fields = dict(zip(BATCH_FIELDS, row, strict=True))
    fields["action"] = BatchAction(fields["action"])
    fields["state"] = BatchState(fields["state"])
    return Batch(**fields, phones=phones)


@cache
def _phones(*, state: bool, after: bool) -> Statement:
    rows = select(*_PHONE_COLUMNS).where(batch_phones.c.batch_uuid == bindparam("batch_uuid"))
    if state:
        rows = rows.where(batch_phones.c.state == bindparam("state"))
    return page(rows, (batch_phones.c.position,), after=after)


@cache
def _phone_count(*, state: bool) -> Statement:
    count = (
        select(func.count())
        .select_from(batch_phones)
        .where(batch_phones.c.batch_uuid == bindparam("batch_uuid"))
    )
    return count.where(batch_phones.c.state == bindparam("state")) if state else count


class SqlBatchPhones(BatchPhones):
    """The phones of one batch that match the filter."""

    def __init__(self, connection: Connection, batch_uuid: str, wanted: WantedPhones) -> None:
        self._connection = connection
        self._values = {"batch_uuid": batch_uuid}
        if wanted.state is not None:
            self._values["state"] = wanted.state

    async def count(self, owner: str | None = None) -> int:
        assert owner is None, "the phones of a batch have no owner"
        statement = _phone_count(state="state" in self._values)
        return int((await self._connection.rows(statement, **self._values))[0][0])

    async def rows(
        self,
        limit: int,
        *,
        after: BatchPhone | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[BatchPhone]:
        assert owner is None, "the phones of a batch have no owner"
        values: dict[str, Any] = {**self._values, "limit": limit, "offset": offset}
        if after is not None:
            values["after_key"] = after.position
        statement = _phones(state="state" in self._values, after=after is not None)
        return [_phone_in(row) for row in await self._connection.rows(statement, **values)]

    async def page(self, limit: int, after: int) -> list[BatchPhone]:
        values: dict[str, Any] = {**self._values, "limit": limit, "offset": 0, "after_key": after}
        statement = _phones(state="state" in self._values, after=True)
        return [_phone_in(row) for row in await self._connection.rows(statement, **values)]


def _phone_in(row: Row) -> BatchPhone:
    fields = dict(zip(BatchPhone.__struct_fields__, row, strict=True))
    fields["state"] = PhoneState(fields["state"])
    return BatchPhone(**fields)


_BATCH_COLUMNS = [batches.c[name] for name in BATCH_FIELDS]
_POSITION = (batches.c.created_at, batches.c.uuid)
FIND: Statement = select(*_BATCH_COLUMNS).where(batches.c.uuid == bindparam("uuid"))
FIND_AND_HOLD: Statement = (
    select(*_BATCH_COLUMNS).where(batches.c.uuid == bindparam("uuid")).with_for_update()
)


def _counted(state: str) -> Any:
    return (
        select(func.count())
        .select_from(batch_phones)
        .where(batch_phones.c.batch_uuid == batches.c.uuid, batch_phones.c.state == state)
        .correlate(batches)
        .scalar_subquery()
    )


@cache
def batch_rows(*, owned: bool, after: bool, newest_first: bool = False) -> Statement:
    """A page of batches, with the counts of their phones by state after the other columns."""
    rows = select(*_BATCH_COLUMNS, *(_counted(state) for state in _STATES))
    if owned:
        rows = rows.where(batches.c.user_uuid == bindparam("owner"))
    return page(rows, _POSITION, after=after, newest_first=newest_first)


@cache
def batch_count(*, owned: bool) -> Statement:
    """Number of batches."""
    count = select(func.count()).select_from(batches)
    return count.where(batches.c.user_uuid == bindparam("owner")) if owned else count


def counted_batch_in(row: Row) -> Batch:
    """The batch in a row of ``batch_rows``."""
    size = len(BATCH_FIELDS)
    return batch_in(row[:size], counts_in(zip(_STATES, row[size:], strict=True)))
