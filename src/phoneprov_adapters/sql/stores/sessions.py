"""Sessions in SQL."""

import msgspec
from sqlalchemy import Case, bindparam, case, delete, insert, select, update

from phoneprov_adapters.sql.stores.rows import SqlQueries
from phoneprov_adapters.sql.tables.accounts import assignments, permissions, sessions, users
from phoneprov_core.auth.model import Exchange, Principal, Session
from phoneprov_core.auth.ports import SessionStore

_START = insert(sessions)
_FORGET_EXPIRED = delete(sessions).where(
    sessions.c.user_uuid == bindparam("user_uuid"), sessions.c.expires_at <= bindparam("now")
)
_PRINCIPAL = (
    select(users.c.uuid, permissions.c.level, users.c.username)
    .select_from(
        sessions.join(users, users.c.uuid == sessions.c.user_uuid)
        .outerjoin(assignments, assignments.c.user_uuid == users.c.uuid)
        .outerjoin(permissions, permissions.c.uuid == assignments.c.perm_uuid)
    )
    .where(
        sessions.c.uuid == bindparam("session_uuid"),
        sessions.c.expires_at > bindparam("now"),
        users.c.is_active.is_(True),
    )
)


def _earlier_of_end_and(expires_at: str) -> Case[int]:
    wanted = bindparam(expires_at, type_=sessions.c.expires_at.type)
    return case((sessions.c.ends_at < wanted, sessions.c.ends_at), else_=wanted)


_EXCHANGE = (
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
        expires_at=_earlier_of_end_and("wanted_expires_at"),
    )
    .returning(
        select(users.c.is_active).where(users.c.uuid == sessions.c.user_uuid).scalar_subquery()
    )
)
_IN_GRACE = select(sessions.c.uuid).where(
    sessions.c.uuid == bindparam("session_uuid"),
    sessions.c.previous_token_id == bindparam("presented"),
    sessions.c.exchanged_at > bindparam("grace_begins"),
    sessions.c.expires_at > bindparam("now"),
)
_END = (
    delete(sessions).where(sessions.c.uuid == bindparam("session_uuid")).returning(sessions.c.uuid)
)
_END_ALL = delete(sessions).where(
    sessions.c.user_uuid == bindparam("user_uuid"), sessions.c.uuid != bindparam("besides")
)
_END_EVERY = delete(sessions).returning(sessions.c.uuid)


class SqlSessions(SqlQueries, SessionStore):
    """Sessions, one row each; the row of a session that ends is deleted."""

    async def start(self, session: Session) -> None:
        await self._connection.soon(
            _FORGET_EXPIRED, user_uuid=session.user_uuid, now=session.created_at
        )
        row = msgspec.structs.asdict(session)
        row |= {"previous_token_id": None, "exchanged_at": session.created_at}
        await self._connection.rows(_START, **row)

    async def principal(self, session_uuid: str, now: int) -> Principal | None:
        row = await self._connection.row(_PRINCIPAL, session_uuid=session_uuid, now=now)
        return None if row is None else Principal(*row)

    async def exchange(
        self,
        session_uuid: str,
        token_id: str,
        successor: str,
        *,
        now: int,
        expires_at: int,
        grace: int,
    ) -> Exchange:
        named = {"session_uuid": session_uuid, "presented": token_id, "now": now}
        exchanged = await self._connection.at_once(
            _EXCHANGE, **named, successor=successor, wanted_expires_at=expires_at
        )
        if exchanged is not None:
            return Exchange.DONE if exchanged[0] else Exchange.NO_SESSION
        if await self._connection.row(_IN_GRACE, **named, grace_begins=now - grace):
            return Exchange.ALREADY_USED
        # Every other token of this session was used before.
        return Exchange.REUSED if await self.end(session_uuid) else Exchange.NO_SESSION

    async def end(self, session_uuid: str) -> bool:
        return bool(await self._connection.rows(_END, session_uuid=session_uuid))

    async def end_all(self, user_uuid: str, *, besides: str | None = None) -> None:
        await self._connection.soon(_END_ALL, user_uuid=user_uuid, besides=besides or "")

    async def end_every(self) -> int:
        return len(await self._connection.rows(_END_EVERY))
