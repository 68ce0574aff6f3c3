"""The statements for processing batches."""

from __future__ import annotations

from functools import cache

from sqlalchemy import bindparam, case, exists, insert, null, or_, select, update

from phoneprov_adapters.sql.engines.statements import Statement, is_over, now_ms
from phoneprov_adapters.sql.tables import batch_phones as phones
from phoneprov_adapters.sql.tables import batches
from phoneprov_core.batches.model import BatchState, PhoneState, Turn

WAITING, _RUNNING = PhoneState.WAITING.value, PhoneState.RUNNING.value
_MILLIS = batches.c.expires_at.type
_TURN = [phones.c[name] for name in Turn.__struct_fields__]

ADD = insert(batches)


@cache
def add_phones(size: int) -> Statement:
    """Insert a number of phones into a batch."""
    return insert(phones).values(
        [
            {
                "batch_uuid": bindparam("batch_uuid"),
                "position": bindparam(f"position_{i}"),
                "mac": bindparam(f"mac_{i}"),
                "attempt_uuid": bindparam(f"attempt_uuid_{i}"),
                "state": WAITING,
                "tries": 0,
                "cut_off": 0,
                "fence": 0,
                "not_before": 0,
            }
            for i in range(size)
        ]
    )


SIZES = (100, 1)
"""Rows per statement; some builds of SQLite allow at most 999 values."""

HALT = (
    update(batches)
    .where(batches.c.uuid == bindparam("the_uuid"), batches.c.state == BatchState.RUNNING.value)
    .values(state=bindparam("state"), message=bindparam("message"))
    .returning(batches.c.uuid)
)
LEAVE_OUT = (
    update(phones)
    .where(phones.c.batch_uuid == bindparam("the_uuid"), phones.c.state == WAITING)
    .values(state=PhoneState.LEFT_OUT.value)
)

_FREE = (batches.c.ended_at.is_(None), is_over(batches.c.expires_at))
ANY_FREE = select(batches.c.uuid).where(*_FREE).limit(1)
_until = now_ms() + bindparam("lifetime_ms", type_=_MILLIS)
_oldest = (
    select(batches.c.uuid)
    .where(*_FREE)
    .order_by(batches.c.created_at, batches.c.uuid)
    .limit(1)
    # Of two concurrent workers the second takes the next batch; SQLite has one writer at a time.
    .with_for_update(skip_locked=True)
)
TAKE = (
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
KEEP = (
    update(batches)
    .where(*_HELD, batches.c.ended_at.is_(None))
    .values(expires_at=_until)
    .returning(batches.c.state)
)
RELEASE = update(batches).where(*_HELD).values(expires_at=0)
RELEASE_ALL = update(batches).where(batches.c.expires_at != 0).values(expires_at=0)

_next = (
    select(phones.c.position)
    .where(
        phones.c.batch_uuid == bindparam("the_uuid"),
        phones.c.state == WAITING,
        is_over(phones.c.not_before),
    )
    .order_by(phones.c.not_before, phones.c.position)
    .limit(bindparam("most"))
)
CLAIM = (
    update(phones)
    .where(
        phones.c.batch_uuid == bindparam("the_uuid"),
        phones.c.state == WAITING,
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
ABANDONED = (
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
END = (
    update(phones)
    .where(*_MINE)
    .values({name: bindparam(name) for name in ("state", "message", "deployment_uuid", "ended_at")})
    .returning(phones.c.position)
)
LOCK_STATE = (
    select(batches.c.state).where(batches.c.uuid == bindparam("the_uuid")).with_for_update()
)
PUT_BACK = (
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
FINISH = (
    update(batches)
    .where(
        *_HELD,
        batches.c.ended_at.is_(None),
        ~exists().where(
            phones.c.batch_uuid == batches.c.uuid,
            or_(phones.c.state == WAITING, phones.c.state == _RUNNING),
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
