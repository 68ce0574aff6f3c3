"""Authentication of a caller by access token."""

from __future__ import annotations

from dataclasses import dataclass

from phoneprov_core.auth.model import TokenKind
from phoneprov_core.auth.ports import AuthTransaction, Tokens
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.kernel.levels import LevelRule
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, millis


@dataclass(frozen=True)
class Authenticate:
    """Finds the account of an access token, with its current state.

    Session, account and level are read on every call in one query, so that a session that ended in
    any process is refused at once.
    """

    database: ReadAndWrite[AuthTransaction]
    tokens: Tokens
    level_rule: LevelRule
    clock: Clock

    async def __call__(self, access_token: str, ip: str = "127.0.0.1") -> Actor:
        """Raises ``Unauthenticated``."""
        now = millis(self.clock())
        claims = self.tokens.read(TokenKind.ACCESS, access_token, now)
        async with self.database.read() as tx:
            principal = await tx.sessions.principal(claims.session_uuid, now)
        if principal is None or principal.user_uuid != claims.user_uuid:
            raise Unauthenticated("The session has ended; log in again.")
        return Actor(
            principal.user_uuid,
            principal.level,
            ip,
            claims.session_uuid,
            self.level_rule,
            principal.username,
        )
