"""Batches in SQL: leases of batches and claims of their phones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.batch_rows import (
    BATCH_FIELDS,
    BATCHES,
    COUNTS,
    FIND,
    FIND_AND_HOLD,
    batch_in,
    counted_batch_in,
    counts_in,
    phones_matching,
)
from phoneprov_adapters.sql.stores.batch_statements import (
    ABANDONED,
    ADD,
    ADD_PHONES,
    ANY_FREE,
    CHANGE,
    FINISH,
    KEEP,
    LOCK_STATE,
    RELEASE,
    RELEASE_ALL,
    STATE,
    TAKE,
    Move,
    claim,
    move,
    move_all,
)
from phoneprov_adapters.sql.stores.rows import SqlNewestRows
from phoneprov_core.batches.commands import WantedPhones
from phoneprov_core.batches.model import Batch, BatchPhone, BatchState, Counts
from phoneprov_core.batches.ports import BatchStore
from phoneprov_core.batches.transitions import BatchItem, Hold, Transition, Turn
from phoneprov_core.kernel.store import Rows


class SqlBatches(SqlNewestRows[Batch], BatchStore):
    """Batches, by uuid."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, BATCHES, counted_batch_in)

    async def add(self, batch: Batch) -> None:
        row = {name: getattr(batch, name) for name in BATCH_FIELDS}
        row |= {"action": batch.action.value, "state": batch.state.value}
        await self._connection.rows(ADD, **row, holder="", fence=0, expires_at=0)

    async def add_phones(self, phones: Sequence[BatchItem]) -> None:
        rows = [msgspec.structs.astuple(phone) for phone in phones]
        await self._connection.rows(ADD_PHONES, phones=msgspec.json.encode(rows).decode())

    async def find(self, key: str) -> Batch | None:
        if not key:
            return None
        statement = FIND_AND_HOLD if self._connection.writing else FIND
        row = await self._connection.row(statement, uuid=key)
        return None if row is None else batch_in(row, await self.counts(key))

    def phones(self, batch_uuid: str, wanted: WantedPhones) -> Rows[BatchPhone]:
        return phones_matching(self._connection, batch_uuid, wanted)

    async def counts(self, batch_uuid: str) -> Counts:
        return counts_in(await self._connection.rows(COUNTS, batch_uuid=batch_uuid))

    async def state(self, batch_uuid: str) -> BatchState | None:
        statement = LOCK_STATE if self._connection.writing else STATE
        row = await self._connection.row(statement, the_uuid=batch_uuid)
        return None if row is None else BatchState(row[0])

    async def change(
        self, batch_uuid: str, of: BatchState, to: BatchState, message: str | None
    ) -> bool:
        values = {"the_state": of.value, "state": to.value, "message": message}
        return bool(await self._connection.rows(CHANGE, the_uuid=batch_uuid, **values))

    async def any_free(self) -> bool:
        return await self._connection.row(ANY_FREE) is not None

    async def take(self, holder: str, seconds: int) -> Hold | None:
        row = await self._connection.row(TAKE, the_holder=holder, lifetime_ms=seconds * 1000)
        return None if row is None else Hold(*row)

    async def keep(self, hold: Hold, seconds: int) -> BatchState | None:
        row = await self._connection.row(KEEP, **_held(hold), lifetime_ms=seconds * 1000)
        return None if row is None else BatchState(row[0])

    async def release(self, hold: Hold) -> None:
        await self._connection.rows(RELEASE, **_held(hold))

    async def release_all(self) -> None:
        await self._connection.rows(RELEASE_ALL)

    async def claim(self, hold: Hold, most: int, transition: Transition) -> list[Turn]:
        statement, values = claim(_shape(transition)), _values(transition)
        rows = await self._connection.rows(statement, the_uuid=hold.batch_uuid, most=most, **values)
        return sorted((_turn(row) for row in rows), key=lambda turn: turn.position)

    async def abandoned(self, hold: Hold, most: int) -> list[Turn]:
        rows = await self._connection.rows(
            ABANDONED, the_uuid=hold.batch_uuid, the_fence=hold.fence, most=most
        )
        return [_turn(row) for row in rows]

    async def move(self, turn: Turn, transition: Transition) -> bool:
        rows = await self._connection.rows(
            move(_shape(transition)),
            the_uuid=turn.batch_uuid,
            the_position=turn.position,
            the_fence=turn.fence,
            **_values(transition),
        )
        return bool(rows)

    async def move_all(self, batch_uuid: str, transition: Transition) -> None:
        statement = move_all(_shape(transition))
        await self._connection.rows(statement, the_uuid=batch_uuid, **_values(transition))

    async def finish(self, hold: Hold, state: BatchState, now: str) -> bool:
        values = {**_held(hold), "state": state.value, "now": now}
        return bool(await self._connection.rows(FINISH, **values))


def _shape(transition: Transition) -> Move:
    return Move(
        transition.of.value,
        tuple(transition.sets),
        transition.tries,
        transition.due_after is not None,
    )


def _values(transition: Transition) -> dict[str, Any]:
    values = {"state": transition.to.value, **transition.sets}
    if transition.due_after is not None:
        values["rest_ms"] = transition.due_after * 1000
    return values


def _held(hold: Hold) -> dict[str, Any]:
    return {
        "the_uuid": hold.batch_uuid,
        "the_holder": hold.holder,
        "the_fence": hold.fence,
    }


def _turn(row: Row) -> Turn:
    return Turn(*row)
