"""Sessions and API tokens in SQL."""

from typing import Any

import msgspec
from sqlalchemy import FromClause, Table, bindparam, case, delete, insert, or_, select, update

from phoneprov_adapters.sql.engines.connection import Row
from phoneprov_adapters.sql.stores.store import SqlQueries, SqlStore
from phoneprov_adapters.sql.tables.fields import Fields
from phoneprov_adapters.sql.tables.people import (
    API_TOKENS,
    api_tokens,
    assignments,
    permissions,
    rights,
    sessions,
    users,
)
from phoneprov_core.people.api_tokens import ApiTokenRecord, ApiTokenStore, TokenPrincipal
from phoneprov_core.people.auth.model import Principal, Session, SessionStore

_LOCATIONS = msgspec.json.Decoder(tuple[str, ...])
_START = insert(sessions)
_FORGET_EXPIRED = delete(sessions).where(
    sessions.c.user_uuid == bindparam("user_uuid"), sessions.c.expires_at <= bindparam("now")
)
_ACCOUNT = (users.c.uuid, permissions.c.level, users.c.username)
_RIGHT = (rights.c.right, rights.c.locations)


def _with_level(owned: Table) -> FromClause:
    """The rows of a table with their user and the user's level and right."""
    return (
        owned.join(users, users.c.uuid == owned.c.user_uuid)
        .outerjoin(assignments, assignments.c.user_uuid == users.c.uuid)
        .outerjoin(permissions, permissions.c.uuid == assignments.c.perm_uuid)
        .outerjoin(rights, rights.c.user_uuid == users.c.uuid)
    )


def _with_right(row: Row) -> list[Any]:
    """The row, its last column, the locations of a right, as a tuple."""
    *others, locations = row
    return [*others, () if locations is None else _LOCATIONS.decode(locations)]


_PRINCIPAL = (
    select(*_ACCOUNT, *_RIGHT)
    .select_from(_with_level(sessions))
    .where(
        sessions.c.uuid == bindparam("session_uuid"),
        sessions.c.expires_at > bindparam("now"),
        users.c.is_active.is_(True),
    )
)


_expires_at = bindparam("wanted_expires_at", type_=sessions.c.expires_at.type)
_REPLACE_TOKEN = (
    update(sessions)
    .where(
        sessions.c.uuid == bindparam("session_uuid"),
        sessions.c.token_id == bindparam("presented"),
        sessions.c.expires_at > bindparam("now"),
    )
    .values(
        token_id=bindparam("successor"),
        previous_token_id=bindparam("presented"),
        exchanged_at=bindparam("now"),
        expires_at=case((sessions.c.ends_at < _expires_at, sessions.c.ends_at), else_=_expires_at),
    )
    .returning(
        select(users.c.is_active).where(users.c.uuid == sessions.c.user_uuid).scalar_subquery()
    )
)
_FIND = select(*Fields(Session, sessions).columns).where(
    sessions.c.uuid == bindparam("session_uuid")
)
_OF_USER = (
    select(*Fields(Session, sessions).columns)
    .where(sessions.c.user_uuid == bindparam("user_uuid"), sessions.c.expires_at > bindparam("now"))
    .order_by(sessions.c.created_at, sessions.c.uuid)
)
_END = (
    delete(sessions).where(sessions.c.uuid == bindparam("session_uuid")).returning(sessions.c.uuid)
)
_END_ALL = (
    delete(sessions)
    .where(sessions.c.user_uuid == bindparam("user_uuid"), sessions.c.uuid != bindparam("besides"))
    .returning(sessions.c.uuid)
)
_END_EVERY = delete(sessions).returning(sessions.c.uuid)


class SqlSessions(SqlQueries, SessionStore):
    """Sessions, one row each; the row of a session that ends is deleted."""

    async def start(self, session: Session) -> None:
        await self._connection.execute(
            _FORGET_EXPIRED, user_uuid=session.user_uuid, now=session.created_at
        )
        await self._connection.fetch_all(_START, **msgspec.structs.asdict(session))

    async def principal(self, session_uuid: str, now: int) -> Principal | None:
        row = await self._connection.fetch_one(_PRINCIPAL, session_uuid=session_uuid, now=now)
        return None if row is None else Principal(*_with_right(row))

    async def replace_token(
        self, session_uuid: str, token_id: str, successor: str, *, now: int, expires_at: int
    ) -> bool | None:
        row = await self._connection.fetch_alone(
            _REPLACE_TOKEN,
            session_uuid=session_uuid,
            presented=token_id,
            successor=successor,
            now=now,
            wanted_expires_at=expires_at,
        )
        return None if row is None else bool(row[0])

    async def find(self, session_uuid: str) -> Session | None:
        return await self._one(Session, self._held(_FIND), session_uuid=session_uuid)

    async def of_user(self, user_uuid: str, now: int) -> list[Session]:
        return await self._all(Session, _OF_USER, user_uuid=user_uuid, now=now)

    async def end(self, session_uuid: str) -> bool:
        return bool(await self._connection.fetch_all(_END, session_uuid=session_uuid))

    async def end_all(self, user_uuid: str, *, besides: str | None = None) -> list[str]:
        return await self._all(str, _END_ALL, user_uuid=user_uuid, besides=besides or "")

    async def end_every(self) -> int:
        return len(await self._connection.fetch_all(_END_EVERY))


_OF_TOKEN = (
    select(
        *_ACCOUNT,
        *(api_tokens.c[name] for name in ("uuid", "name", "read_only", "last_used_at")),
        *_RIGHT,
    )
    .select_from(_with_level(api_tokens))
    .where(
        api_tokens.c.hash == bindparam("hash"),
        or_(api_tokens.c.expires_at.is_(None), api_tokens.c.expires_at > bindparam("now")),
        users.c.is_active.is_(True),
    )
)
_TOUCH = (
    update(api_tokens)
    .where(
        api_tokens.c.uuid == bindparam("token_uuid"),
        or_(api_tokens.c.last_used_at.is_(None), api_tokens.c.last_used_at <= bindparam("at")),
    )
    .values(last_used_at=bindparam("at"), hash=bindparam("new_hash"))
)


class SqlApiTokens(SqlStore[ApiTokenRecord], ApiTokenStore):
    """API tokens, found by the hash of their text."""

    records = API_TOKENS

    async def principal(self, hash_: str, now: str) -> TokenPrincipal | None:
        row = await self._connection.fetch_one(_OF_TOKEN, hash=hash_, now=now)
        return None if row is None else TokenPrincipal(*_with_right(row))

    async def touch(self, uuid: str, at: str, hash_: str) -> None:
        await self._connection.execute(_TOUCH, token_uuid=uuid, at=at, new_hash=hash_)

    async def end_all(self, user_uuid: str) -> None:
        await self.remove_of("user_uuid", user_uuid)
