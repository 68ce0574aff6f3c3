"""Exchange of a refresh token for a new pair."""

from __future__ import annotations

from dataclasses import dataclass

from phoneprov_core.auth.model import Exchange, Lifetimes, RefreshRequest, TokenKind, TokenPair
from phoneprov_core.auth.ports import AuthTransaction, Tokens
from phoneprov_core.auth.sessions import token_pair
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.kernel.ids import NewId
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, millis
from phoneprov_core.kernel.trail import Event


@dataclass(frozen=True)
class Refresh:
    """Exchanges a refresh token once; a second use ends the session."""

    database: ReadAndWrite[AuthTransaction]
    tokens: Tokens
    lifetimes: Lifetimes
    clock: Clock
    new_id: NewId

    async def __call__(self, request: RefreshRequest, ip: str = "127.0.0.1") -> TokenPair:
        """Raises ``Unauthenticated`` if the refresh token is not valid."""
        now = self.clock()
        moment = millis(now)
        claims = self.tokens.read(TokenKind.REFRESH, request.refresh_token, moment)
        successor = self.new_id()
        async with self.database.write(by=Actor(claims.user_uuid, None, ip)) as tx:
            outcome = await tx.sessions.exchange(
                claims.session_uuid,
                claims.token_id,
                successor,
                now=moment,
                expires_at=moment + self.lifetimes.refresh_idle * 1000,
                grace=self.lifetimes.reuse_grace * 1000,
            )
            if outcome is Exchange.REUSED:
                tx.trail.note(Event("session.reused", "user", claims.user_uuid))
        # Raised after the transaction, so that the end of the session is committed.
        if outcome is not Exchange.DONE:
            raise Unauthenticated("The refresh token is not valid any more; log in again.")
        return token_pair(
            self.tokens,
            claims.session_uuid,
            claims.user_uuid,
            access_id=self.new_id(),
            refresh_id=successor,
            now=now,
            lifetimes=self.lifetimes,
        )
