"""The floor: one bare ASGI function that sends the same queries with the driver alone and returns
the same bytes.

It has no framework, no layers, no validation, no deadlines and no log: the least that the work can
cost in this language. The service's own class checks and caches the tokens.
"""

import asyncio
import os
import sqlite3
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import asyncpg
import msgspec

from phoneprov_adapters.security.crypto import JwtTokens
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.address import POSTGRES, PostgresAddress
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.people.auth.model import Claims, TokenKind
from phoneprov_core.people.users.model import User

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_tokens = JwtTokens(SecretKeys.parse(os.environ["PHONEPROV_SECRET_KEYS"]))

_COLUMNS = ", ".join(User.__struct_fields__)
_PRINCIPAL = (
    "SELECT u.uuid, p.level FROM sessions s JOIN users u ON u.uuid = s.user_uuid"
    " LEFT JOIN assignments a ON a.user_uuid = u.uuid"
    " LEFT JOIN permissions p ON p.uuid = a.perm_uuid"
    " WHERE s.uuid = $1 AND s.expires_at > $2 AND u.is_active"
)
_USER = f"SELECT {_COLUMNS} FROM users WHERE uuid = $1"
_USERS = f"SELECT {_COLUMNS} FROM users ORDER BY created_at, uuid"
_PHONE_FIELDS = Phone.__struct_fields__
_ADD_PHONE = (
    f"INSERT INTO phones ({', '.join(_PHONE_FIELDS)}, search)"
    f" VALUES ({', '.join(f'${place}' for place in range(1, len(_PHONE_FIELDS) + 2))})"
)
_ADD_ENTRY = (
    "INSERT INTO audit (uuid, at, actor_uuid, action, resource, resource_id, changes)"
    " VALUES ($1, $2, $3, 'phone.created', 'phone', $4, $5)"
)
_EXCHANGE = (
    "UPDATE sessions SET previous_token_id = token_id, token_id = $1, exchanged_at = $2,"
    " expires_at = min(ends_at, $3) WHERE uuid = $4 AND token_id = $5 AND expires_at > $2"
    " RETURNING uuid"
)
_IDLE = 14 * 24 * 3600 * 1000

Rows = list[Any]
Ask = Callable[[str, Sequence[Any]], Awaitable[Rows]]


class _Sqlite:
    """One connection, used in the event loop itself."""

    def __init__(self, path: str) -> None:
        sqlite3.register_converter("BOOLEAN", lambda stored: stored != b"0")
        self._connection = sqlite3.connect(
            path, isolation_level=None, detect_types=sqlite3.PARSE_DECLTYPES, timeout=10
        )
        for pragma in ("synchronous=FULL", "foreign_keys=ON"):
            self._connection.execute(f"PRAGMA {pragma}")

    async def ask(self, sql: str, values: Sequence[Any]) -> Rows:
        return self._connection.execute(sql.replace("$", "?"), values).fetchall()

    async def change(self, work: Callable[[Ask], Awaitable[Any]]) -> Any:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            return await work(self.ask)
        finally:
            self._connection.execute("COMMIT")


class _Postgres:
    """The driver's own pool; reads run without a transaction."""

    def __init__(self, url: str) -> None:
        self._dsn = PostgresAddress.parse(url).dsn
        self._pool: Any = None
        self._opening = asyncio.Lock()

    async def _opened(self) -> Any:
        if self._pool is None:
            # The first requests are concurrent.
            async with self._opening:
                if self._pool is None:
                    self._pool = await asyncpg.create_pool(self._dsn, min_size=10, max_size=10)
        return self._pool

    async def ask(self, sql: str, values: Sequence[Any]) -> Rows:
        async with (await self._opened()).acquire() as connection:
            return list(await connection.fetch(sql, *values))

    async def change(self, work: Callable[[Ask], Awaitable[Any]]) -> Any:
        async with (await self._opened()).acquire() as connection, connection.transaction():

            async def ask(sql: str, values: Sequence[Any]) -> Rows:
                return list(await connection.fetch(sql, *values))

            return await work(ask)


