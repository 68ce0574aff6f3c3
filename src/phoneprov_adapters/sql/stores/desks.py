"""Desks in SQL."""

from collections.abc import Sequence
from typing import Any

from phoneprov_adapters.sql.engines.connection import Row
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores import desk_statements as sql
from phoneprov_adapters.sql.stores.rows import SqlQueries, SqlRows
from phoneprov_core.deployments.ports import DeskUse
from phoneprov_core.desks.model import Desk, DeskRecord, Due, ListedDesk, PhoneState
from phoneprov_core.desks.ports import DeskStore
from phoneprov_core.kernel.store import Rows
from phoneprov_core.phones.model import Phone
from phoneprov_core.users.model import User


class SqlDesks(SqlQueries, DeskStore):
    """Desks, one row a phone."""

    @property
    def all(self) -> Rows[ListedDesk]:
        return SqlRows(self._connection, sql.ALL, _listed)

    async def find(self, mac: str) -> DeskRecord:
        statement = sql.FIND_AND_HOLD if self._connection.writing else sql.FIND
        row = await self._connection.row(statement, mac=mac)
        return DeskRecord(mac) if row is None else _record(row)

    async def at(self, mac: str) -> PhoneState | None:
        row = await self._connection.row(sql.AT, mac=mac) if mac else None
        if row is None:
            return None
        phone = Phone(*row[: len(sql.PHONE)])
        vendor, rest = row[len(sql.PHONE)], row[len(sql.PHONE) + 1 :]
        record, user = rest[: len(sql.RECORD)], rest[len(sql.RECORD) :]
        return PhoneState(
            phone=phone,
            vendor=vendor,
            desk=DeskRecord(mac) if record[0] is None else _record(record),
            user=None if user[0] is None else User(*user),
        )

    async def default_profile(self, mac: str) -> str | None:
        return (await self.find(mac)).default_profile_uuid

    async def configure(self, mac: str, default_profile_uuid: str | None, *, hotdesk: bool) -> None:
        changes = {"default_profile_uuid": default_profile_uuid, "hotdesk": hotdesk}
        await self._put(sql.CONFIGURE, mac, **changes)

    async def take_turn(self, mac: str, turn: int | None) -> bool:
        if turn:
            # Only a desk with a row has a turn other than 0.
            return bool(await self._connection.rows(sql.NEXT_TURN, the_mac=mac, the_turn=turn))
        statement = sql.TAKE_TURN if turn is None else sql.TAKE_FIRST_TURN
        return bool(await self._put(statement, mac, turn=1))

    async def begin_change(self, mac: str, change_uuid: str, user_uuid: str | None) -> None:
        changes = {"change_uuid": change_uuid, "change_user_uuid": user_uuid}
        await self._put(sql.BEGIN_CHANGE, mac, **changes)

    async def end_change(self, mac: str, change_uuid: str) -> None:
        await self._connection.rows(sql.END_CHANGE, the_mac=mac, the_change=change_uuid)

    async def use(self, mac: str, use: DeskUse, now: str) -> None:
        since = now if use.user_uuid else None
        changes = {name: getattr(use, name) for name in use.__struct_fields__}
        await self._put(sql.USE, mac, turn=1, since=since, **changes)

    async def _put(self, statement: Statement, mac: str, **changes: Any) -> Sequence[Row]:
        """Insert a new desk with these changes, or do to the existing one what the statement
        says."""
        return await self._connection.rows(statement, **{**sql.NEW, "mac": mac, **changes})

    async def end_user(self, user_uuid: str) -> int:
        return len(await self._connection.rows(sql.END_USER, the_user=user_uuid))

    async def is_elsewhere(self, user_uuid: str, mac: str) -> bool:
        row = await self._connection.row(sql.ELSEWHERE, user_uuid=user_uuid, mac=mac)
        return row is not None

    async def end_elsewhere(self, user_uuid: str, mac: str) -> int:
        ended = await self._connection.rows(sql.END_ELSEWHERE, the_user=user_uuid, the_mac=mac)
        return len(ended)

    async def release(self, mac: str, due: Due) -> bool:
        return bool(await self._connection.rows(sql.RELEASE, the_mac=mac, the_due=due.value))

    async def expire(self, now: str) -> int:
        return len(await self._connection.rows(sql.EXPIRE, now=now))

    async def unsettled(self, now: str, now_ms: int, limit: int) -> list[DeskRecord]:
        found = await self._connection.rows(sql.UNSETTLED, now=now, now_ms=now_ms, limit=limit)
        return [_record(row) for row in found]

    async def postpone(self, mac: str, until_ms: int) -> None:
        await self._connection.rows(sql.POSTPONE, the_mac=mac, until_ms=until_ms)

    async def settle(self, mac: str) -> None:
        await self._connection.rows(sql.SETTLE, the_mac=mac)

    async def remove(self, mac: str) -> bool:
        return bool(await self._connection.rows(sql.REMOVE, mac=mac))


def _record(row: Row) -> DeskRecord:
    values = dict(zip(DeskRecord.__struct_fields__, row, strict=True))
    values["due"] = None if values["due"] is None else Due(values["due"])
    return DeskRecord(**values)


def _listed(row: Row) -> ListedDesk:
    created_at, mac, default, hotdesk, user_uuid, username, profile, since, until = row
    is_used = user_uuid is not None
    desk = Desk(
        mac=mac,
        default_profile_uuid=default,
        hotdesk=hotdesk is None or hotdesk,
        user_uuid=user_uuid,
        username=username,
        profile_uuid=profile if is_used else None,
        since=since if is_used else None,
        until=until if is_used else None,
    )
    return ListedDesk(created_at, mac, desk)
