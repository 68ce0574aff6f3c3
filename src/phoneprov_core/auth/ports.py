"""What authentication needs: sessions, counted guesses, signed tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from phoneprov_core.auth.model import Claims, Exchange, LoginFailure, Principal, Session, TokenKind
from phoneprov_core.auth.throttle import Attempts
from phoneprov_core.kernel.rates import RateStore
from phoneprov_core.kernel.trail import Notes
from phoneprov_core.users.ports import EndSessions, UserStore


class SessionStore(EndSessions, Protocol):
    """The living sessions. A session that ended is gone; nothing revives it."""

    async def start(self, session: Session) -> None:
        """Keep a new session, and forget the expired ones of the same user.

        Raises ``NotFound`` when the user is gone.
        """
        ...

    async def principal(self, session_uuid: str, now: int) -> Principal | None:
        """The account and its level as they stand now, in one question; None when the
        session ended or expired or the account is not active."""
        ...

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
        """Replace the session's current refresh token by its successor.

        Of any number of callers that present the same token, in any number of processes,
        exactly one is told ``DONE``: the session's current token is compared and replaced in
        one statement. Every other token of the session was used before: presenting it ends
        the session (``REUSED``), unless it is the one before the current one and was
        exchanged less than ``grace`` milliseconds ago (``ALREADY_USED``). ``expires_at`` is
        cut to the session's end.
        """
        ...

    async def end(self, session_uuid: str) -> bool:
        """Whether there was such a session."""
        ...

    async def end_every(self) -> int:
        """End every session of every user; the number of sessions."""
        ...


class LoginAttemptStore(Protocol):
    """Counted guesses, by account key."""

    async def begin(self, key: str, attempts: Attempts) -> bool:
        """Keep a count where nothing is counted; whether nothing was. Of any number who begin
        side by side one does."""
        ...

    async def of(self, key: str) -> Attempts:
        """The count so far; nobody else counts for this key until the transaction ends."""
        ...

    async def keep(self, key: str, attempts: Attempts) -> None:
        """Put the count in the place of the current one, or where there is none."""
        ...

    async def clear(self, key: str) -> None:
        """Forget the count: what is counted next is the first. Nothing to forget is fine."""
        ...


class Familiarity(Struct, frozen=True):
    """What is known of a login: whether the account logged in lately, from any address;
    whether any account did from the address; whether the account did from the address."""

    account: bool = False
    address: bool = False
    both: bool = False


class LoginAddressStore(Protocol):
    """The client addresses (``address_key``) that accounts logged in from."""

    async def familiarity(self, username: str, address: str, since: int) -> Familiarity:
        """What logins since then (milliseconds since 1970) say of this name, whatever its case,
        and this address. A name that no account can have is an unknown one."""
        ...

    async def remember(self, user_uuid: str, address: str, now: int) -> None:
        """Record a login, and forget the addresses of the user that are not ``RECENT`` any
        more. Raises ``NotFound`` if the user is gone."""
        ...


class Tokens(Protocol):
    """Signed tokens."""

    def issue(self, kind: TokenKind, claims: Claims) -> str:
        """A signed token; its times are whole seconds, cut down."""
        ...

    def read(self, kind: TokenKind, token: str, now: int) -> Claims:
        """What a genuine token of this kind, valid at ``now``, says.

        Raises ``Unauthenticated`` for every other text, whatever it is.
        """
        ...


class AuthTransaction(Protocol):
    """What authentication is kept in."""

    @property
    def users(self) -> UserStore: ...
    @property
    def sessions(self) -> SessionStore: ...
    @property
    def attempts(self) -> LoginAttemptStore: ...
    @property
    def login_addresses(self) -> LoginAddressStore: ...
    @property
    def rates(self) -> RateStore: ...
    @property
    def trail(self) -> Notes: ...


LoginJournal = Callable[[LoginFailure], None]
"""Port: called once for each login that was refused."""


def ignore_failure(failure: LoginFailure) -> None:
    """A journal that keeps nothing."""
