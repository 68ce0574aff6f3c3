"""Logging in with a username and a password."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from phoneprov_core.auth.model import Credentials, Lifetimes, LoggedIn
from phoneprov_core.auth.ports import AuthTransaction, Tokens
from phoneprov_core.auth.sessions import new_session, token_pair
from phoneprov_core.auth.throttle import account_key
from phoneprov_core.kernel.commands import Unchecked, checked
from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated
from phoneprov_core.kernel.ids import NewId
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, millis, shown
from phoneprov_core.users.passwords import PasswordHasher


class Login:
    """Check a password and open a session.

    An unknown name, a wrong password and an inactive account take the same time and are told
    the same. Guesses are counted, durably, before the password is looked at.
    """

    def __init__(
        self,
        open_: ReadAndWrite[AuthTransaction],
        hasher: PasswordHasher,
        tokens: Tokens,
        lifetimes: Lifetimes,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        self._open = open_
        self._hasher = hasher
        self._tokens = tokens
        self._lifetimes = lifetimes
        self._clock = clock
        self._new_id = new_id
        self._turns = _Turns()

    async def __call__(
        self, credentials: Credentials | Unchecked[Credentials], ip: str = "127.0.0.1"
    ) -> LoggedIn:
        """Raises ``Unauthenticated``; ``TooManyAttempts`` while the account's login is closed."""
        credentials = checked(credentials)
        key = account_key(credentials.username)
        async with self._turns.of(key):
            await self._count_guess(key)
            async with self._open.read() as tx:
                user = await tx.users.by_username(credentials.username)
                hash_ = await tx.users.password_hash(user.uuid) if user else None
            right = await self._hasher.verify(credentials.password, hash_)
            if not right or user is None or hash_ is None or not user.is_active:
                raise _wrong()
            fresh_hash = None
            if self._hasher.is_outdated(hash_):
                fresh_hash = await self._hasher.hash(credentials.password)
            return await self._open_session(user.uuid, key, hash_, fresh_hash, ip)

    async def _count_guess(self, key: str) -> None:
        now = millis(self._clock())
        async with self._open.write() as tx:
            attempts = await tx.attempts.of(key)
            wait = attempts.wait(now)
            if not wait:
                await tx.attempts.keep(key, attempts.counted(now))
        if wait:
            raise TooManyAttempts(
                f"Too many failed logins; try again in {wait} seconds.", retry_after=wait
            )

    async def _open_session(
        self, user_uuid: str, key: str, checked_hash: str, fresh_hash: str | None, ip: str
    ) -> LoggedIn:
        now = self._clock()
        session = new_session(self._new_id(), user_uuid, self._new_id(), now, self._lifetimes)
        async with self._open.write() as tx:
            user = await tx.users.find(user_uuid)
            # Deactivated, or given another password, while the hash was being computed.
            if user is None or not user.is_active:
                raise _wrong()
            if await tx.users.password_hash(user_uuid) != checked_hash:
                raise _wrong()
            if fresh_hash is not None:
                await tx.users.set_password_hash(user_uuid, fresh_hash)
            user = msgspec.structs.replace(user, last_login_ip=ip, last_login_at=shown(now))
            await tx.users.put(user)
            await tx.attempts.clear(key)
            await tx.sessions.start(session)
        tokens = token_pair(
            self._tokens,
            session.uuid,
            user.uuid,
            access_id=self._new_id(),
            refresh_id=session.token_id,
            now=now,
            lifetimes=self._lifetimes,
        )
        return LoggedIn(user, tokens)


def _wrong() -> Unauthenticated:
    return Unauthenticated("The username or the password is wrong.", code="wrong_credentials")


class _Turns:
    """Lets two logins of one account go on at a time in this process.

    Every guess counts as failed until it is known to be right. Were a busy account's logins
    all counted at once, many right ones side by side would close it.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[asyncio.Semaphore, int]] = {}

    @asynccontextmanager
    async def of(self, key: str) -> AsyncIterator[None]:
        turns, waiting = self._waiting.get(key) or (asyncio.Semaphore(2), 0)
        self._waiting[key] = (turns, waiting + 1)
        try:
            async with turns:
                yield
        finally:
            turns, waiting = self._waiting.pop(key)
            if waiting > 1:
                self._waiting[key] = (turns, waiting - 1)
