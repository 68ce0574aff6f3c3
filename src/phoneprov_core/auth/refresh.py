"""Exchange of a refresh token for a new pair."""

from __future__ import annotations

from phoneprov_core.auth.model import (
    Exchange,
    Lifetimes,
    RefreshRequest,
    TokenKind,
    TokenPair,
)
from phoneprov_core.auth.ports import AuthTransaction, Tokens
from phoneprov_core.auth.sessions import token_pair
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.kernel.ids import NewId
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.times import Clock, millis
from phoneprov_core.kernel.trail import Event


class Refresh:
    """Exchanges a refresh token once; a second use ends the session."""

    def __init__(
        self,
        open_: ReadAndWrite[AuthTransaction],
        tokens: Tokens,
        lifetimes: Lifetimes,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        self._open = open_
        self._tokens = tokens
        self._lifetimes = lifetimes
        self._clock = clock
        self._new_id = new_id

    async def __call__(self, request: RefreshRequest, ip: str = "127.0.0.1") -> TokenPair:
        """Raises ``Unauthenticated`` if the refresh token is not valid."""
        now = self._clock()
        moment = millis(now)
        claims = self._tokens.read(TokenKind.REFRESH, request.refresh_token, moment)
        successor = self._new_id()
        async with self._open.write(by=Actor(claims.user_uuid, None, ip)) as tx:
            outcome = await tx.sessions.exchange(
                claims.session_uuid,
                claims.token_id,
                successor,
                now=moment,
                expires_at=moment + self._lifetimes.refresh_idle * 1000,
                grace=self._lifetimes.reuse_grace * 1000,
            )
            if outcome is Exchange.REUSED:
                tx.trail.note(Event("session.reused", "user", claims.user_uuid))
        # Raised after the transaction, so that the end of the session is committed.
        if outcome is not Exchange.DONE:
            raise Unauthenticated("The refresh token is not valid any more; log in again.")
        return token_pair(
            self._tokens,
            claims.session_uuid,
            claims.user_uuid,
            access_id=self._new_id(),
            refresh_id=successor,
            now=now,
            lifetimes=self._lifetimes,
        )
