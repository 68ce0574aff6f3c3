"""Reading of batches and their phones."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, func, select

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.rows import Query, SqlRows
from phoneprov_adapters.sql.tables import batch_phones, batches
from phoneprov_core.batches.commands import WantedPhones
from phoneprov_core.batches.model import (
    Batch,
    BatchAction,
    BatchPhone,
    BatchState,
    Counts,
    PhoneState,
)

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
def _phones(*, state: bool) -> Query:
    def narrowed(statement: Select[Any]) -> Select[Any]:
        matching = statement.where(
            batch_phones.c.batch_uuid == bindparam("batch_uuid"),
            batch_phones.c.position > bindparam("begin"),
        )
        return matching.where(batch_phones.c.state == bindparam("state")) if state else matching

    count = select(func.count()).select_from(batch_phones)
    return Query(
        narrowed(select(*_PHONE_COLUMNS)), (batch_phones.c.position,), counted=narrowed(count)
    )


def phones_matching(
    connection: Connection, batch_uuid: str, wanted: WantedPhones
) -> SqlRows[BatchPhone]:
    """The phones of one batch that match the filter."""
    values = {"batch_uuid": batch_uuid, "begin": wanted.after or 0}
    if wanted.state is not None:
        values["state"] = wanted.state
    query = _phones(state=wanted.state is not None)
    return SqlRows(connection, query, _phone_in, **values)


def _phone_in(row: Row) -> BatchPhone:
    fields = dict(zip(BatchPhone.__struct_fields__, row, strict=True))
    fields["state"] = PhoneState(fields["state"])
    return BatchPhone(**fields)


_BATCH_COLUMNS = [batches.c[name] for name in BATCH_FIELDS]
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


BATCHES = Query(
    select(*_BATCH_COLUMNS, *(_counted(state) for state in _STATES)),
    (batches.c.created_at, batches.c.uuid),
    owner=batches.c.user_uuid == bindparam("owner"),
)
"""Batches, with the counts of their phones by state after the other columns."""


def counted_batch_in(row: Row) -> Batch:
    """The batch in a row of ``BATCHES``."""
    size = len(BATCH_FIELDS)
    return batch_in(row[:size], counts_in(zip(_STATES, row[size:], strict=True)))
