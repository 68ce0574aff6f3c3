"""Logging in with a username and a password."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from msgspec import Struct

from phoneprov_core.auth.model import Credentials, Lifetimes, LoggedIn
from phoneprov_core.auth.ports import AuthTransaction, Tokens
from phoneprov_core.auth.sessions import new_session, token_pair
from phoneprov_core.auth.throttle import Attempts, account_key
from phoneprov_core.kernel.commands import Unchecked, checked
from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated, Unavailable
from phoneprov_core.kernel.ids import NewId
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, millis, shown
from phoneprov_core.users.passwords import PasswordHasher

_PAUSE = 0.03
"""Seconds until undecided guesses are asked for again: about as long as a hash takes."""


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
            try:
                proven = await self._prove(credentials)
            except Unavailable:
                await self._settle(key, Attempts.taken_back)
                raise
            try:
                if proven is None:
                    raise _wrong()
                return await self._open_session(proven, key, ip)
            except Unauthenticated:
                await self._settle(key, Attempts.decided)
                raise

    async def _count_guess(self, key: str) -> None:
        """Count a guess that may then be looked at. While others are being looked at that
        close the account's login unless they are right, wait for them.

        Raises ``TooManyAttempts``.
        """
        while True:
            async with self._open.write() as tx:
                # Nearly always nobody has guessed wrong of late, and that is all.
                if await tx.attempts.begin(key, Attempts().counted(millis(self._clock()))):
                    return
                attempts = await tx.attempts.of(key)
                # Not before, for it may have taken a while until nobody else was counting.
                now = millis(self._clock())
                wait = attempts.wait(now)
                if not wait:
                    await tx.attempts.keep(key, attempts.counted(now))
                    return
            if not attempts.is_undecided(now):
                raise TooManyAttempts(
                    f"Too many failed logins; try again in {wait} seconds.", retry_after=wait
                )
            await asyncio.sleep(_PAUSE)

    async def _settle(self, key: str, how: Callable[[Attempts], Attempts]) -> None:
        async with self._open.write() as tx:
            await tx.attempts.keep(key, how(await tx.attempts.of(key)))

    async def _prove(self, credentials: Credentials) -> _Proven | None:
        """The account whose password this is. Raises ``Unavailable``."""
        async with self._open.read() as tx:
            user, hash_ = await tx.users.with_password(credentials.username) or (None, None)
        # Verified for nobody too, so that nobody's absence saves no time.
        right = await self._hasher.verify(credentials.password, hash_)
        if not right or user is None or hash_ is None or not user.is_active:
            return None
        fresh_hash = None
        if self._hasher.is_outdated(hash_):
            fresh_hash = await self._hasher.hash(credentials.password)
        return _Proven(user.uuid, hash_, fresh_hash)

    async def _open_session(self, proven: _Proven, key: str, ip: str) -> LoggedIn:
        """The new session. Raises ``Unauthenticated`` when the account was deactivated, deleted
        or given another password while the hash was being computed."""
        now = self._clock()
        session = new_session(
            self._new_id(), proven.user_uuid, self._new_id(), now, self._lifetimes
        )
        async with self._open.write() as tx:
            user = await tx.users.logged_in(proven.user_uuid, ip, shown(now))
            # Asked for only now, while nobody can change it any more.
            if user is None or await tx.users.password_hash(user.uuid) != proven.hash:
                raise _wrong()
            if proven.fresh_hash is not None:
                await tx.users.set_password_hash(user.uuid, proven.fresh_hash)
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


class _Proven(Struct, frozen=True):
    """An account whose password was right, the hash that said so, and the one that is to take
    its place, if any."""

    user_uuid: str
    hash: str
    fresh_hash: str | None

    def __repr__(self) -> str:
        return redacted(self, "hash", "fresh_hash")


class _Turns:
    """Lets two logins of one account go on at a time in this process.

    Every guess counts as failed until it is known to be right. Were a busy account's logins
    all counted at once, many right ones side by side would have to ask again and again.
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
