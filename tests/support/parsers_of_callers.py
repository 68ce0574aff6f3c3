"""Parsers of the caller and its address: tokens, ``Authorization``, ``X-Forwarded-For``."""

import asyncio
import base64
import ipaddress
from collections.abc import Coroutine
from typing import Any

from joserfc import jws
from joserfc.jwk import OctKey

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.memory.system import START, FixedClock
from phoneprov_adapters.security.crypto import JwtTokens, KeyedTokens
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.kernel.values import millis
from phoneprov_core.people.auth.model import Claims, TokenKind
from phoneprov_core.people.auth.sessions import Authenticate
from phoneprov_http.front import Authentication, client_ip
from support.keys import BOTH_KEYS, NEW_KEYS, OLD_KEYS
from support.parser import Parser, text_of
from support.records import a_session, a_user, identifier

HOUR = 3600 * 1000

_CLOCK = FixedClock(START.replace(microsecond=0))
_NOW = millis(_CLOCK())
_CLAIMS = Claims(identifier(1), identifier(2), identifier(3), _NOW, _NOW + HOUR)
_TOKENS = JwtTokens(BOTH_KEYS)
_ACCESS, _REFRESH = (JwtTokens(NEW_KEYS).issue(kind, _CLAIMS) for kind in TokenKind)
_OF_OLD_KEY = JwtTokens(OLD_KEYS).issue(TokenKind.ACCESS, _CLAIMS)
_STRANGE = JwtTokens(NEW_KEYS, issuer="another service").issue(TokenKind.ACCESS, _CLAIMS)
_UNSIGNED = base64.urlsafe_b64encode(b'{"alg":"none","typ":"at+jwt"}').rstrip(b"=")
_KEY = OctKey.import_key(NEW_KEYS.current.signing)
_SIGNED = b"signed:"


def _takes_token(content: bytes) -> bool:
    """A token; a payload after ``signed:`` is signed with our key first."""
    kind = TokenKind.ACCESS if len(content) % 8 else TokenKind.REFRESH
    text = text_of(content)
    if signed := content.startswith(_SIGNED):
        header = {"alg": "HS256", "typ": TokenKind.ACCESS.value, "kid": NEW_KEYS.current.id}
        text = jws.serialize_compact(header, content.removeprefix(_SIGNED), _KEY)
    try:
        claims = _TOKENS.read(kind, text, _NOW)
    except Unauthenticated:
        return False
    # A token that was not signed here was issued before, or is forged.
    assert signed or claims == _CLAIMS
    return True


_PAYLOAD = base64.urlsafe_b64decode(_ACCESS.split(".")[1] + "==")
JWT = Parser(
    [
        *(token.encode() for token in (_ACCESS, _REFRESH, _OF_OLD_KEY, _STRANGE)),
        _UNSIGNED + b"." + _ACCESS.encode().split(b".")[1] + b".",
        *[_SIGNED + _PAYLOAD] * 4,
    ],
    [
        *(b".", b"..", b"=", b"-", b"_", b"e30", _UNSIGNED, _ACCESS.encode().split(b".")[0]),
        *(b'"exp":', b'"nbf":', b"{", b"}", b'"', b"null", b'"sub":""', b"[]", b","),
    ],
    _takes_token,
)


class _Handler:
    opt: dict[str, Any] = {}


def _scope(name: bytes, value: bytes, client: str) -> Any:
    return {
        "type": "http", "method": "GET", "path": "/", "query_string": b"",
        "headers": [(name, value)], "client": (client, 5), "state": {"client_ip": client},
        "route_handler": _Handler,
    }  # fmt: skip


def _finish(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that waits for nothing."""
    try:
        while work.send(None) is None:
            pass
    except StopIteration:
        return
    raise AssertionError("it waited")


async def _nothing(*_: Any) -> Any:
    return None


async def _database_with_an_account() -> MemoryDatabase:
    database = MemoryDatabase()
    await database.open()
    user = a_user(1)
    session = a_session(2, user.uuid, expires_at=_NOW + HOUR, ends_at=_NOW + HOUR)
    async with database.write() as tx:
        await tx.users.add(user)
        await tx.sessions.start(session)
    return database


_database = asyncio.run(_database_with_an_account())
_authenticate = Authenticate(
    _database, _TOKENS, KeyedTokens(NEW_KEYS), LevelRule.HIERARCHICAL, _CLOCK
)
_AUTHENTICATION = Authentication(_nothing, _authenticate)


def _takes_authorization(content: bytes) -> bool:
    scope = _scope(b"authorization", content, "10.0.0.1")
    try:
        _finish(_AUTHENTICATION(scope, _nothing, _nothing))
    except Unauthenticated:
        return False
    assert scope["user"].user_uuid == identifier(1)
    return True


AUTHORIZATION = Parser(
    [
        *(b"Bearer " + token.encode() for token in (_ACCESS, _REFRESH, _OF_OLD_KEY, _STRANGE)),
        *(b"bearer  " + _ACCESS.encode(), b"Basic YWRhOnB3", b"Bearer", b"Bearer a b", b""),
    ],
    [b"Bearer", b"bearer ", b"Basic ", b" ", b",", b"\xa0", b'token="', b".", b"="],
    _takes_authorization,
)

_PROXIES = [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("fd00::/8")]


def _takes_forwarded(content: bytes) -> bool:
    """Any header yields one address; the header of an untrusted client is ignored."""
    result = client_ip(_scope(b"x-forwarded-for", content, "10.0.0.1"), _PROXIES)
    assert str(ipaddress.ip_address(result)) == result
    stranger = _scope(b"x-forwarded-for", content, "192.0.2.1")
    assert client_ip(stranger, _PROXIES) == "192.0.2.1"
    return result != "10.0.0.1"


FORWARDED = Parser(
    [
        *(b"203.0.113.9", b"6.6.6.6, 203.0.113.9, 10.0.0.2", b"[2001:db8::7]:443, 10.0.0.3"),
        *(b"203.0.113.9:80", b"unknown", b"_hidden", b"fe80::1%eth0", b",,,", b"::ffff:10.0.0.1"),
    ],
    [b",", b", ", b"[", b"]", b":", b".", b"%", b"10.0.0.1", b"::", b'"', b";", b"for=", b"\xb2"],
    _takes_forwarded,
)
