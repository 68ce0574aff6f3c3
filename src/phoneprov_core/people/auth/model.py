"""Sessions, tokens and credentials, and the stores that keep them."""

from collections.abc import Callable
from enum import Enum
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated
from phoneprov_core.kernel.fields import SECRET, RecordUuid, Redacted, schema
from phoneprov_core.kernel.ports import RateStore
from phoneprov_core.kernel.values import Timestamp, timestamp_of_millis
from phoneprov_core.people.me import ApiTokenStore
from phoneprov_core.people.throttle import Attempts
from phoneprov_core.people.users.model import LoginName, Password, User
from phoneprov_core.people.users.use_cases import EndSessions, KnownAddresses, UsersTransaction

Token = Annotated[
    str,
    SECRET,
    schema("Signed token (JWT)", examples=["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmVk"]),
]


class Credentials(Command, frozen=True, kw_only=True):
    """The username and password of a login."""

    username: LoginName
    password: Annotated[
        str, SECRET, schema("Password", format="password", examples=["correct horse battery"])
    ]


class RefreshRequest(Command, frozen=True, kw_only=True):
    """A refresh token to be exchanged."""

    refresh_token: Token


class LogoutRequest(Command, frozen=True, kw_only=True):
    """The session to end, named by its refresh token; without one, all the caller's."""

    refresh_token: Token | None = None


class TokenPair(Redacted, frozen=True, rename="camel"):
    """A fresh access token and the refresh token that follows it."""

    access_token: Token
    refresh_token: Token


class LoggedIn(Struct, frozen=True):
    """The user who logged in, and their tokens."""

    user: User
    tokens: TokenPair


class LoginFailure(Struct, frozen=True):
    """A login that was refused. ``reason`` is the error code: ``wrong_credentials``,
    ``too_many_attempts`` or ``locked``; at a phone ``wrong_pin`` or ``pin_locked``; of Asterisk
    and of metrics ``wrong_token`` or ``token_locked``; with a provider the code of the refusal."""

    client_ip: str
    reason: str


class TokenKind(Enum):
    """The two kinds of token. A token of one kind is not accepted as the other kind."""

    ACCESS = "at+jwt"
    REFRESH = "rt+jwt"


class Claims(Struct, frozen=True):
    """The claims of a token. Times are milliseconds since 1970."""

    user_uuid: str
    session_uuid: str
    token_id: str
    issued_at: int
    expires_at: int


class Session(Struct, frozen=True):
    """One login. Times are milliseconds since 1970. ``token_id`` names the only refresh token that
    can still be exchanged. ``expires_at`` moves with every exchange, at most up to ``ends_at``.
    ``previous_token_id`` names the token that was exchanged last, at ``exchanged_at``."""

    uuid: str
    user_uuid: str
    token_id: str
    created_at: int
    expires_at: int
    ends_at: int
    previous_token_id: str | None = None
    exchanged_at: int = 0

    def second_use(
        self, token_id: str, successor: str, now: int, *, grace: int, again: int
    ) -> "Exchange":
        """The result for a caller whose token is not the current one.

        Every such token was used before, so that the session ends (``REUSED``). Exceptions are the
        token before the current one, if it was exchanged less than ``grace`` milliseconds ago
        (``ALREADY_USED``), or for this ``successor`` less than ``again`` milliseconds ago
        (``AGAIN``).
        """
        if token_id == self.previous_token_id and now < self.expires_at:
            age = now - self.exchanged_at
            if successor == self.token_id and age < again:
                return Exchange.AGAIN
            if age < grace:
                return Exchange.ALREADY_USED
        return Exchange.REUSED

    def opened(self, current: str | None) -> "OpenSession":
        """This session for its user, whose request belongs to the session ``current``."""
        return OpenSession(
            uuid=self.uuid,
            created_at=timestamp_of_millis(self.created_at),
            refreshed_at=timestamp_of_millis(self.exchanged_at) if self.exchanged_at else None,
            expires_at=timestamp_of_millis(self.expires_at),
            ends_at=timestamp_of_millis(self.ends_at),
            is_current=self.uuid == current,
        )


class OpenSession(Struct, frozen=True):
    """A login that has not ended."""

    uuid: RecordUuid
    created_at: Annotated[Timestamp, schema("Time of the login")]
    refreshed_at: Annotated[Timestamp, schema("Last refresh of its tokens; null before")] | None
    expires_at: Annotated[Timestamp, schema("End of the session if it is not refreshed again")]
    ends_at: Annotated[Timestamp, schema("Latest end of the session")]
    is_current: Annotated[
        bool, schema("Whether the request belongs to this session", examples=[True])
    ]


class PasswordChange(Command, frozen=True, kw_only=True):
    """The caller's current password and the new one."""

    current_password: Annotated[
        str, SECRET, schema("Current password", format="password", examples=["old horse battery"])
    ]
    password: Password
    end_tokens: Annotated[
        bool, schema("Whether the account's API tokens end, too", examples=[False])
    ] = False


class Principal(Struct, frozen=True):
    """The account of an active session."""

    user_uuid: str
    level: int | None
    username: str | None = None
    right: str | None = None
    locations: tuple[str, ...] = ()


class Exchange(Enum):
    """The result of exchanging a refresh token."""

    DONE = "done"
    AGAIN = "again"
    """Used a moment ago for the same successor: nothing is changed."""
    ALREADY_USED = "already used"
    """Within the grace window: refused, but the session continues."""
    REUSED = "reused"
    """Reused: the session was ended."""
    NO_SESSION = "no session"


class Lifetimes(Struct, frozen=True):
    """Lifetimes of tokens and sessions, in seconds. A second use of a refresh token within
    ``reuse_grace`` is refused without ending the session; with 0 every second use ends the
    session."""

    access: int = 15 * 60
    refresh_idle: int = 14 * 24 * 3600
    session: int = 90 * 24 * 3600
    reuse_grace: int = 0


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


class SessionStore(EndSessions, Protocol):
    """Active sessions. A session that ended is deleted and cannot be restored."""

    async def start(self, session: Session) -> None:
        """Store a new session, and delete the expired ones of the same user. Raises ``NotFound``
        if the user does not exist."""

    async def principal(self, session_uuid: str, now: int) -> Principal | None:
        """The account of the session with its current level and right, in one query; None if the
        session ended or expired or the account is not active."""

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

    async def seen(self, key: str) -> Attempts | None:
        """The current count, without a lock; None if nothing was counted."""

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


class LinkedAccounts(Protocol):
    """The part of the identities at a provider that login and accounts use."""

    async def is_linked(self, user_uuid: str, issuer: str) -> bool:
        """Whether the account has an identity of this issuer."""

    async def remove_of(self, column: str, owner: str) -> None:
        """Delete the identities whose ``column`` (``user_uuid``) is this one; each has its audit
        entry."""


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
    @property
    def identities(self) -> LinkedAccounts: ...
    async def flush(self) -> None:
        """Execute deferred changes. Raises the errors of ``add`` that are still to come."""


LoginJournal = Callable[[LoginFailure], None]
"""Port: called once for each login that was refused."""


def ignore_failure(failure: LoginFailure) -> None:
    """A journal that keeps nothing."""
