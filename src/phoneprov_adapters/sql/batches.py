"""Batches in SQL: who works on them, and whose turn it is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import bindparam, case, exists, insert, null, or_, select, update

from phoneprov_adapters.sql.batch_rows import (
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
from phoneprov_adapters.sql.connection import Connection, Row
from phoneprov_adapters.sql.statements import Statement, now_ms
from phoneprov_adapters.sql.store import write
from phoneprov_adapters.sql.tables import batch_phones as phones
from phoneprov_adapters.sql.tables import batches
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
from phoneprov_core.batches.ports import Batches, BatchPhones

_WAITING, _RUNNING = PhoneState.WAITING.value, PhoneState.RUNNING.value
_MILLIS = batches.c.expires_at.type
_TURN = [phones.c[name] for name in Turn.__struct_fields__]

_ADD = insert(batches)


@cache
def _add_phones(size: int) -> Statement:
    return insert(phones).values(
        [
            {
                "batch_uuid": bindparam("batch_uuid"),
                "position": bindparam(f"position_{i}"),
                "mac": bindparam(f"mac_{i}"),
                "attempt_uuid": bindparam(f"attempt_uuid_{i}"),
                "state": _WAITING,
                "tries": 0,
                "cut_off": 0,
                "fence": 0,
                "not_before": 0,
            }
            for i in range(size)
        ]
    )


_SIZES = (100, 1)
"""Rows a statement; SQLite takes no more than 999 values in some builds."""

_HALT = (
    update(batches)
    .where(batches.c.uuid == bindparam("the_uuid"), batches.c.state == BatchState.RUNNING.value)
    .values(state=bindparam("state"), message=bindparam("message"))
    .returning(batches.c.uuid)
)
_LEAVE_OUT = (
    update(phones)
    .where(phones.c.batch_uuid == bindparam("the_uuid"), phones.c.state == _WAITING)
    .values(state=PhoneState.LEFT_OUT.value)
)

_FREE = (batches.c.ended_at.is_(None), batches.c.expires_at <= now_ms())
_ANY_FREE = select(batches.c.uuid).where(*_FREE).limit(1)
_until = now_ms() + bindparam("lifetime_ms", type_=_MILLIS)
_oldest = (
    select(batches.c.uuid)
    .where(*_FREE)
    .order_by(batches.c.created_at, batches.c.uuid)
    .limit(1)
    # Of two who come at once the second takes the next; SQLite has one writer at a time.
    .with_for_update(skip_locked=True)
)
_TAKE = (
    update(batches)
    .where(batches.c.uuid == _oldest.scalar_subquery(), *_FREE)
    .values(holder=bindparam("the_holder"), fence=batches.c.fence + 1, expires_at=_until)
    .returning(batches.c.uuid, batches.c.holder, batches.c.fence)
)
_HELD = (
    batches.c.uuid == bindparam("the_uuid"),
    batches.c.holder == bindparam("the_holder"),
    batches.c.fence == bindparam("the_fence"),
    batches.c.expires_at > now_ms(),
)
_KEEP = (
    update(batches)
    .where(*_HELD, batches.c.ended_at.is_(None))
    .values(expires_at=_until)
    .returning(batches.c.state)
)
_RELEASE = update(batches).where(*_HELD).values(expires_at=0)
_RELEASE_ALL = update(batches).where(batches.c.expires_at != 0).values(expires_at=0)

_next = (
    select(phones.c.position)
    .where(
        phones.c.batch_uuid == bindparam("the_uuid"),
        phones.c.state == _WAITING,
        phones.c.not_before <= now_ms(),
    )
    .order_by(phones.c.not_before, phones.c.position)
    .limit(bindparam("most"))
)
_CLAIM = (
    update(phones)
    .where(
        phones.c.batch_uuid == bindparam("the_uuid"),
        phones.c.state == _WAITING,
        phones.c.position.in_(_next.scalar_subquery()),
    )
    .values(
        state=_RUNNING,
        fence=bindparam("the_fence"),
        tries=phones.c.tries + 1,
        started_at=bindparam("now"),
        message=null(),
    )
    .returning(*_TURN)
)
_ABANDONED = (
    select(*_TURN)
    .where(
        phones.c.batch_uuid == bindparam("the_uuid"),
        phones.c.state == _RUNNING,
        phones.c.fence < bindparam("the_fence"),
    )
    .order_by(phones.c.position)
    .limit(bindparam("most"))
)
_MINE = (
    phones.c.batch_uuid == bindparam("the_uuid"),
    phones.c.position == bindparam("the_position"),
    phones.c.state == _RUNNING,
    phones.c.fence == bindparam("the_fence"),
)
_END = (
    update(phones)
    .where(*_MINE)
    .values({name: bindparam(name) for name in ("state", "message", "deployment_uuid", "ended_at")})
    .returning(phones.c.position)
)
_LOCK_STATE = (
    select(batches.c.state).where(batches.c.uuid == bindparam("the_uuid")).with_for_update()
)
_PUT_BACK = (
    update(phones)
    .where(*_MINE)
    .values(
        not_before=now_ms() + bindparam("rest_ms", type_=_MILLIS),
        **{
            name: bindparam(name)
            for name in ("state", "attempt_uuid", "cut_off", "waiting_since", "message")
        },
    )
    .returning(phones.c.position)
)
_FINISH = (
    update(batches)
    .where(
        *_HELD,
        batches.c.ended_at.is_(None),
        ~exists().where(
            phones.c.batch_uuid == batches.c.uuid,
            or_(phones.c.state == _WAITING, phones.c.state == _RUNNING),
        ),
    )
    .values(
        state=case(
            (batches.c.state == BatchState.RUNNING.value, BatchState.DONE.value),
            else_=batches.c.state,
        ),
        ended_at=bindparam("now"),
        expires_at=0,
    )
    .returning(batches.c.uuid)
)


class SqlBatches(Batches):
    """Batches, by uuid."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, batch: Batch) -> None:
        row = {name: getattr(batch, name) for name in BATCH_FIELDS}
        row |= {"action": batch.action.value, "state": batch.state.value}
        await write(self._connection, _ADD, {**row, "holder": "", "fence": 0, "expires_at": 0})

    async def add_phones(self, batch_uuid: str, entries: Sequence[BatchEntry]) -> None:
        start = 0
        for size in _SIZES:
            while len(entries) - start >= size:
                row: dict[str, Any] = {"batch_uuid": batch_uuid}
                for i, entry in enumerate(entries[start : start + size]):
                    row |= {
                        f"position_{i}": entry.position,
                        f"mac_{i}": entry.mac,
                        f"attempt_uuid_{i}": entry.attempt_uuid,
                    }
                await write(self._connection, _add_phones(size), row)
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
            values |= {"after_created_at": after.created_at, "after_uuid": after.uuid}
        statement = batch_rows(owned=owner is not None, after=after is not None)
        return [counted_batch_in(row) for row in await self._connection.rows(statement, **values)]

    def phones(self, batch_uuid: str, wanted: WantedPhones) -> BatchPhones:
        return SqlBatchPhones(self._connection, batch_uuid, wanted)

    async def counts(self, batch_uuid: str) -> Counts:
        return counts_in(await self._connection.rows(COUNTS, batch_uuid=batch_uuid))

    async def halt(self, batch_uuid: str, state: BatchState, message: str | None) -> bool:
        if not await self._connection.rows(
            _HALT, the_uuid=batch_uuid, state=state.value, message=message
        ):
            return False
        await self._connection.rows(_LEAVE_OUT, the_uuid=batch_uuid)
        return True

    async def any_free(self) -> bool:
        return await self._connection.row(_ANY_FREE) is not None

    async def take(self, holder: str, seconds: int) -> Hold | None:
        row = await self._connection.row(_TAKE, the_holder=holder, lifetime_ms=seconds * 1000)
        return None if row is None else Hold(*row)

    async def keep(self, hold: Hold, seconds: int) -> BatchState | None:
        row = await self._connection.row(_KEEP, **_held(hold), lifetime_ms=seconds * 1000)
        return None if row is None else BatchState(row[0])

    async def release(self, hold: Hold) -> None:
        await self._connection.rows(_RELEASE, **_held(hold))

    async def release_all(self) -> None:
        await self._connection.rows(_RELEASE_ALL)

    async def claim(self, hold: Hold, most: int, now: str) -> list[Turn]:
        rows = await self._connection.rows(
            _CLAIM, the_uuid=hold.batch_uuid, the_fence=hold.fence, most=most, now=now
        )
        return sorted((_turn(row) for row in rows), key=lambda turn: turn.position)

    async def abandoned(self, hold: Hold, most: int) -> list[Turn]:
        rows = await self._connection.rows(
            _ABANDONED, the_uuid=hold.batch_uuid, the_fence=hold.fence, most=most
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
            _END,
            **_mine(turn),
            state=state.value,
            message=message,
            deployment_uuid=deployment_uuid,
            ended_at=now,
        )
        return bool(rows)

    async def put_back(self, turn: Turn, again: Turn, seconds: int, message: str | None) -> bool:
        # Nobody halts the batch in between: no phone may be waiting behind a halt.
        row = await self._connection.row(_LOCK_STATE, the_uuid=turn.batch_uuid)
        runs = row is not None and row[0] == BatchState.RUNNING.value
        rows = await self._connection.rows(
            _PUT_BACK,
            **_mine(turn),
            state=_WAITING if runs else PhoneState.LEFT_OUT.value,
            rest_ms=seconds * 1000,
            attempt_uuid=again.attempt_uuid,
            cut_off=again.cut_off,
            waiting_since=again.waiting_since,
            message=message,
        )
        return bool(rows)

    async def finish(self, hold: Hold, now: str) -> bool:
        return bool(await self._connection.rows(_FINISH, **_held(hold), now=now))


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
