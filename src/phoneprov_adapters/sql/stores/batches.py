"""Batches in SQL: leases of batches and claims of their phones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.batch_rows import (
    BATCH_FIELDS,
    COUNTS,
    FIND,
    FIND_AND_HOLD,
    SqlBatchPhones,
    batch_count,
    batch_in,
    batch_rows,
    counted_batch_in,
    counts_in,
)
from phoneprov_adapters.sql.stores.batch_statements import (
    ABANDONED,
    ADD,
    ANY_FREE,
    CLAIM,
    END,
    FINISH,
    HALT,
    KEEP,
    LEAVE_OUT,
    LOCK_STATE,
    PUT_BACK,
    RELEASE,
    RELEASE_ALL,
    SIZES,
    TAKE,
    WAITING,
    add_phones,
)
from phoneprov_adapters.sql.stores.store import write
from phoneprov_core.batches.model import (
    Batch,
    BatchEntry,
    BatchState,
    Counts,
    Hold,
    PhoneState,
    Turn,
    WantedPhones,
)
from phoneprov_core.batches.ports import BatchPhones, BatchStore


class SqlBatches(BatchStore):
    """Batches, by uuid."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, batch: Batch) -> None:
        row = {name: getattr(batch, name) for name in BATCH_FIELDS}
        row |= {"action": batch.action.value, "state": batch.state.value}
        await write(self._connection, ADD, {**row, "holder": "", "fence": 0, "expires_at": 0})

    async def add_phones(self, batch_uuid: str, entries: Sequence[BatchEntry]) -> None:
        start = 0
        for size in SIZES:
            while len(entries) - start >= size:
                row: dict[str, Any] = {"batch_uuid": batch_uuid}
                for i, entry in enumerate(entries[start : start + size]):
                    row |= {
                        f"position_{i}": entry.position,
                        f"mac_{i}": entry.mac,
                        f"attempt_uuid_{i}": entry.attempt_uuid,
                    }
                await write(self._connection, add_phones(size), row)
                start += size

    async def find(self, key: str) -> Batch | None:
        if not key:
            return None
        statement = FIND_AND_HOLD if self._connection.writing else FIND
        row = await self._connection.row(statement, uuid=key)
        return None if row is None else batch_in(row, await self.counts(key))

    async def count(self, owner: str | None = None) -> int:
        values = {} if owner is None else {"owner": owner}
        rows = await self._connection.rows(batch_count(owned=owner is not None), **values)
        return int(rows[0][0])

    async def rows(
        self, limit: int, *, after: Batch | None = None, offset: int = 0, owner: str | None = None
    ) -> list[Batch]:
        values: dict[str, Any] = {"limit": limit, "offset": offset}
        if owner is not None:
            values["owner"] = owner
        if after is not None:
            values |= {"after_time": after.created_at, "after_key": after.uuid}
        statement = batch_rows(owned=owner is not None, after=after is not None)
        return [counted_batch_in(row) for row in await self._connection.rows(statement, **values)]

    async def newest(self, limit: int, *, before: Batch | None = None) -> list[Batch]:
        values: dict[str, Any] = {"limit": limit, "offset": 0}
        if before is not None:
            values |= {"after_time": before.created_at, "after_key": before.uuid}
        statement = batch_rows(owned=False, after=before is not None, newest_first=True)
        return [counted_batch_in(row) for row in await self._connection.rows(statement, **values)]

    def phones(self, batch_uuid: str, wanted: WantedPhones) -> BatchPhones:
        return SqlBatchPhones(self._connection, batch_uuid, wanted)

    async def counts(self, batch_uuid: str) -> Counts:
        return counts_in(await self._connection.rows(COUNTS, batch_uuid=batch_uuid))

    async def halt(self, batch_uuid: str, state: BatchState, message: str | None) -> bool:
        if not await self._connection.rows(
            HALT, the_uuid=batch_uuid, state=state.value, message=message
        ):
            return False
        await self._connection.rows(LEAVE_OUT, the_uuid=batch_uuid)
        return True

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

    async def claim(self, hold: Hold, most: int, now: str) -> list[Turn]:
        rows = await self._connection.rows(
            CLAIM, the_uuid=hold.batch_uuid, the_fence=hold.fence, most=most, now=now
        )
        return sorted((_turn(row) for row in rows), key=lambda turn: turn.position)

    async def abandoned(self, hold: Hold, most: int) -> list[Turn]:
        rows = await self._connection.rows(
            ABANDONED, the_uuid=hold.batch_uuid, the_fence=hold.fence, most=most
        )
        return [_turn(row) for row in rows]

    async def end(
        self,
        turn: Turn,
        state: PhoneState,
        now: str,
        *,
        message: str | None = None,
        deployment_uuid: str | None = None,
    ) -> bool:
        rows = await self._connection.rows(
            END,
            **_mine(turn),
            state=state.value,
            message=message,
            deployment_uuid=deployment_uuid,
            ended_at=now,
        )
        return bool(rows)

    async def put_back(self, turn: Turn, again: Turn, seconds: int, message: str | None) -> bool:
        # Locked, so that the batch is not stopped in between: a stopped batch has no pending phone.
        row = await self._connection.row(LOCK_STATE, the_uuid=turn.batch_uuid)
        runs = row is not None and row[0] == BatchState.RUNNING.value
        rows = await self._connection.rows(
            PUT_BACK,
            **_mine(turn),
            state=WAITING if runs else PhoneState.LEFT_OUT.value,
            rest_ms=seconds * 1000,
            attempt_uuid=again.attempt_uuid,
            cut_off=again.cut_off,
            waiting_since=again.waiting_since,
            message=message,
        )
        return bool(rows)

    async def finish(self, hold: Hold, now: str) -> bool:
        return bool(await self._connection.rows(FINISH, **_held(hold), now=now))


def _held(hold: Hold) -> dict[str, Any]:
    return {
        "the_uuid": hold.batch_uuid,
        "the_holder": hold.holder,
        "the_fence": hold.fence,
    }


def _mine(turn: Turn) -> dict[str, Any]:
    return {
        "the_uuid": turn.batch_uuid,
        "the_position": turn.position,
        "the_fence": turn.fence,
    }


def _turn(row: Row) -> Turn:
    return Turn(*row)
