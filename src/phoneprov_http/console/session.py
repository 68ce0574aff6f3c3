"""The session of a browser: the refresh token in a cookie that scripts cannot read.

The access token is in the body; the console holds it in memory. The cookie is sent to these
routes only, and they accept requests of the console's own origin only.
"""

import re
from importlib.metadata import version

from litestar import Router

from phoneprov_core.application import UseCases
from phoneprov_core.kernel.actor import SUPERADMIN, may_write_shared
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_core.kernel.fields import Redacted
from phoneprov_core.kernel.values import address_key
from phoneprov_core.people.auth.model import (
    Credentials,
    LogoutRequest,
    RefreshRequest,
    Token,
    TokenPair,
)
from phoneprov_core.people.me import MeProfile
from phoneprov_http.console.cookies import COOKIE, own_origin, session_cookie
from phoneprov_http.console.files import file_handlers
from phoneprov_http.console.oidc import oidc_routes
from phoneprov_http.envelope import EnvelopeResponse, done, record
from phoneprov_http.routes.handlers import PUBLIC, ApiRequest, Body, Routes

BASE_HEADER = "x-console-path"
"""The path of the page as the browser sees it: a reverse proxy may serve it under a prefix."""

_BASE = re.compile(r"/(?:[A-Za-z0-9._~-]+/)*console/", re.ASCII)
_LONGEST_BASE = 256


class BrowserSession(Redacted, frozen=True, rename="camel"):
    """The caller, an access token, and what the API allows: ``level0`` is level 0 by the level
    rule of the service, ``shared_write`` the writing of what all accounts share. ``version`` is
    that of the service. ``is_connected`` is whether the account has an identity of the provider,
    null without a provider."""

    access_token: Token
    me: MeProfile
    level0: bool
    shared_write: bool
    version: str
    is_connected: bool | None


def console_routes(use_cases: UseCases, provider: str, public_url: str) -> list[Router]:
    """``/console`` and ``/console/session``. The files are public; what they show is fetched with
    an access token. ``provider`` is the button of the provider, empty for none."""
    files = Router("/console", route_handlers=file_handlers(), opt=PUBLIC, include_in_schema=False)
    routes: list[Router] = [files, session_routes(use_cases, provider)]
    if provider and use_cases.provider_sign_in is not None:
        routes.append(oidc_routes(use_cases.provider_sign_in, public_url))
    return routes


def session_routes(use_cases: UseCases, provider: str) -> Routes:
    """``/console/session``."""
    routes = Routes(
        "Console", "/console/session", guards=[own_origin], opt=PUBLIC, include_in_schema=False
    )

    sign_in_elsewhere = use_cases.provider_sign_in if provider else None

    async def begun(request: ApiRequest, pair: TokenPair, message: str) -> EnvelopeResponse:
        actor = await use_cases.authenticate(pair.access_token, request.client_ip)
        session = BrowserSession(
            access_token=pair.access_token,
            me=await use_cases.me.profile(actor),
            level0=actor.holds(SUPERADMIN),
            shared_write=may_write_shared(actor, use_cases.shared_write),
            version=version("phoneprov"),
            is_connected=(
                await sign_in_elsewhere.is_connected(actor) if sign_in_elsewhere else None
            ),
        )
        return _response(request, record(message, session), pair.refresh_token)

    @routes.post("/", status_code=200)
    async def sign_in(request: ApiRequest, data: Body[Credentials]) -> EnvelopeResponse:
        """Exchange a username and a password for a session."""
        logged_in = await use_cases.login(data, request.client_ip)
        return await begun(request, logged_in.tokens, "Login successful")

    @routes.get("/")
    async def ways_to_sign_in() -> EnvelopeResponse:
        """The text of the button of the provider; null without one."""
        return EnvelopeResponse(record("Ways to sign in", {"provider": provider or None}))

    @routes.post("/refresh", status_code=200)
    async def refresh_session(request: ApiRequest) -> EnvelopeResponse:
        """Exchange the cookie for a new one and an access token; null without a cookie. A page
        that is reloaded before the response arrives gets the same new one again."""
        if not request.cookies.get(COOKIE):
            return EnvelopeResponse(record("There is no session", None))
        return await begun(request, await _refreshed(request), "Token refreshed")

    @routes.delete("/")
    async def sign_out(request: ApiRequest) -> EnvelopeResponse:
        """End the session of the cookie, if there is one, and remove the cookie."""
        try:
            pair = await _refreshed(request)
            actor = await use_cases.authenticate(pair.access_token, request.client_ip)
            await use_cases.logout(actor, LogoutRequest(refresh_token=pair.refresh_token))
        except Unauthenticated:
            pass  # the session has ended already
        return _response(request, done("Logout successful"), "")

    async def _refreshed(request: ApiRequest) -> TokenPair:
        token = request.cookies.get(COOKIE)
        if not token:
            raise Unauthenticated("There is no session; sign in first.")
        browser = f"{address_key(request.client_ip)} {request.headers.get('user-agent', '')}"
        refresh_request = RefreshRequest(refresh_token=token)
        return await use_cases.refresh(refresh_request, request.client_ip, browser)

    return routes


def _response(request: ApiRequest, envelope: object, token: str) -> EnvelopeResponse:
    return EnvelopeResponse(envelope, headers={"Set-Cookie": _cookie(request, token)})


def _cookie(request: ApiRequest, token: str) -> str:
    """``Set-Cookie`` with this token; an empty one removes the cookie."""
    base = request.headers.get(BASE_HEADER, "")
    if len(base) > _LONGEST_BASE or not _BASE.fullmatch(base):
        base = f"{request.scope.get('root_path') or ''}/console/"
    origin = request.headers.get("origin", "")
    secure = request.scope["scheme"] == "https" or origin.startswith("https://")
    return session_cookie(token, f"{base}session", secure=secure)
