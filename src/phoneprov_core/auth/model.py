"""Credentials, tokens and sessions. A login creates a session. Each of its refresh tokens can be
exchanged once for the next; an access token is valid for a short time. A token is valid only while
its session exists."""

import math
from enum import Enum
from typing import Annotated

from msgspec import Struct

from phoneprov_core.kernel.commands import Command
from phoneprov_core.kernel.errors import TooManyAttempts, Unauthenticated
from phoneprov_core.kernel.field_types import SECRET, Redacted
from phoneprov_core.kernel.fields import RecordUuid, schema
from phoneprov_core.kernel.system import Timestamp, shown_millis
from phoneprov_core.users.model import LoginName, Password, User

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
    and of metrics ``wrong_token`` or ``token_locked``."""

    client_ip: str
    reason: str


class TokenKind(Enum):
    """The two kinds of token; one is not accepted in place of the other."""

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
    """One login. Times are milliseconds since 1970. ``token_id`` names the one refresh token that
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
        """What becomes of a caller that presents a token that is not the current one.

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
            created_at=shown_millis(self.created_at),
            refreshed_at=shown_millis(self.exchanged_at) if self.exchanged_at else None,
            expires_at=shown_millis(self.expires_at),
            ends_at=shown_millis(self.ends_at),
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
    ``reuse_grace`` is refused without ending the session; with 0 every one ends it."""

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


def login_closed(seconds: int) -> TooManyAttempts:
    """The login of an account is closed."""
    return TooManyAttempts(
        f"Too many failed logins; try again in {seconds} seconds.", retry_after=seconds
    )


def address_closed(wait: int) -> TooManyAttempts:
    """Logins from a client address are closed for ``wait`` milliseconds."""
    seconds = math.ceil(wait / 1000)
    return TooManyAttempts(
        f"Too many failed logins from this address; try again in {seconds} seconds.",
        retry_after=seconds,
    )
