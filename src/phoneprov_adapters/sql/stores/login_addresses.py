"""The client addresses that accounts logged in from, in SQL."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import and_, bindparam, delete, exists, select

from phoneprov_adapters.sql.engines.connection import Connection, InsertFactory
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.tables import login_addresses, users
from phoneprov_core.auth.ports import Familiarity, LoginAddressStore
from phoneprov_core.auth.throttle import RECENT
from phoneprov_core.users.model import folded

_recent = login_addresses.c.last_at > bindparam("since")
_from_address = login_addresses.c.address == bindparam("address")
_of_account = and_(
    login_addresses.c.user_uuid == users.c.uuid,
    users.c.username_key == bindparam("username_key"),
)
_ANSWERS: list[Any] = [
    exists().where(_recent, _of_account),
    exists().where(_recent, _from_address),
    exists().where(_recent, _of_account, _from_address),
]
_FAMILIARITY = select(*_ANSWERS)
_FORGET = delete(login_addresses).where(
    login_addresses.c.user_uuid == bindparam("user_uuid"),
    login_addresses.c.last_at <= bindparam("before"),
)


@cache
def _remember(insert: InsertFactory) -> Statement:
    statement = insert(login_addresses)
    return statement.on_conflict_do_update(
        index_elements=["user_uuid", "address"], set_={"last_at": statement.excluded.last_at}
    )


class SqlLoginAddresses(LoginAddressStore):
    """Addresses of logins, one row per account and address."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def familiarity(self, username: str, address: str, since: int) -> Familiarity:
        # PostgreSQL refuses NUL in text, also in parameters of comparisons.
        name = "" if "\0" in username else folded(username)
        row = await self._connection.row(
            _FAMILIARITY, username_key=name, address=address, since=since
        )
        return Familiarity() if row is None else Familiarity(*map(bool, row))

    async def remember(self, user_uuid: str, address: str, now: int) -> None:
        await self._connection.soon(_FORGET, user_uuid=user_uuid, before=now - RECENT)
        row = {"user_uuid": user_uuid, "address": address, "last_at": now}
        await self._connection.rows(_remember(self._connection.insert), **row)
