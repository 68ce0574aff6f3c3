"""The session of a browser: the refresh token in a cookie that scripts cannot read.

The access token is in the body; the console holds it in memory. The cookie is sent to these
routes only, and they accept requests of the console's own origin only.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import msgspec
from litestar import delete, post
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse
from msgspec import Struct

from phoneprov_core.application import UseCases
from phoneprov_core.auth.model import (
    Credentials,
    LogoutRequest,
    RefreshRequest,
    Token,
    TokenPair,
)
from phoneprov_core.access.rules import SharedWrite, require_shared_write
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Forbidden, Unauthenticated
from phoneprov_core.kernel.levels import SUPERADMIN
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.me.model import MeProfile
from phoneprov_http.replies import Envelope
from phoneprov_http.requests import AnyRequest, Requests

COOKIE = "phoneprov_session"
BASE_HEADER = "x-console-path"
"""The path of the page as the browser sees it: a reverse proxy may serve it under a prefix."""

_BASE = re.compile(r"/(?:[A-Za-z0-9._~-]+/)*console/", re.ASCII)
_LONGEST_BASE = 256


class BrowserSession(Struct, frozen=True, rename="camel"):
    """The caller, an access token, and what the API allows: ``level0`` is level 0 by the level
    rule of the service, ``shared_write`` the writing of what all accounts share."""

    access_token: Token
    me: MeProfile
    level0: bool
    shared_write: bool

    def __repr__(self) -> str:
        return redacted(self, "access_token")


def session_handlers(requests: Requests, use_cases: UseCases) -> list[HTTPRouteHandler]:
    """``/console/session``."""

    async def begun(request: AnyRequest, pair: TokenPair, message: str) -> ASGIResponse:
        actor = await use_cases.authenticate(pair.access_token, requests.ip(request))
        session = BrowserSession(
            access_token=pair.access_token,
            me=await use_cases.me.profile(actor),
            level0=actor.holds(SUPERADMIN),
            shared_write=_may_write_shared(use_cases, actor),
        )
        return _response(request, message, session, pair.refresh_token)

    @post("/session", status_code=200)
    async def sign_in(request: AnyRequest) -> ASGIResponse:
        """Exchange a username and a password for a session."""
        require_own_origin(request)
        logged_in = await use_cases.login(
            await requests.sent(request, Credentials), requests.ip(request)
        )
        return await begun(request, logged_in.tokens, "Login successful")

    @post("/session/refresh", status_code=200)
    async def refresh_session(request: AnyRequest) -> ASGIResponse:
        """Exchange the cookie, once, for a new one and an access token."""
        require_own_origin(request)
        pair = await use_cases.refresh(RefreshRequest(refresh_token=_refresh_token(request)))
        return await begun(request, pair, "Token refreshed")

    @delete("/session", status_code=200)
    async def sign_out(request: AnyRequest) -> ASGIResponse:
        """End the session of the cookie, and remove the cookie. Without a session: removes the
        cookie."""
        require_own_origin(request)
        try:
            pair = await use_cases.refresh(RefreshRequest(refresh_token=_refresh_token(request)))
        except Unauthenticated:
            return _response(request, "Logout successful", None, "")
        actor = await use_cases.authenticate(pair.access_token, requests.ip(request))
        await use_cases.logout(actor, LogoutRequest(refresh_token=pair.refresh_token))
        return _response(request, "Logout successful", None, "")

    return [sign_in, refresh_session, sign_out]


def _may_write_shared(use_cases: UseCases, actor: Actor) -> bool:
    try:
        require_shared_write(actor, SharedWrite.SUPERADMIN)
    except Forbidden:
        return False
    return True


def require_own_origin(request: AnyRequest) -> None:
    """Raises ``Forbidden`` for a request that another site's page may have sent.

    Browsers send ``Sec-Fetch-Site`` over https and to loopback, and ``Origin`` with every POST
    and DELETE (Fetch standard). A program that sends neither has no cookies of a browser.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        is_own = site == "same-origin"
    else:
        is_own = origin is None or urlsplit(origin).netloc == request.headers.get("host", "")
    if not is_own:
        raise Forbidden("This request came from another site.")


def _response(request: AnyRequest, message: str, data: object, token: str) -> ASGIResponse:
    return ASGIResponse(
        body=msgspec.json.encode(Envelope(True, message, data, {})),
        media_type="application/json",
        headers={"Set-Cookie": _cookie(request, token)},
    )


def _refresh_token(request: AnyRequest) -> str:
    token = request.cookies.get(COOKIE)
    if not token:
        raise Unauthenticated("There is no session; sign in first.")
    return token


def _cookie(request: AnyRequest, token: str) -> str:
    """``Set-Cookie`` with this token; an empty one removes the cookie."""
    base = request.headers.get(BASE_HEADER, "")
    if len(base) > _LONGEST_BASE or not _BASE.fullmatch(base):
        base = f"{request.scope.get('root_path') or ''}/console/"
    parts = [f"{COOKIE}={token}", f"Path={base}session", "HttpOnly", "SameSite=Strict"]
    if not token:
        parts.append("Max-Age=0")
    origin = request.headers.get("origin", "")
    if request.scope["scheme"] == "https" or origin.startswith("https://"):
        parts.append("Secure")
    return "; ".join(parts)
