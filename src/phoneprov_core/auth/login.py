"""Logging in with a username and a password."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from phoneprov_core.auth.model import Credentials, Lifetimes, LoggedIn, LoginFailure
from phoneprov_core.auth.ports import (
    AuthTransaction,
    Familiarity,
    LoginJournal,
    Tokens,
    ignore_failure,
)
from phoneprov_core.auth.sessions import new_session, token_pair
from phoneprov_core.auth.throttle import (
    GUESSES_PER_ADDRESS,
    LONGEST_WAIT,
    MOST_IN_A_ROW,
    RECENT,
    WINDOW,
    Attempts,
    address_key,
)
from phoneprov_core.kernel.actor import Actor, anonymous
from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated, Unavailable
from phoneprov_core.kernel.ids import NewId
from phoneprov_core.kernel.rates import Rate
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, millis, shown
from phoneprov_core.kernel.trail import Event
from phoneprov_core.users.model import User, account_key
from phoneprov_core.users.passwords import PasswordHasher

_PAUSE = 0.03
"""Seconds between two reads of undecided guesses: about the duration of a hash."""

_REFUSED_AGAIN = 1000
"""Milliseconds for which an address that was refused is refused again without a write."""

_MOST_REFUSED = 10_000
"""Maximum number of addresses that are kept for this."""


class Login:
    """Check a password and open a session.

    An unknown name, a wrong password and an inactive account take the same time and raise the same
    error. Guesses are stored before the password is checked: by account, and by client address (at
    most ``guesses`` in 15 minutes, 0 for no limit). Addresses that the account recently logged in
    from are exempt from the second limit and from the lock after 100 failures.
    """

    def __init__(
        self,
        open_: ReadAndWrite[AuthTransaction],
        hasher: PasswordHasher,
        tokens: Tokens,
        lifetimes: Lifetimes,
        clock: Clock,
        new_id: NewId,
        *,
        guesses: int = GUESSES_PER_ADDRESS,
        journal: LoginJournal = ignore_failure,
    ) -> None:
        self._journal = journal
        self._open = open_
        self._hasher = hasher
        self._tokens = tokens
        self._lifetimes = lifetimes
        self._clock = clock
        self._new_id = new_id
        self._rate = Rate(guesses, WINDOW)
        self._turns = _Turns()
        self._refused: dict[str, tuple[int, int]] = {}

    async def __call__(self, credentials: Credentials, ip: str = "127.0.0.1") -> LoggedIn:
        """Raises ``Unauthenticated``; ``TooManyAttempts`` if the account's login is closed or
        locked (code ``locked``), or if too many logins from the address failed."""
        caller = await self._caller(credentials.username, ip)
        try:
            return await self._log_in(credentials, caller)
        except (Unauthenticated, TooManyAttempts) as error:
            self._journal(LoginFailure(ip, error.code))
            raise

    async def _log_in(self, credentials: Credentials, caller: _Caller) -> LoggedIn:
        self._refuse_again(caller)
        async with self._turns.of(caller.account):
            await self._count_guess(caller)
            try:
                user, proven = await self._prove(credentials, caller)
            except Unavailable:
                await self._take_back(caller)
                raise
            try:
                if proven is None:
                    raise WrongCredentials
                return await self._open_session(proven, caller)
            except Unauthenticated:
                await self._decide(caller, user)
                raise

    async def _caller(self, username: str, ip: str) -> _Caller:
        address = address_key(ip)
        since = millis(self._clock()) - RECENT
        async with self._open.read() as tx:
            familiar = await tx.login_addresses.familiarity(username, address, since)
        return _Caller(account_key(username), ip, address, familiar)

    async def _count_guess(self, caller: _Caller) -> None:
        """Count a guess before its password is checked. If the login is closed by undecided guesses
        only, wait until they are decided.

        Raises ``TooManyAttempts``.

        """
        while True:
            async with self._open.write(by=anonymous(caller.ip)) as tx:
                # The usual case: no failures are recorded, and one statement is enough.
                if await tx.attempts.begin(
                    caller.account, Attempts().counted(millis(self._clock()))
                ):
                    await self._count_address(tx, caller)
                    return
                attempts = await tx.attempts.of(caller.account)
                # Read the clock now: waiting for the row lock may have taken time.
                now = millis(self._clock())
                wait = attempts.wait(now)
                locked = attempts.is_locked and not caller.familiar.both
                if not wait and not locked:
                    await tx.attempts.keep(caller.account, attempts.counted(now))
                    await self._count_address(tx, caller)
                    return
            if not attempts.is_undecided(now):
                raise Locked(retry_after=LONGEST_WAIT // 1000) if locked else _closed(wait)
            await asyncio.sleep(_PAUSE)

    async def _count_address(self, tx: AuthTransaction, caller: _Caller) -> None:
        """Raises ``TooManyAttempts``."""
        now, force = millis(self._clock()), caller.familiar.both
        if wait := await tx.rates.add(caller.subject, self._rate, now, force=force):
            if len(self._refused) >= _MOST_REFUSED:
                self._refused.clear()
            self._refused[caller.address] = now, wait
            raise _too_many(wait)

    def _refuse_again(self, caller: _Caller) -> None:
        """Raises ``TooManyAttempts`` if the address was refused a moment ago. Each refusal costs a
        write, and writes wait for each other: a flood from one address would delay the logins of
        all others by seconds."""
        if caller.familiar.both or caller.address not in self._refused:
            return
        since, wait = self._refused[caller.address]
        passed = millis(self._clock()) - since
        if 0 <= passed < min(_REFUSED_AGAIN, wait):
            raise _too_many(wait - passed)
        del self._refused[caller.address]

    async def _decide(self, caller: _Caller, user: User | None) -> None:
        """Count a guess as wrong. A name that no account has is not kept: it may be a password
        that was typed into the wrong field."""
        by, uuid = anonymous(caller.ip), None
        if user is not None:
            by, uuid = msgspec.structs.replace(by, username=user.username), user.uuid
        async with self._open.write(by=by) as tx:
            attempts = await tx.attempts.of(caller.account)
            attempts = attempts.decided(known=user is not None)
            await tx.attempts.keep(caller.account, attempts)
            tx.trail.note(Event("login.failed", "user", uuid))
            seconds = attempts.wait(millis(self._clock()))
            if seconds or attempts.in_a_row == MOST_IN_A_ROW:
                fields = {"seconds": seconds, "failures_in_a_row": attempts.in_a_row}
                tx.trail.note(Event("login.locked", "user", uuid, fields))

    async def _take_back(self, caller: _Caller) -> None:
        async with self._open.write(by=anonymous(caller.ip)) as tx:
            attempts = await tx.attempts.of(caller.account)
            await tx.attempts.keep(caller.account, attempts.taken_back())
            await tx.rates.take_back(caller.subject)

    async def _prove(
        self, credentials: Credentials, caller: _Caller
    ) -> tuple[User | None, _Proven | None]:
        """The account of this name, if it exists; and what proves it, if this is its password.
        Raises ``Unavailable``."""
        async with self._open.read() as tx:
            user, hash_ = await tx.users.with_password(credentials.username) or (None, None)
        # Verified without an account too, so that both cases take the same time.
        first = caller.familiar.account or caller.familiar.address
        right = await self._hasher.verify(credentials.password, hash_, first=first)
        if not right or user is None or hash_ is None or not user.is_active:
            return user, None
        fresh_hash = None
        if self._hasher.is_outdated(hash_):
            fresh_hash = await self._hasher.hash(credentials.password)
        return user, _Proven(user, hash_, fresh_hash)

    async def _open_session(self, proven: _Proven, caller: _Caller) -> LoggedIn:
        """Create the session. Raises ``Unauthenticated`` if the account was deactivated, deleted or
        given another password while the hash was computed."""
        now = self._clock()
        session = new_session(
            self._new_id(), proven.user.uuid, self._new_id(), now, self._lifetimes
        )
        by = Actor(proven.user.uuid, None, caller.ip, username=proven.user.username)
        async with self._open.write(by=by) as tx:
            user = await tx.users.logged_in(proven.user.uuid, caller.ip, shown(now))
            # Read only now: the row is locked, so that no other transaction changes it.
            if user is None or await tx.users.password_hash(user.uuid) != proven.hash:
                raise WrongCredentials
            if proven.fresh_hash is not None:
                await tx.users.set_password_hash(user.uuid, proven.fresh_hash, same_password=True)
            await tx.attempts.clear(caller.account)
            await tx.rates.take_back(caller.subject)
            await tx.login_addresses.remember(user.uuid, caller.address, millis(now))
            await tx.sessions.start(session)
            tx.trail.note(Event("login.succeeded", "user", user.uuid))
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


class WrongCredentials(Unauthenticated):
    """Unknown account, wrong password, or inactive account."""

    code = "wrong_credentials"
    usual = "The username or the password is wrong."


class Locked(TooManyAttempts):
    """The account is locked after 100 failed logins in a row."""

    code = "locked"
    usual = (
        "This login is locked after too many failures; log in from an address that you used in the "
        "last 30 days, or ask an administrator for a new password."
    )


def _closed(seconds: int) -> TooManyAttempts:
    return TooManyAttempts(
        f"Too many failed logins; try again in {seconds} seconds.", retry_after=seconds
    )


def _too_many(wait: int) -> TooManyAttempts:
    seconds = math.ceil(wait / 1000)
    return TooManyAttempts(
        f"Too many failed logins from this address; try again in {seconds} seconds.",
        retry_after=seconds,
    )


class _Caller(Struct, frozen=True):
    """The keys that a guess is counted under, and the account's earlier logins."""

    account: str
    ip: str
    address: str
    familiar: Familiarity

    @property
    def subject(self) -> str:
        """The key of the rate limit on failures."""
        return f"login {self.address}"


class _Proven(Struct, frozen=True):
    """An account whose password was right, the hash that was verified, and the hash that replaces
    it, if any."""

    user: User
    hash: str
    fresh_hash: str | None

    def __repr__(self) -> str:
        return redacted(self, "hash", "fresh_hash")


class _Turns:
    """Limits the logins of one account to two at a time in this process.

    Every guess counts as failed until it is verified. If all logins of a busy account were counted
    at once, many correct ones would have to retry.
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
