"""Predictable clock, identifiers, hashes and tokens.

For tests and trials. None of it is secure: hashes contain the password, and tokens carry no
signature. A service uses ``phoneprov_adapters.runtime.tasks`` and ``phoneprov_adapters.security``.
"""

import asyncio
import hashlib
import itertools
import unicodedata
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import msgspec
from msgspec import Struct

from phoneprov_core.features.desks.model import PageSigner
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.people.auth.model import Claims, TokenKind, Tokens
from phoneprov_core.people.users.model import PasswordHasher
from phoneprov_core.people.vendor_users import PinHasher

T = TypeVar("T")

START = datetime(2026, 1, 31, 8, 15, 30, 250_000, tzinfo=UTC)


class FixedClock:
    """A ``Clock`` that stops until it is advanced: ``clock.now`` is its time."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        """Advance it."""
        self.now += timedelta(seconds=seconds)


class CountingIds:
    """A ``NewId`` whose identifiers count up: the first ends in 1, the next in 2."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def __call__(self) -> str:
        return f"00000000-0000-4000-8000-{next(self._numbers):012x}"


class PlainHasher(PasswordHasher, PinHasher):
    """Hashes for tests: fast and *not secure*, since they contain the password.

    ``parameters`` names the current parameters; a hash made with others is outdated.
    """

    def __init__(self, parameters: int = 1) -> None:
        self.parameters = parameters
        self._salts = itertools.count(1)

    async def hash(self, password: str, *, first: bool = True) -> str:  # noqa: ARG002
        return self._hash("plain", password)

    async def verify(
        self,
        password: str,
        hash_: str | None,
        *,
        first: bool = True,  # noqa: ARG002
    ) -> bool:
        return _made("plain", password, hash_)

    def is_outdated(self, hash_: str) -> bool:
        return not hash_.startswith(f"$plain${self.parameters}$")

    async def hash_pin(self, pin: str) -> str:
        return self._hash("plain-pin", pin)

    async def verify_pin(self, pin: str, hash_: str) -> bool:
        return _made("plain-pin", pin, hash_)

    def _hash(self, kind: str, secret: str) -> str:
        return f"${kind}${self.parameters}${next(self._salts)}${_nfc(secret)}"


def _made(kind: str, secret: str, hash_: str | None) -> bool:
    if hash_ is None:
        return False
    # A password may contain the separator: it is the complete rest.
    parts = hash_.split("$", 4)
    return len(parts) == 5 and parts[:2] == ["", kind] and parts[4] == _nfc(secret)


def _nfc(secret: str) -> str:
    return unicodedata.normalize("NFC", secret)


class _Wire(Struct, frozen=True, forbid_unknown_fields=True):
    typ: TokenKind
    sub: str
    sid: str
    jti: str
    iat: int
    exp: int


class PlainTokens(Tokens):
    """Tokens without a signature: the word ``plain`` and readable JSON. *Not secure*: every client
    can write a token."""

    def issue(self, kind: TokenKind, claims: Claims) -> str:
        wire = _Wire(
            kind,
            claims.user_uuid,
            claims.session_uuid,
            claims.token_id,
            claims.issued_at // 1000,
            claims.expires_at // 1000,
        )
        return "plain." + msgspec.json.encode(wire).decode()

    def read(self, kind: TokenKind, token: str, now: int) -> Claims:
        marker, _, text = token.partition(".")
        try:
            wire = msgspec.json.decode(text, type=_Wire)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            raise _not_valid() from None
        issued_at, expires_at = wire.iat * 1000, wire.exp * 1000
        if marker != "plain" or wire.typ is not kind or not issued_at <= now < expires_at:
            raise _not_valid()
        return Claims(wire.sub, wire.sid, wire.jti, issued_at, expires_at)


class PlainPages(PageSigner):
    """Signatures without a key. *Not secure*: everyone can sign."""

    def sign(self, text: str) -> str:
        return hashlib.sha256(text.encode()).hexdigest()[:22]

    def is_signed(self, text: str, signature: str) -> bool:
        return signature == self.sign(text)


def _not_valid() -> Unauthenticated:
    return Unauthenticated("The token is not valid.")


async def await_directly(work: Awaitable[T]) -> T:
    """A ``RunToEnd`` that does not protect: a cancellation cancels the work."""
    return await work


class MemoryBackground:
    """A ``Background`` whose work can be awaited: ``await background.done()``."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Future[None]] = set()

    def __call__(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def done(self) -> None:
        """Wait until all work has ended."""
        await asyncio.gather(*self._tasks)
