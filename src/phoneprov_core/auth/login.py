"""Logging in with a username and a password."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from phoneprov_core.auth.guesses import Caller, Guesses
from phoneprov_core.auth.model import (
    Credentials,
    Lifetimes,
    LoggedIn,
    LoginFailure,
    WrongCredentials,
)
from phoneprov_core.auth.ports import AuthTransaction, LoginJournal, Tokens, ignore_failure
from phoneprov_core.auth.sessions import new_session, token_pair
from phoneprov_core.auth.throttle import GUESSES_PER_ADDRESS
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated, Unavailable
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, NewId, millis, shown
from phoneprov_core.kernel.trail import Event
from phoneprov_core.users.model import User
from phoneprov_core.users.passwords import PasswordHasher


class _Proven(Redacted, frozen=True):
    """An account whose password was right, the hash that was verified, and the hash that replaces
    it, if any."""

    user: User
    hash: Annotated[str, SECRET]
    fresh_hash: Annotated[str | None, SECRET]


@dataclass
class Login:
    """Check a password and open a session.

    An unknown name, a wrong password and an inactive account take the same time and raise the same
    error. Guesses are stored before the password is checked: by account, and by client address (at
    most ``guesses`` in 15 minutes, 0 for no limit). Addresses that the account recently logged in
    from are exempt from the second limit and from the lock after 100 failures.
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
        """The account of this name, if it exists; and what proves it, if this is its password.
        Raises ``Unavailable``."""
        async with self.database.read() as tx:
            user, hash_ = await tx.users.with_password(credentials.username) or (None, None)
        # Verified without an account too, so that both cases take the same time.
        first = caller.familiar.account or caller.familiar.address
        right = await self.hasher.verify(credentials.password, hash_, first=first)
        if not right or user is None or hash_ is None or not user.is_active:
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
            user = await tx.users.logged_in(proven.user.uuid, caller.ip, shown(now))
            # Read only now: the row is locked, so that no other transaction changes it.
            if user is None or await tx.users.password_hash(user.uuid) != proven.hash:
                raise WrongCredentials
            if proven.fresh_hash is not None:
                await tx.users.set_password_hash(user.uuid, proven.fresh_hash, same_password=True)
            await tx.attempts.clear(caller.account)
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
