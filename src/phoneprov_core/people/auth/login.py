"""Logging in with a username and a password. Each guess is counted by account and by client
address before its password is checked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Annotated
from weakref import WeakValueDictionary

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.kernel.actor import (
    Actor,
    Event,
    anonymous,
)
from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated, Unavailable
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.ports import Clock, NewId, ReadAndWrite
from phoneprov_core.kernel.values import address_key, millis, timestamp
from phoneprov_core.people.auth.model import (
    AuthTransaction,
    Claims,
    Credentials,
    Familiarity,
    Lifetimes,
    Locked,
    LoggedIn,
    LoginFailure,
    LoginJournal,
    Session,
    TokenKind,
    TokenPair,
    Tokens,
    WrongCredentials,
    ignore_failure,
)
from phoneprov_core.people.throttle import (
    GUESSES_PER_ADDRESS,
    LONGEST_WAIT,
    MOST_IN_A_ROW,
    RECENT,
    AddressLimit,
    Attempts,
    account_key,
    address_closed,
    login_closed,
)
from phoneprov_core.people.users.model import PasswordHasher, User

_PAUSE = 0.03
"""Seconds between two reads of undecided guesses: about the duration of a hash."""


class Caller(Struct, frozen=True):
    """The keys that a guess is counted under, and the account's earlier logins. ``account`` is the
    key of the account; ``counted`` is the same key, or the key of the account at this address:
    failures from other addresses do not lock an address that the account recently logged in
    from."""

    account: str
    counted: str
    ip: str
    address: str
    familiar: Familiarity


class Guesses:
    """Counts guesses before their passwords are checked. ``limit`` is the maximum number of
    failures from a client address in 15 minutes, 0 for no limit."""

    def __init__(self, database: ReadAndWrite[AuthTransaction], clock: Clock, limit: int) -> None:
        self._database = database
        self._clock = clock
        self.limit = AddressLimit("login", limit, clock)
        self._places: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def caller(self, username: str, ip: str) -> Caller:
        """The keys of a client that logs in."""
        address = address_key(ip)
        since = millis(self._clock()) - RECENT
        async with self._database.read() as tx:
            familiar = await tx.login_addresses.familiarity(username, address, since)
        counted = account_key(username, address if familiar.both else "")
        return Caller(account_key(username), counted, ip, address, familiar)

    @asynccontextmanager
    async def counted(self, caller: Caller) -> AsyncIterator[None]:
        """Count a guess before its password is checked in the block. Raises ``TooManyAttempts`` if
        the login is closed or locked (code ``locked``), or too many from the address failed."""
        if not caller.familiar.both and (wait := await self.limit.wait(caller.ip)):
            raise address_closed(wait)
        # Every guess counts as failed until it is verified. If all logins of a busy account were
        # counted at once, many correct ones would have to retry: two at a time in this process.
        places = self._places.setdefault(caller.counted, asyncio.Semaphore(2))
        async with places:
            await self._count(caller)
            yield

    async def _count(self, caller: Caller) -> None:
        """If the login is closed by undecided guesses only, wait until they are decided."""
        while True:
            async with self._database.write(by=anonymous(caller.ip)) as tx:
                # The usual case: no failures are recorded, and one statement is enough.
                if await tx.attempts.begin(
                    caller.counted, Attempts().counted(millis(self._clock()))
                ):
                    await self._count_address(tx, caller)
                    return
                attempts = await tx.attempts.of(caller.counted)
                # Read the clock now: waiting for the row lock may have taken time.
                now = millis(self._clock())
                attempts = attempts.settled(now)
                wait = attempts.wait(now)
                locked = attempts.is_locked and not caller.familiar.both
                if not wait and not locked:
                    await tx.attempts.keep(caller.counted, attempts.counted(now))
                    await self._count_address(tx, caller)
                    return
            if not attempts.is_undecided(now):
                raise Locked(retry_after=LONGEST_WAIT // 1000) if locked else login_closed(wait)
            await asyncio.sleep(_PAUSE)

    async def _count_address(self, tx: AuthTransaction, caller: Caller) -> None:
        """Raises ``TooManyAttempts``."""
        force = caller.familiar.both
        if wait := await self.limit.count(tx.rates, caller.ip, force=force):
            raise address_closed(wait)

    async def count_wrong(self, caller: Caller, user: User | None) -> None:
        """Count a guess as wrong. An unknown username is not stored: it may be a password in the
        wrong field."""
        by, uuid = anonymous(caller.ip), None
        if user is not None:
            by, uuid = replace(by, username=user.username), user.uuid
        async with self._database.write(by=by) as tx:
            attempts = await tx.attempts.of(caller.counted)
            now = millis(self._clock())
            attempts = attempts.decided(now, known=user is not None)
            await tx.attempts.keep(caller.counted, attempts)
            tx.trail.note(Event("login.failed", "user", uuid))
            seconds = attempts.wait(now)
            if seconds or attempts.in_a_row == MOST_IN_A_ROW:
                fields = {"seconds": seconds, "failures_in_a_row": attempts.in_a_row}
                tx.trail.note(Event("login.locked", "user", uuid, fields))

    async def take_back(self, caller: Caller) -> None:
        """Do not count a guess whose password could not be checked."""
        async with self._database.write(by=anonymous(caller.ip)) as tx:
            attempts = await tx.attempts.of(caller.counted)
            await tx.attempts.keep(caller.counted, attempts.taken_back())
            await self.limit.take_back(tx.rates, caller.ip)


class _Proven(Redacted, frozen=True):
    """An account whose password was right, the verified hash, and the hash that replaces it."""

    user: User
    hash: Annotated[str, SECRET]
    fresh_hash: Annotated[str | None, SECRET]


@dataclass
class Login:
    """Check a password and open a session.

    An unknown name, a wrong password and an inactive account take the same time and raise the same
    error. Guesses are stored before the password is checked: by account, and by client address (at
    most ``guesses`` in 15 minutes, 0 for no limit). Addresses that the account recently logged in
    from are exempt from the second limit and from the lock after 100 failures, and their guesses
    are counted apart from guesses of other addresses. The password of an account that is linked to
    ``refused_issuer`` is wrong here.
    """

    database: ReadAndWrite[AuthTransaction]
    hasher: PasswordHasher
    tokens: Tokens
    lifetimes: Lifetimes
    clock: Clock
    new_id: NewId
    _: KW_ONLY
    guesses: int = GUESSES_PER_ADDRESS
    journal: LoginJournal = ignore_failure
    refused_issuer: str = ""

    def __post_init__(self) -> None:
        self._counting = Guesses(self.database, self.clock, self.guesses)

    async def __call__(self, credentials: Credentials, ip: str = "127.0.0.1") -> LoggedIn:
        """Raises ``Unauthenticated``; ``TooManyAttempts`` if the account's login is closed or
        locked (code ``locked``), or if too many logins from the address failed."""
        caller = await self._counting.caller(credentials.username, ip)
        try:
            return await self._log_in(credentials, caller)
        except (Unauthenticated, TooManyAttempts) as error:
            self.journal(LoginFailure(ip, error.code))
            raise

    async def _log_in(self, credentials: Credentials, caller: Caller) -> LoggedIn:
        async with self._counting.counted(caller):
            try:
                user, proven = await self._prove(credentials, caller)
            except Unavailable:
                await self._counting.take_back(caller)
                raise
            try:
                if proven is None:
                    raise WrongCredentials
                return await self._open_session(proven, caller)
            except Unauthenticated:
                await self._counting.count_wrong(caller, user)
                raise

    async def _prove(
        self, credentials: Credentials, caller: Caller
    ) -> tuple[User | None, _Proven | None]:
        """The account of this name, if it exists; and its credentials, if the password is right.
        Raises ``Unavailable``."""
        async with self.database.read() as tx:
            user, hash_ = await tx.users.with_password(credentials.username) or (None, None)
            is_linked = self.refused_issuer != "" and await tx.identities.is_linked(
                user.uuid if user else "", self.refused_issuer
            )
        # Verified without an account too, so that both cases take the same time.
        first = caller.familiar.account or caller.familiar.address
        right = await self.hasher.verify(credentials.password, hash_, first=first)
        if not right or is_linked or user is None or hash_ is None or not user.is_active:
            return user, None
        fresh_hash = None
        if self.hasher.is_outdated(hash_):
            fresh_hash = await self.hasher.hash(credentials.password)
        return user, _Proven(user, hash_, fresh_hash)

    async def _open_session(self, proven: _Proven, caller: Caller) -> LoggedIn:
        """Create the session. Raises ``Unauthenticated`` if the account was deactivated, deleted or
        given another password while the hash was computed."""
        now = self.clock()
        session = new_session(self.new_id(), proven.user.uuid, self.new_id(), now, self.lifetimes)
        by = Actor(proven.user.uuid, None, caller.ip, username=proven.user.username)
        async with self.database.write(by=by) as tx:
            user = await tx.users.logged_in(proven.user.uuid, caller.ip, timestamp(now))
            # Read only now: the row is locked, so that no other transaction changes it.
            if user is None or await tx.users.password_hash(user.uuid) != proven.hash:
                raise WrongCredentials
            if proven.fresh_hash is not None:
                await tx.users.set_password_hash(user.uuid, proven.fresh_hash, same_password=True)
            for key in sorted({caller.account, caller.counted}):
                await tx.attempts.clear(key)
            await self._counting.limit.take_back(tx.rates, caller.ip)
            await tx.login_addresses.remember(user.uuid, caller.address, millis(now))
            await tx.sessions.start(session)
            tx.trail.note(Event("login.succeeded", "user", user.uuid))
        tokens = token_pair(
            self.tokens,
            session.uuid,
            user.uuid,
            access_id=self.new_id(),
            refresh_id=session.token_id,
            now=now,
            lifetimes=self.lifetimes,
        )
        return LoggedIn(user, tokens)


def new_session(
    uuid: str, user_uuid: str, token_id: str, now: datetime, lifetimes: Lifetimes
) -> Session:
    """The session that a login creates."""
    moment = millis(now)
    ends_at = moment + lifetimes.session * 1000
    return Session(
        uuid=uuid,
        user_uuid=user_uuid,
        token_id=token_id,
        created_at=moment,
        expires_at=min(moment + lifetimes.refresh_idle * 1000, ends_at),
        ends_at=ends_at,
    )


def token_pair(
    tokens: Tokens,
    session_uuid: str,
    user_uuid: str,
    *,
    access_id: str,
    refresh_id: str,
    now: datetime,
    lifetimes: Lifetimes,
) -> TokenPair:
    """An access and a refresh token for a session."""
    moment = millis(now)

    def issue(kind: TokenKind, token_id: str, lifetime: int) -> str:
        return tokens.issue(
            kind, Claims(user_uuid, session_uuid, token_id, moment, moment + lifetime * 1000)
        )

    return TokenPair(
        issue(TokenKind.ACCESS, access_id, lifetimes.access),
        issue(TokenKind.REFRESH, refresh_id, lifetimes.refresh_idle),
    )
