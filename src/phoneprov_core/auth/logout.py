"""Logging out."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from phoneprov_core.auth.model import LogoutRequest, TokenKind
from phoneprov_core.auth.ports import AuthTransaction, Tokens
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import invalid
from phoneprov_core.kernel.errors import Problem, Unauthenticated
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, millis
from phoneprov_core.kernel.trail import Event


@dataclass(frozen=True)
class Logout:
    """Ends one session of the caller, or all of them."""

    database: ReadAndWrite[AuthTransaction]
    tokens: Tokens
    clock: Clock

    async def __call__(self, actor: Actor, request: LogoutRequest) -> None:
        """Raises ``Invalid`` if the refresh token does not belong to the caller."""
        session_uuid = self._named_session(actor, request)
        async with self.database.write(by=actor) as tx:
            user = await tx.users.find(actor.user_uuid)
            if user is not None:
                await tx.users.put(msgspec.structs.replace(user, last_logout_ip=actor.ip))
            which = "all" if session_uuid is None else "one"
            tx.trail.note(Event("session.ended", "user", actor.user_uuid, {"sessions": which}))
            if session_uuid is None:
                await tx.sessions.end_all(actor.user_uuid)
            else:
                await tx.sessions.end(session_uuid)

    def _named_session(self, actor: Actor, request: LogoutRequest) -> str | None:
        if request.refresh_token is None:
            return None
        try:
            now = millis(self.clock())
            claims = self.tokens.read(TokenKind.REFRESH, request.refresh_token, now)
        except Unauthenticated:
            claims = None
        if claims is None or claims.user_uuid != actor.user_uuid:
            raise invalid([Problem("refresh_token", "is not one of your refresh tokens")])
        return claims.session_uuid
