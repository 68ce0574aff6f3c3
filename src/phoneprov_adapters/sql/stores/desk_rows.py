"""The list of desks in SQL."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import bindparam, func, select, tuple_

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.tables import desks, phones, profiles, users
from phoneprov_core.desks.model import Desk, ListedDesk
from phoneprov_core.desks.ports import DeskRows

_DEFAULTS = profiles.alias("defaults")
_DESK = select(
    phones.c.created_at,
    phones.c.mac,
    _DEFAULTS.c.uuid,
    desks.c.hotdesk,
    users.c.uuid,
    users.c.username,
    profiles.c.uuid,
    desks.c.since,
    desks.c.until,
).select_from(
    phones.outerjoin(desks, desks.c.mac == phones.c.mac)
    .outerjoin(users, users.c.uuid == desks.c.user_uuid)
    .outerjoin(profiles, profiles.c.uuid == desks.c.profile_uuid)
    .outerjoin(_DEFAULTS, _DEFAULTS.c.uuid == desks.c.default_profile_uuid)
)
_POSITION = (phones.c.created_at, phones.c.mac)
_USED_BY = desks.c.user_uuid == bindparam("owner")
_COUNT = select(func.count()).select_from(phones)
_COUNT_OF = (
    select(func.count())
    .select_from(phones.join(desks, desks.c.mac == phones.c.mac))
    .where(_USED_BY)
)


@cache
def _rows(*, owned: bool, after: bool) -> Statement:
    rows = _DESK.order_by(*_POSITION)
    if owned:
        rows = rows.where(_USED_BY)
    if after:
        last = tuple_(bindparam("after_created_at"), bindparam("after_key"))
        rows = rows.where(tuple_(*_POSITION) > last)
    return rows.limit(bindparam("limit")).offset(bindparam("offset"))


class SqlDeskRows(DeskRows):
    """The desk of every phone."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def count(self, owner: str | None = None) -> int:
        if owner is None:
            rows = await self._connection.rows(_COUNT)
        else:
            rows = await self._connection.rows(_COUNT_OF, owner=owner)
        return int(rows[0][0])

    async def rows(
        self,
        limit: int,
        *,
        after: ListedDesk | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[ListedDesk]:
        values: dict[str, Any] = {"limit": limit, "offset": offset}
        if owner is not None:
            values["owner"] = owner
        if after is not None:
            values |= {"after_created_at": after.created_at, "after_key": after.mac}
        statement = _rows(owned=owner is not None, after=after is not None)
        return [_listed(row) for row in await self._connection.rows(statement, **values)]


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
