"""Desks in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import and_, bindparam, delete, exists, null, or_, select, update

from phoneprov_adapters.sql.engines.connection import Connection, InsertFactory, Row
from phoneprov_adapters.sql.engines.statements import Statement, is_over
from phoneprov_adapters.sql.stores.desk_rows import desk_rows
from phoneprov_adapters.sql.tables import desks, leases, phones, users, vendor_phones
from phoneprov_core.deployments.desk_use import DeskUse
from phoneprov_core.desks.model import DeskRecord, Due, ListedDesk, PhoneState
from phoneprov_core.desks.ports import DeskStore
from phoneprov_core.kernel.store import Rows
from phoneprov_core.phones.model import Phone
from phoneprov_core.users.model import User

_RECORD = [desks.c[name] for name in DeskRecord.__struct_fields__]
_PHONE = [phones.c[name] for name in Phone.__struct_fields__]
_USER = [users.c[name] for name in User.__struct_fields__]
_NEW: dict[str, Any] = dict.fromkeys(column.name for column in desks.c) | {
    "hotdesk": True,
    "turn": 0,
    "not_before": 0,
}
_IS_MAC = desks.c.mac == bindparam("the_mac")

_FIND = select(*_RECORD).where(desks.c.mac == bindparam("mac"))
_FIND_AND_HOLD = _FIND.with_for_update()
_AT = (
    select(*_PHONE, vendor_phones.c.vendor, *_RECORD, *_USER)
    .select_from(
        phones.outerjoin(vendor_phones, vendor_phones.c.mac == phones.c.mac)
        .outerjoin(desks, desks.c.mac == phones.c.mac)
        .outerjoin(users, users.c.uuid == desks.c.user_uuid)
    )
    .where(phones.c.mac == bindparam("mac"))
)
_ENDED: dict[str, Any] = {
    "user_uuid": null(),
    "profile_uuid": null(),
    "since": null(),
    "until": null(),
    "not_before": 0,
    "turn": desks.c.turn + 1,
}
_RELEASE = (
    update(desks)
    .where(_IS_MAC, desks.c.user_uuid.is_not(None))
    .values({**_ENDED, "due": bindparam("the_due")})
    .returning(desks.c.mac)
)
_EXPIRE = (
    update(desks)
    .where(desks.c.until <= bindparam("now"))
    .values({**_ENDED, "due": Due.EXPIRY.value})
    .returning(desks.c.mac)
)
_END_USER = (
    update(desks)
    .where(desks.c.user_uuid == bindparam("the_user"))
    .values({**_ENDED, "due": Due.LOGOUT.value})
    .returning(desks.c.mac)
)
_END_ELSEWHERE = _END_USER.where(desks.c.mac != bindparam("the_mac"))
_ELSEWHERE = (
    select(desks.c.mac)
    .where(
        or_(
            desks.c.user_uuid == bindparam("user_uuid"),
            desks.c.change_user_uuid == bindparam("user_uuid"),
        ),
        desks.c.mac != bindparam("mac"),
    )
    .limit(1)
)
_END_CHANGE = (
    update(desks)
    .where(_IS_MAC, desks.c.change_uuid == bindparam("the_change"))
    .values(change_uuid=null(), change_user_uuid=null())
)
_SETTLE = (
    update(desks)
    .where(_IS_MAC)
    .values(due=null(), change_uuid=null(), change_user_uuid=null(), not_before=0)
)
_POSTPONE = update(desks).where(_IS_MAC).values(not_before=bindparam("until_ms"))
_NEXT_TURN = (
    update(desks)
    .where(_IS_MAC, desks.c.turn == bindparam("the_turn"))
    .values(turn=desks.c.turn + 1)
    .returning(desks.c.mac)
)
_REMOVE = delete(desks).where(desks.c.mac == bindparam("mac")).returning(desks.c.mac)
_IS_HELD = exists().where(
    leases.c.mac == desks.c.mac,
    leases.c.holder == desks.c.change_uuid,
    ~is_over(leases.c.expires_at),
)
_UNSETTLED = (
    select(*_RECORD)
    .where(
        or_(
            desks.c.due.is_not(None),
            desks.c.until <= bindparam("now"),
            and_(desks.c.change_uuid.is_not(None), ~_IS_HELD),
        ),
        desks.c.not_before <= bindparam("now_ms"),
    )
    .order_by(desks.c.mac)
    .limit(bindparam("limit"))
)


@cache
def _configure(insert: InsertFactory) -> Statement:
    row = insert(desks)
    return row.on_conflict_do_update(
        index_elements=["mac"],
        set_={
            "default_profile_uuid": row.excluded.default_profile_uuid,
            "hotdesk": row.excluded.hotdesk,
        },
    )


@cache
def _take_turn(insert: InsertFactory, *, any_turn: bool) -> Statement:
    row = insert(desks)
    is_current = None if any_turn else desks.c.turn + 1 == row.excluded.turn
    return row.on_conflict_do_update(
        index_elements=["mac"], set_={"turn": desks.c.turn + 1}, where=is_current
    ).returning(desks.c.mac)


@cache
def _begin_change(insert: InsertFactory) -> Statement:
    row = insert(desks)
    return row.on_conflict_do_update(
        index_elements=["mac"],
        set_={
            "change_uuid": row.excluded.change_uuid,
            "change_user_uuid": row.excluded.change_user_uuid,
        },
    )


@cache
def _use(insert: InsertFactory) -> Statement:
    row = insert(desks)
    changed = ("user_uuid", "profile_uuid", "since", "until", "due", "not_before")
    return row.on_conflict_do_update(
        index_elements=["mac"],
        set_={"turn": desks.c.turn + 1, **{name: row.excluded[name] for name in changed}},
    )


class SqlDesks(DeskStore):
    """Desks, one row a phone."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @property
    def all(self) -> Rows[ListedDesk]:
        return desk_rows(self._connection)

    async def find(self, mac: str) -> DeskRecord:
        statement = _FIND_AND_HOLD if self._connection.writing else _FIND
        row = await self._connection.row(statement, mac=mac)
        return DeskRecord(mac) if row is None else _record(row)

    async def at(self, mac: str) -> PhoneState | None:
        row = await self._connection.row(_AT, mac=mac) if mac else None
        if row is None:
            return None
        phone = Phone(*row[: len(_PHONE)])
        vendor, rest = row[len(_PHONE)], row[len(_PHONE) + 1 :]
        record, user = rest[: len(_RECORD)], rest[len(_RECORD) :]
        return PhoneState(
            phone=phone,
            vendor=vendor,
            desk=DeskRecord(mac) if record[0] is None else _record(record),
            user=None if user[0] is None else User(*user),
        )

    async def default_profile(self, mac: str) -> str | None:
        return (await self.find(mac)).default_profile_uuid

    async def user_of(self, mac: str) -> str | None:
        return (await self.find(mac)).user_uuid

    async def configure(self, mac: str, default_profile_uuid: str | None, *, hotdesk: bool) -> None:
        changes = {"default_profile_uuid": default_profile_uuid, "hotdesk": hotdesk}
        await self._put(_configure(self._connection.insert), mac, **changes)

    async def take_turn(self, mac: str, turn: int | None) -> bool:
        if turn:
            # Only a desk with a row has a turn other than 0.
            return bool(await self._connection.rows(_NEXT_TURN, the_mac=mac, the_turn=turn))
        statement = _take_turn(self._connection.insert, any_turn=turn is None)
        return bool(await self._put(statement, mac, turn=1))

    async def begin_change(self, mac: str, change_uuid: str, user_uuid: str | None) -> None:
        changes = {"change_uuid": change_uuid, "change_user_uuid": user_uuid}
        await self._put(_begin_change(self._connection.insert), mac, **changes)

    async def end_change(self, mac: str, change_uuid: str) -> None:
        await self._connection.rows(_END_CHANGE, the_mac=mac, the_change=change_uuid)

    async def use(self, mac: str, use: DeskUse, now: str) -> None:
        since = now if use.user_uuid else None
        changes = {name: getattr(use, name) for name in use.__struct_fields__}
        await self._put(_use(self._connection.insert), mac, turn=1, since=since, **changes)

    async def _put(self, statement: Statement, mac: str, **changes: Any) -> Sequence[Row]:
        """Insert a new desk with these changes, or do to the existing one what the statement
        says."""
        return await self._connection.rows(statement, **{**_NEW, "mac": mac, **changes})

    async def end_user(self, user_uuid: str) -> int:
        return len(await self._connection.rows(_END_USER, the_user=user_uuid))

    async def is_elsewhere(self, user_uuid: str, mac: str) -> bool:
        row = await self._connection.row(_ELSEWHERE, user_uuid=user_uuid, mac=mac)
        return row is not None

    async def end_elsewhere(self, user_uuid: str, mac: str) -> int:
        ended = await self._connection.rows(_END_ELSEWHERE, the_user=user_uuid, the_mac=mac)
        return len(ended)

    async def release(self, mac: str, due: Due) -> bool:
        return bool(await self._connection.rows(_RELEASE, the_mac=mac, the_due=due.value))

    async def expire(self, now: str) -> int:
        return len(await self._connection.rows(_EXPIRE, now=now))

    async def unsettled(self, now: str, now_ms: int, limit: int) -> list[DeskRecord]:
        found = await self._connection.rows(_UNSETTLED, now=now, now_ms=now_ms, limit=limit)
        return [_record(row) for row in found]

    async def postpone(self, mac: str, until_ms: int) -> None:
        await self._connection.rows(_POSTPONE, the_mac=mac, until_ms=until_ms)

    async def settle(self, mac: str) -> None:
        await self._connection.rows(_SETTLE, the_mac=mac)

    async def remove(self, mac: str) -> bool:
        return bool(await self._connection.rows(_REMOVE, mac=mac))


def _record(row: Row) -> DeskRecord:
    values = dict(zip(DeskRecord.__struct_fields__, row, strict=True))
    values["due"] = None if values["due"] is None else Due(values["due"])
    return DeskRecord(**values)
