"""Creation of a session and its tokens; shared by login and refresh."""

from __future__ import annotations

from datetime import datetime

from phoneprov_core.auth.model import Claims, Lifetimes, Session, TokenKind, TokenPair
from phoneprov_core.auth.ports import Tokens
from phoneprov_core.kernel.times import millis


def new_session(
    uuid: str, user_uuid: str, token_id: str, now: datetime, lifetimes: Lifetimes
) -> Session:
    """The session that a login creates."""
    moment = millis(now)
    ends_at = moment + lifetimes.session * 1000
    return Session(
        uuid=uuid,
        user_uuid=user_uuid,
        token_id=token_id,
        created_at=moment,
        expires_at=min(moment + lifetimes.refresh_idle * 1000, ends_at),
        ends_at=ends_at,
    )


def token_pair(
    tokens: Tokens,
    session_uuid: str,
    user_uuid: str,
    *,
    access_id: str,
    refresh_id: str,
    now: datetime,
    lifetimes: Lifetimes,
) -> TokenPair:
    """An access and a refresh token for a session."""
    moment = millis(now)

    def issue(kind: TokenKind, token_id: str, lifetime: int) -> str:
        return tokens.issue(
            kind, Claims(user_uuid, session_uuid, token_id, moment, moment + lifetime * 1000)
        )

    return TokenPair(
        issue(TokenKind.ACCESS, access_id, lifetimes.access),
        issue(TokenKind.REFRESH, refresh_id, lifetimes.refresh_idle),
    )
