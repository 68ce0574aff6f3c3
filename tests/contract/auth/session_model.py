"""A model of logins and sessions: plain dicts and a clock."""

from typing import Any, NamedTuple

from phoneprov_core.people.auth.model import Lifetimes
from phoneprov_core.people.throttle import Attempts

REFUSED = "refused"
CLOSED = "closed"
"""Failures of the model."""


class Token(NamedTuple):
    """An issued token: its account and session, the number of the refresh token that it is or came
    with, and its own expiry."""

    text: str
    owner: str
    session: int
    number: int
    expires_at: int


class SessionModel:
    """Accounts by name, sessions by number. Times are seconds."""

    def __init__(self, lifetimes: Lifetimes) -> None:
        self.lifetimes = lifetimes
        self.now = 0
        self.accounts: dict[str, dict[str, Any]] = {}
        self.sessions: dict[int, dict[str, Any]] = {}
        self.attempts: dict[str, Attempts] = {}
        self._begun = 0

    # Accounts

    def create(self, name: str, password: str, uuid: str) -> None:
        self.accounts[name] = {"uuid": uuid, "password": password, "active": True, "level": None}

    def delete(self, name: str) -> None:
        self._end_all(name)
        self.attempts.pop(name, None)
        del self.accounts[name]

    def set_active(self, name: str, active: bool) -> None:
        if not active:
            self._end_all(name)
        self.accounts[name]["active"] = active

    def set_password(self, name: str, password: str, *, by_session: int | None = None) -> None:
        self.accounts[name]["password"] = password
        self._end_all(name, besides=by_session)
        self.attempts.pop(name, None)

    # Sessions

    def log_in(self, name: str, password: str) -> int | str:
        """The number of the new session, or the name of the refusal."""
        attempts = self.attempts.get(name, Attempts())
        if attempts.wait(self.now * 1000):
            return CLOSED
        self.attempts[name] = attempts.counted(self.now * 1000).decided(0)
        account = self.accounts.get(name)
        if account is None or account["password"] != password or not account["active"]:
            return REFUSED
        del self.attempts[name]
        self._begun += 1
        self.sessions[self._begun] = {
            "name": name,
            "current": 1,
            "exchanged_at": self.now,
            "expires_at": self.now + min(self.lifetimes.refresh_idle, self.lifetimes.session),
            "ends_at": self.now + self.lifetimes.session,
        }
        return self._begun

    def who(self, access: Token) -> tuple[str, int | None] | str:
        """The account of an access token, and its level."""
        session = self._living(access)
        if session is None:
            return REFUSED
        account = self.accounts[session["name"]]
        return account["uuid"], account["level"]

    def refresh(self, token: Token) -> int | str:
        """The number of the session's next refresh token."""
        session = self._living(token)
        if session is None:
            return REFUSED
        if token.number == session["current"]:
            session["current"] += 1
            session["exchanged_at"] = self.now
            idle_until = self.now + self.lifetimes.refresh_idle
            session["expires_at"] = min(idle_until, session["ends_at"])
            return int(session["current"])
        just_before = token.number == session["current"] - 1
        forgiven = self.now < session["exchanged_at"] + self.lifetimes.reuse_grace
        if not (just_before and forgiven):
            del self.sessions[token.session]
        return REFUSED

    def log_out(self, access: Token, refresh: Token | None) -> str | None:
        session = self._living(access)
        if session is None:
            return REFUSED
        if refresh is None:
            self._end_all(session["name"])
            return None
        if refresh.expires_at <= self.now or refresh.owner != access.owner:
            return REFUSED
        self.sessions.pop(refresh.session, None)
        return None

    def _living(self, token: Token) -> dict[str, Any] | None:
        session = self.sessions.get(token.session)
        if session is None or token.expires_at <= self.now or session["expires_at"] <= self.now:
            return None
        return session

    def _end_all(self, name: str, *, besides: int | None = None) -> None:
        self.sessions = {
            number: session
            for number, session in self.sessions.items()
            if session["name"] != name or number == besides
        }
