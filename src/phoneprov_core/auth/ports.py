"""Ports of authentication: sessions, counted guesses, signed tokens."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from phoneprov_core.api_tokens import ApiTokenStore
from phoneprov_core.auth.model import Claims, LoginFailure, Principal, Session, TokenKind
from phoneprov_core.auth.throttle import Attempts
from phoneprov_core.kernel.rates import RateStore
from phoneprov_core.users.ports import EndSessions, KnownAddresses, UsersTransaction


class SessionStore(EndSessions, Protocol):
    """Active sessions. A session that ended is deleted and cannot be restored."""

    async def start(self, session: Session) -> None:
        """Store a new session, and delete the expired ones of the same user. Raises ``NotFound``
        if the user does not exist."""

    async def principal(self, session_uuid: str, now: int) -> Principal | None:
        """The account of the session and its current level, in one query; None if the session ended
        or expired or the account is not active."""

    async def replace_token(
        self, session_uuid: str, token_id: str, successor: str, *, now: int, expires_at: int
    ) -> bool | None:
        """Replace the session's current refresh token by its successor, and extend the session to
        ``expires_at``, at most to its end.

        The current token is compared and replaced in one statement: of all callers that present the
        same token, in all processes, exactly one gets an answer: whether the account is active.
        None if the token is not the current one, or the session ended or expired. The replacement
        may be durable before the transaction ends, even if that is rolled back: a presented token
        is used.
        """

    async def find(self, session_uuid: str) -> Session | None:
        """The session, or None. In a writing transaction no other changes it until the end."""

    async def of_user(self, user_uuid: str, now: int) -> list[Session]:
        """The sessions of a user that are not expired at ``now``, oldest first."""

    async def end(self, session_uuid: str) -> bool:
        """End the session; False if it does not exist."""

    async def end_every(self) -> int:
        """End all sessions of all users; returns the number of sessions."""


class LoginAttemptStore(Protocol):
    """Counted guesses, by account key."""

    async def begin(self, key: str, attempts: Attempts) -> bool:
        """Add a count if the key has none; returns whether it was added. Of concurrent callers
        exactly one gets True."""

    async def of(self, key: str) -> Attempts:
        """The current count; no other transaction counts for this key until this one ends."""

    async def keep(self, key: str, attempts: Attempts) -> None:
        """Add or replace the count."""

    async def clear(self, key: str) -> None:
        """Delete the count; the next guess is the first. Has no effect if there is no count."""


class Familiarity(Struct, frozen=True):
    """Earlier successful logins: whether the account recently logged in from any address; whether
    any account did from the address; whether the account did from the address."""

    account: bool = False
    address: bool = False
    both: bool = False


class LoginAddressStore(KnownAddresses, Protocol):
    """The client addresses (``address_key``) that accounts logged in from."""

    async def familiarity(self, username: str, address: str, since: int) -> Familiarity:
        """The logins since then (milliseconds since 1970) of this name, ignoring case, and of this
        address. A name that is not valid for an account counts as unknown."""

    async def remember(self, user_uuid: str, address: str, now: int) -> None:
        """Record a login, and delete the user's addresses that are no longer ``RECENT``. Raises
        ``NotFound`` if the user does not exist."""


class Tokens(Protocol):
    """Signed tokens."""

    def issue(self, kind: TokenKind, claims: Claims) -> str:
        """Sign a token; its times are cut to whole seconds."""

    def read(self, kind: TokenKind, token: str, now: int) -> Claims:
        """The claims of a genuine token of this kind that is valid at ``now``. Raises
        ``Unauthenticated`` for any other text."""


class AuthTransaction(UsersTransaction, Protocol):
    """Stores that authentication uses."""

    @property
    def api_tokens(self) -> ApiTokenStore: ...
    @property
    def sessions(self) -> SessionStore: ...
    @property
    def attempts(self) -> LoginAttemptStore: ...
    @property
    def login_addresses(self) -> LoginAddressStore: ...
    @property
    def rates(self) -> RateStore: ...


LoginJournal = Callable[[LoginFailure], None]
"""Port: called once for each login that was refused."""


def ignore_failure(failure: LoginFailure) -> None:
    """A journal that keeps nothing."""