_url = os.environ["PHONEPROV_DATABASE_URL"]
_database: _Sqlite | _Postgres = (
    _Postgres(_url) if _url.startswith(POSTGRES) else _Sqlite(_url.partition("///")[2])
)
_exchange = _EXCHANGE.replace("min(", "least(") if _url.startswith(POSTGRES) else _EXCHANGE


async def app(scope: Any, receive: Any, send: Any) -> None:
    """The application."""
    if scope["type"] != "http":
        return
    method, parts = scope["method"], scope["path"].split("/")
    if method == "GET" and parts[-1] == "ready":
        body = b"{}"
    elif method == "GET":
        body = await _get(_bearer(scope), parts[4] if len(parts) > 4 else "")
    elif parts[-1] == "refresh":
        body = await _refresh(await _body(receive))
    else:
        body = await _create_phone(_bearer(scope), await _body(receive))
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _get(token: str, key: str) -> bytes:
    await _known(token)
    if key:
        rows = await _database.ask(_USER, (key,))
        return _envelope("User found", User(*rows[0]))
    rows = await _database.ask(_USERS, ())
    return _envelope(f"{len(rows)} user(s) found", [User(*row) for row in rows])


async def _create_phone(token: str, sent: bytes) -> bytes:
    actor = await _known(token)
    fields = _decode(sent)
    moment = _moment()
    given: dict[str, Any] = {
        **dict.fromkeys(_PHONE_FIELDS),
        "is_active": True,
        "address_confirmed": False,
        "adopted_with_pin": False,
        **fields,
        "created_at": moment,
        "updated_at": moment,
    }
    phone = Phone(**given)
    values = tuple(getattr(phone, name) for name in _PHONE_FIELDS)
    values += (f"{phone.mac} {phone.brand} {phone.model} {phone.phone_ip}".casefold(),)
    changes = _encode({name: {"old": None, "new": value} for name, value in fields.items()})
    entry = (str(uuid.uuid4()), moment, actor, phone.mac, changes.decode())

    async def add(ask: Ask) -> None:
        await ask(_ADD_PHONE, values)
        await ask(_ADD_ENTRY, entry)

    await _database.change(add)
    return _envelope("Phone created", phone)


async def _refresh(sent: bytes) -> bytes:
    now = _now()
    claims = _tokens.read(TokenKind.REFRESH, _decode(sent)["refresh_token"], now)
    successor = str(uuid.uuid4())

    async def exchange(ask: Ask) -> bool:
        values = (successor, now, now + _IDLE, claims.session_uuid, claims.token_id)
        named = (claims.session_uuid, now)
        return bool(await ask(_exchange, values)) and bool(await ask(_PRINCIPAL, named))

    if not await _database.change(exchange):
        raise PermissionError("The token was used.")
    issued = [
        _tokens.issue(kind, Claims(claims.user_uuid, claims.session_uuid, one, now, now + length))
        for kind, one, length in (
            (TokenKind.ACCESS, str(uuid.uuid4()), 900_000),
            (TokenKind.REFRESH, successor, _IDLE),
        )
    ]
    return _envelope("Token refreshed", {"accessToken": issued[0], "refreshToken": issued[1]})


async def _known(token: str) -> str:
    """The account of a superadmin."""
    now = _now()
    claims = _tokens.read(TokenKind.ACCESS, token, now)
    rows = await _database.ask(_PRINCIPAL, (claims.session_uuid, now))
    if not rows or rows[0][1] != 0:
        raise PermissionError("The caller is not a superadmin.")
    return str(rows[0][0])


def _bearer(scope: Any) -> str:
    for name, value in scope["headers"]:
        if name == b"authorization":
            return str(value[7:].decode())
    raise PermissionError("No token.")


async def _body(receive: Any) -> bytes:
    content, more = b"", True
    while more:
        message = await receive()
        content += message.get("body", b"")
        more = message.get("more_body", False)
    return content


def _envelope(message: str, data: object) -> bytes:
    return _encode({"success": True, "message": message, "data": data, "metadata": {}})


def _now() -> int:
    return int(time.time() * 1000)


def _moment() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
