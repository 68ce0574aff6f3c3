"""Sessions and counted guesses in memory."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from phoneprov_adapters.memory.access import ASSIGNMENTS, PERMISSIONS
from phoneprov_adapters.memory.records import Kind, OnRemove, Reference
from phoneprov_adapters.memory.tables import Tables
from phoneprov_adapters.memory.users import USERS
from phoneprov_core.auth.model import Exchange, Principal, Session
from phoneprov_core.auth.ports import LoginAttemptStore, SessionStore
from phoneprov_core.auth.throttle import WINDOW, Attempts


class KeptSession(Struct, frozen=True):
    """A session with the token that was exchanged last, and when."""

    uuid: str
    user_uuid: str
    session: Session
    previous_token_id: str | None = None
    exchanged_at: int = 0


class Counted(Struct, frozen=True):
    """The guesses counted for one account."""

    key: str
    attempts: Attempts

    @property
    def last_at(self) -> int:
        return self.attempts.last_at


SESSIONS: Kind[KeptSession] = Kind(
    "session",
    created="uuid",
    references=(Reference("user_uuid", USERS, OnRemove.GO_ALONG),),
)
COUNTED: Kind[Counted] = Kind("count", key="key", created="last_at")


class MemorySessions(SessionStore):
    """Sessions; one that ends is removed."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def start(self, session: Session) -> None:
        for kept in self._of_user(session.user_uuid):
            if kept.session.expires_at <= session.created_at:
                self._tables.remove(SESSIONS, kept.uuid)
        self._tables.add(SESSIONS, KeptSession(session.uuid, session.user_uuid, session))

    async def principal(self, session_uuid: str, now: int) -> Principal | None:
        kept = self._living(session_uuid, now)
        if kept is None:
            return None
        user = self._tables.of(USERS).get(kept.user_uuid)
        if user is None or not user.is_active:
            return None
        assignment = self._tables.of(ASSIGNMENTS).get(user.uuid)
        if assignment is None:
            return Principal(user.uuid, None)
        permission = self._tables.of(PERMISSIONS).get(assignment.perm_uuid)
        return Principal(user.uuid, None if permission is None else permission.level)

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
        kept = self._living(session_uuid, now)
        if kept is None:
            return Exchange.NO_SESSION
        session = kept.session
        if token_id == session.token_id:
            renewed = msgspec.structs.replace(
                session, token_id=successor, expires_at=min(expires_at, session.ends_at)
            )
            self._tables.put(
                SESSIONS, KeptSession(session.uuid, session.user_uuid, renewed, token_id, now)
            )
            return Exchange.DONE
        if token_id == kept.previous_token_id and now - kept.exchanged_at < grace:
            return Exchange.ALREADY_USED
        self._tables.remove(SESSIONS, session_uuid)
        return Exchange.REUSED

    async def end(self, session_uuid: str) -> bool:
        return self._tables.remove(SESSIONS, session_uuid)

    async def end_all(self, user_uuid: str, *, besides: str | None = None) -> None:
        for kept in self._of_user(user_uuid):
            if kept.uuid != besides:
                self._tables.remove(SESSIONS, kept.uuid)

    async def end_every(self) -> int:
        every = list(self._tables.of(SESSIONS).group())
        for kept in every:
            self._tables.remove(SESSIONS, kept.uuid)
        return len(every)

    def _of_user(self, user_uuid: str) -> list[KeptSession]:
        return list(self._tables.of(SESSIONS).group(("user_uuid", user_uuid)))

    def _living(self, session_uuid: str, now: int) -> KeptSession | None:
        kept = self._tables.of(SESSIONS).get(session_uuid)
        return None if kept is None or kept.session.expires_at <= now else kept


class MemoryLoginAttempts(LoginAttemptStore):
    """Counted guesses; counts that nobody needs any more go when others are kept."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def begin(self, key: str, attempts: Attempts) -> bool:
        if await self.of(key) != Attempts():
            return False
        self._tables.put(COUNTED, Counted(key, attempts))
        return True

    async def of(self, key: str) -> Attempts:
        counted = self._tables.of(COUNTED).get(key)
        return Attempts() if counted is None else counted.attempts

    async def keep(self, key: str, attempts: Attempts) -> None:
        self._tables.put(COUNTED, Counted(key, attempts))
        if attempts.failures == 1:
            self._forget_before(attempts.last_at - 4 * WINDOW)

    async def clear(self, key: str) -> None:
        self._tables.remove(COUNTED, key)

    def _forget_before(self, moment: int) -> None:
        table = self._tables.of(COUNTED)
        while (oldest := next(table.group(), None)) and oldest.last_at < moment:
            table.discard(oldest.key)
