"""Sessions, counted guesses, addresses of logins, and rates in memory."""

import itertools

import msgspec

from phoneprov_adapters.memory.kinds import (
    ASSIGNMENTS,
    COUNTED,
    LOGIN_ADDRESSES,
    PERMISSIONS,
    RATES,
    SESSIONS,
    USERS,
    Counted,
    Counter,
    KeptSession,
    LoginAddress,
)
from phoneprov_adapters.memory.store import MemoryQueries
from phoneprov_core.auth.model import Exchange, Principal, Session
from phoneprov_core.auth.ports import (
    Familiarity,
    LoginAddressStore,
    LoginAttemptStore,
    SessionStore,
)
from phoneprov_core.auth.throttle import KEPT_UNKNOWN, RECENT, Attempts
from phoneprov_core.kernel.rates import Rate, RateStore
from phoneprov_core.users.model import folded


class MemorySessions(MemoryQueries, SessionStore):
    """Sessions; a session that ends is removed."""

    async def start(self, session: Session) -> None:
        for kept in self._of_user(session.user_uuid):
            if kept.expires_at <= session.created_at:
                self._tables.remove(SESSIONS, kept.uuid)
        self._tables.add(SESSIONS, KeptSession(**msgspec.structs.asdict(session)))

    async def principal(self, session_uuid: str, now: int) -> Principal | None:
        kept = self._living(session_uuid, now)
        if kept is None:
            return None
        user = self._tables.of(USERS).get(kept.user_uuid)
        if user is None or not user.is_active:
            return None
        assignment = self._tables.of(ASSIGNMENTS).get(user.uuid)
        perm_uuid = assignment.perm_uuid if assignment else None
        permission = self._tables.of(PERMISSIONS).get(perm_uuid)
        return Principal(user.uuid, permission.level if permission else None, user.username)

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
        if token_id == kept.token_id:
            renewed = msgspec.structs.replace(
                kept,
                token_id=successor,
                expires_at=min(expires_at, kept.ends_at),
                previous_token_id=token_id,
                exchanged_at=now,
            )
            self._tables.put(SESSIONS, renewed)
            user = self._tables.of(USERS).get(kept.user_uuid)
            return Exchange.DONE if user and user.is_active else Exchange.NO_SESSION
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
        return None if kept is None or kept.expires_at <= now else kept


class MemoryLoginAttempts(MemoryQueries, LoginAttemptStore):
    """Counted guesses; old counts of unknown names are removed when others are kept."""

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
            self._forget_before(attempts.last_at - KEPT_UNKNOWN, but=key)

    async def clear(self, key: str) -> None:
        self._tables.remove(COUNTED, key)

    def _forget_before(self, moment: int, but: str) -> None:
        table = self._tables.of(COUNTED)
        old = itertools.takewhile(lambda one: one.attempts.last_at < moment, table.group())
        for one in [one for one in old if not one.attempts.known and one.key != but]:
            table.discard(one.key)


class MemoryLoginAddresses(MemoryQueries, LoginAddressStore):
    """Addresses of logins, one record per account and address."""

    async def familiarity(self, username: str, address: str, since: int) -> Familiarity:
        user = next(self._tables.of(USERS).group(("username", folded(username))), None)
        table = self._tables.of(LOGIN_ADDRESSES)
        of_account = list(table.group(("user_uuid", user.uuid))) if user else []
        recent = [one for one in of_account if one.last_at > since]
        return Familiarity(
            account=bool(recent),
            address=any(one.last_at > since for one in table.group(("address", address))),
            both=any(one.address == address for one in recent),
        )

    async def remember(self, user_uuid: str, address: str, now: int) -> None:
        table = self._tables.of(LOGIN_ADDRESSES)
        for one in list(table.group(("user_uuid", user_uuid))):
            if one.last_at <= now - RECENT:
                table.discard(one.key)
        made = LoginAddress(f"{user_uuid} {address}", user_uuid, address, now)
        self._tables.put(LOGIN_ADDRESSES, made)


class MemoryRates(MemoryQueries, RateStore):
    """Rates, one record per subject."""

    async def add(
        self, subject: str, rate: Rate, now: int, *, item: str = "", force: bool = False
    ) -> int:
        if not rate.most:
            return 0
        table = self._tables.of(RATES)
        before = table.get(subject)
        if before is None or not now - rate.window < before.first_at <= now + rate.window:
            before = Counter(subject, now, 0)
        if item and item in before.items:
            return 0
        if before.events >= rate.most and not force:
            return max(1, min(rate.window, before.first_at + rate.window - now))
        items = (*before.items, item) if item else before.items
        table.set(Counter(subject, before.first_at, before.events + 1, items))
        return 0

    async def take_back(self, subject: str) -> None:
        counter = self._tables.of(RATES).get(subject)
        if counter is not None and counter.events:
            fewer = msgspec.structs.replace(counter, events=counter.events - 1)
            self._tables.put(RATES, fewer)
