"""Accounts in SQL."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import bindparam, delete, select, update

from phoneprov_adapters.sql.engines.connection import InsertFactory
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.store import Records, SqlSearchedStore
from phoneprov_adapters.sql.tables import (
    extensions,
    passwords,
    user_extensions,
    username_looks,
    users,
)
from phoneprov_core.users.model import USER_FIELDS, User, folded
from phoneprov_core.users.passwords import looks_alike
from phoneprov_core.users.ports import UserStore

_COLUMNS = [users.c[name] for name in User.__struct_fields__]
_BY_USERNAME = select(*_COLUMNS).where(users.c.username_key == bindparam("username_key"))
_BY_EXTENSION = (
    select(*_COLUMNS)
    .select_from(
        extensions.join(
            user_extensions, user_extensions.c.extension_uuid == extensions.c.uuid
        ).join(users, users.c.uuid == user_extensions.c.user_uuid)
    )
    .where(extensions.c.extension == bindparam("number"), extensions.c.is_active.is_(True))
    .limit(2)
)
_WITH_PASSWORD = (
    select(*_COLUMNS, passwords.c.hash)
    .select_from(users.join(passwords, passwords.c.user_uuid == users.c.uuid))
    .where(users.c.username_key == bindparam("username_key"))
)
_LOGGED_IN = (
    update(users)
    .where(users.c.uuid == bindparam("user_uuid"), users.c.is_active.is_(True))
    .values(last_login_ip=bindparam("ip"), last_login_at=bindparam("at"))
    .returning(*_COLUMNS)
)
_PASSWORD_HASH = select(passwords.c.hash).where(passwords.c.user_uuid == bindparam("user_uuid"))


@cache
def _set_password_hash(insert: InsertFactory) -> Statement:
    statement = insert(passwords)
    return statement.on_conflict_do_update(
        index_elements=["user_uuid"], set_={"hash": statement.excluded.hash}
    )


_UNCLAIM = delete(username_looks).where(username_looks.c.user_uuid == bindparam("user_uuid"))


@cache
def _claim(insert: InsertFactory) -> Statement:
    statement = insert(username_looks)
    return statement.on_conflict_do_nothing(index_elements=["look"]).returning(
        username_looks.c.look
    )


class SqlUsers(SqlSearchedStore[User], UserStore):
    """Accounts, with the comparable forms of their names."""

    records = Records(User, users, one_name="user", search=USER_FIELDS)

    def _row_of(self, entity: User) -> dict[str, Any]:
        row = super()._row_of(entity)
        row["username_key"] = folded(entity.username)
        row["email_key"] = folded(entity.email)
        return row

    async def by_username(self, username: str) -> User | None:
        if "\0" in username:
            return None  # PostgreSQL refuses NUL in text, also in parameters of comparisons.
        row = await self._connection.row(_BY_USERNAME, username_key=folded(username))
        return None if row is None else self._entity_of(row)

    async def by_extension(self, number: str) -> User | None:
        if "\0" in number:
            return None
        found = await self._connection.rows(_BY_EXTENSION, number=number)
        return self._entity_of(found[0]) if len(found) == 1 else None

    async def with_password(self, username: str) -> tuple[User, str] | None:
        if "\0" in username:
            return None
        row = await self._connection.row(_WITH_PASSWORD, username_key=folded(username))
        return None if row is None else (self._entity_of(row[:-1]), row[-1])

    async def logged_in(self, user_uuid: str, ip: str, at: str) -> User | None:
        row = await self._connection.row(_LOGGED_IN, user_uuid=user_uuid, ip=ip, at=at)
        return None if row is None else self._entity_of(row)

    async def claim_looks(self, user_uuid: str, looks: frozenset[str]) -> None:
        await self._connection.soon(_UNCLAIM, user_uuid=user_uuid)
        claim = _claim(self._connection.insert)
        for look in sorted(looks):  # In sorted order, so that two claims do not deadlock.
            if not await self._connection.rows(claim, look=look, user_uuid=user_uuid):
                raise looks_alike()

    async def password_hash(self, user_uuid: str) -> str | None:
        row = await self._connection.row(_PASSWORD_HASH, user_uuid=user_uuid)
        return None if row is None else str(row[0])

    async def set_password_hash(
        self, user_uuid: str, hash_: str, *, same_password: bool = False
    ) -> None:
        statement = _set_password_hash(self._connection.insert)
        await self._connection.rows(statement, user_uuid=user_uuid, hash=hash_)
        trail = self._connection.trail
        if same_password or not trail.active:
            return
        if user := trail.known(User, user_uuid) or await self.find(user_uuid):
            trail.changed(user_uuid, user, user, secrets=("password",))
