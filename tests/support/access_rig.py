"""The application under one setting, and one caller of every kind."""

import itertools
import time
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from phoneprov_adapters.security.crypto import JwtTokens
from phoneprov_core.people.auth.model import Claims, TokenKind
from phoneprov_core.people.permissions import Right
from support.api import Api
from support.keys import OLD_KEYS
from support.kinds import a_token
from support.records import (
    a_permission,
    a_session,
    a_user,
    an_assignment,
    identifier,
    moment,
)

HOUR = 3600 * 1000

UNKNOWN = (
    "no token", "garbage", "forged", "expired", "refresh token", "logged out", "deactivated",
    "deleted",
)  # fmt: skip
KNOWN = ("stranger", "owner", "level 0", "level 7")
TOKENS = ("token", "read-only token")
"""API tokens of the caller with level 0."""
HELPDESKS = {"helpdesk": (), "helpdesk in scope": ("office",), "helpdesk out of scope": ("Off",)}
"""Callers with the right helpdesk, and its locations: phones of the tests are in the office."""
HELPDESK_TOKEN = "helpdesk token"
CALLERS = (*KNOWN, *TOKENS, *HELPDESKS, HELPDESK_TOKEN)

Body = dict[str, Any]


class Rig:
    """The application under one setting, and its callers."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.owner = ""
        self.request_id = ""
        self.tokens: dict[str, str | None] = {"no token": None, "garbage": "a.b.c"}
        self.users: dict[str, str] = {}
        self._numbers = itertools.count(1000)
        self._now = time.time_ns() // 1_000_000

    async def create_callers(self) -> None:
        """Create the callers, once."""
        for name in (*UNKNOWN[2:], *KNOWN, *HELPDESKS):
            self.users[name], session = await self._account(active=name != "deactivated")
            self.tokens[name] = self.token(TokenKind.ACCESS, self.users[name], session)
            async with self.api.database.write() as tx:
                if name == "logged out":
                    await tx.sessions.end(session)
                elif name == "deleted":
                    await tx.users.remove(self.users[name])
                elif name in HELPDESKS:
                    right = Right(
                        self.users[name], "helpdesk", HELPDESKS[name], moment(1), moment(1)
                    )
                    await tx.rights.add(right)
                elif name.startswith("level"):
                    permission = a_permission(int(name[-1]), name=name)
                    await tx.permissions.add(permission)
                    assignment = an_assignment(
                        self.users[name], permission.uuid, next(self._numbers)
                    )
                    await tx.assignments.assign(assignment)
            if name == "refresh token":
                self.tokens[name] = self.token(TokenKind.REFRESH, self.users[name], session)
            elif name == "expired":
                issued = self._now - HOUR
                claims = Claims(self.users[name], session, identifier(1), issued, self._now - 2000)
                self.tokens[name] = self.api.container.tokens().issue(TokenKind.ACCESS, claims)
            elif name == "forged":
                claims = Claims(
                    self.users[name], session, identifier(1), self._now, self._now + HOUR
                )
                self.tokens[name] = JwtTokens(OLD_KEYS).issue(TokenKind.ACCESS, claims)
        self.owner = self.users["owner"]
        secrets = self.api.container.token_secrets()
        for name in (*TOKENS, HELPDESK_TOKEN):
            token = self.tokens[name] = secrets.create()
            owner = "level 0" if name in TOKENS else "helpdesk in scope"
            self.users[name] = self.users[owner]
            record = a_token(
                next(self._numbers),
                self.users[name],
                name=name,
                read_only=name == "read-only token",
                hash=secrets.hashes(token)[0],
            )
            async with self.api.database.write() as tx:
                await tx.api_tokens.add(record)

    async def _account(self, *, active: bool = True) -> tuple[str, str]:
        number = next(self._numbers)
        user = a_user(number, is_active=active)
        async with self.api.database.write() as tx:
            await tx.users.add(user)
        return user.uuid, await self.session(user.uuid)

    async def session(self, user_uuid: str, token_id: str = "t1") -> str:
        ends_at = self._now + HOUR
        session = a_session(
            next(self._numbers), user_uuid, token_id=token_id, expires_at=ends_at, ends_at=ends_at
        )
        async with self.api.database.write() as tx:
            await tx.sessions.start(session)
        return session.uuid

    def token(self, kind: TokenKind, user_uuid: str, session: str, token_id: str = "t1") -> str:
        claims = Claims(user_uuid, session, token_id, self._now - 1000, self._now + HOUR)
        return self.api.container.tokens().issue(kind, claims)

    async def refresh_token(self, user_uuid: str) -> str:
        return self.token(TokenKind.REFRESH, user_uuid, await self.session(user_uuid))

    def number(self) -> int:
        return next(self._numbers)

    async def asked(self, caller: str, route: "Route") -> int:
        """Send a request of a caller for a new record."""
        target = await route.target(self)
        path = route.path.format(**target)
        body = await route.body(self, caller, target) if route.body else None
        token = self.tokens[caller]
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        self.api.client.cookies.clear()  # the session of a browser
        reply = await self.api.client.request(route.method, path, headers=headers, json=body)
        self.request_id = reply.headers["x-request-id"]
        if reply.status_code == 401:
            assert reply.headers["www-authenticate"] == "Bearer"
            assert reply.json()["error"]["details"] == []
        return reply.status_code


class Route(NamedTuple):
    method: str
    path: str
    rule: str
    target: Callable[[Rig], Awaitable[dict[str, str]]]
    body: Callable[[Rig, str, dict[str, str]], Awaitable[Body]] | None = None
    success: int = 200

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"
