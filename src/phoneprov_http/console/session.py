"""The session of a browser: the refresh token in a cookie that scripts cannot read, and the ways to
sign in: a password, or a provider.

The access token is in the body; the console holds it in memory. The cookie is sent to these
routes only, and they accept requests of the console's own origin only.

At a provider the browser goes there, and comes back with a code. That reply comes from another
site, with a cookie that is ``SameSite=Lax``: a ``Strict`` one is not sent then. Only its two GET
routes accept requests of other sites.
"""

import re
from importlib.metadata import version
from urllib.parse import urlencode, urlsplit

from litestar import Router
from litestar.handlers import BaseRouteHandler
from litestar.response.base import ASGIResponse
from msgspec import Struct

from phoneprov_core.application import UseCases
from phoneprov_core.features.identities.model import PENDING_SECONDS, NotAMember, ProviderReply
from phoneprov_core.features.identities.use_cases import ProviderSignIn
from phoneprov_core.kernel.actor import SUPERADMIN, may_write_shared
from phoneprov_core.kernel.errors import Forbidden, PhoneprovError, Unauthenticated
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
from phoneprov_http.console.files import file_handlers
from phoneprov_http.envelope import EnvelopeResponse, done, record
from phoneprov_http.routes.handlers import (
    LONGEST_QUERY,
    OPTIONAL,
    PUBLIC,
    ApiRequest,
    Body,
    Connection,
    Routes,
)

COOKIE = "phoneprov_session"


async def own_origin(connection: Connection, _: BaseRouteHandler) -> None:
    """A guard. Raises ``Forbidden`` for a request that another site's page may have sent.

    Browsers send ``Sec-Fetch-Site`` over https and to loopback, and ``Origin`` with every POST
    and DELETE (Fetch standard). A program that sends neither has no cookies of a browser.
    """
    site = connection.headers.get("sec-fetch-site")
    origin = connection.headers.get("origin")
    if site is not None:
        is_own = site == "same-origin"
    else:
        host = connection.headers.get("host")
        is_own = origin in {None, f"http://{host}", f"https://{host}"}
    if not is_own:
        raise Forbidden("This request came from another site.")


def session_cookie(token: str, path: str, *, secure: bool) -> str:
    """``Set-Cookie`` with this refresh token; an empty one removes the cookie."""
    parts = [f"{COOKIE}={token}", f"Path={path}", "HttpOnly", "SameSite=Strict"]
    if not token:
        parts.append("Max-Age=0")
    if secure:
        parts.append("Secure")
    return "; ".join(parts)


_SIGN_IN = "phoneprov_signin"
_LONGEST_REPLY = 8192
"""Bytes of the query of a reply: some providers' codes have more than 1,000 characters."""


class ProviderAddress(Struct, frozen=True):
    """Where the browser goes to sign in."""

    location: str


def oidc_routes(sign_in: ProviderSignIn, public_url: str) -> Routes:
    """``/console/session/oidc``; ``public_url`` is the service as browsers see it."""
    routes = Routes("Console", "/console/session/oidc", opt=PUBLIC, include_in_schema=False)
    base = urlsplit(public_url)
    path = f"{base.path}/console/session"
    secure = base.scheme == "https"

    def kept(text: str) -> tuple[str, str]:
        parts = [f"{_SIGN_IN}={text}", f"Path={path}/oidc", "HttpOnly", "SameSite=Lax"]
        parts.append(f"Max-Age={PENDING_SECONDS if text else 0}")
        if secure:
            parts.append("Secure")
        return "Set-Cookie", "; ".join(parts)

    @routes.get("/")
    async def go_to_provider(request: ApiRequest) -> ASGIResponse:
        """Send the browser to the provider."""
        location, text = await sign_in.begin(request.cookies.get(_SIGN_IN, ""))
        return _redirect(location, kept(text))

    @routes.post("/", status_code=200, guards=[own_origin], opt=OPTIONAL)
    async def begin_sign_in(request: ApiRequest) -> EnvelopeResponse:
        """The address of the provider, for a page that shows why there is none. A caller with an
        access token connects their account."""
        if request.user is None and "authorization" in request.headers:
            raise Unauthenticated("The session has ended; log in again.")
        location, text = await sign_in.begin(request.cookies.get(_SIGN_IN, ""), request.user)
        envelope = record("Continue at the provider", ProviderAddress(location))
        return EnvelopeResponse(envelope, headers=dict([kept(text)]))

    @routes.get("/callback", opt={**PUBLIC, LONGEST_QUERY: _LONGEST_REPLY})
    async def come_back(request: ApiRequest) -> ASGIResponse:
        """Open the session, or go back to the page with the code of the error."""
        query, cookie = request.query_params, request.cookies.get(_SIGN_IN, "")
        reply = ProviderReply(
            state=query.get("state", ""),
            code=query.get("code", ""),
            issuer=query.get("iss"),
            failed="error" in query,
        )
        headers = [kept(sign_in.without(cookie, reply.state))] if cookie else []
        place = f"{public_url}/console/"
        try:
            pair = await sign_in.finish(cookie, reply, request.client_ip)
        except PhoneprovError as error:
            query_of = {"sign_in": error.code}
            if isinstance(error, NotAMember) and error.detail:
                query_of["detail"] = error.detail
            return _redirect(f"{place}?{urlencode(query_of)}", *headers)
        if pair is None:
            return _redirect(f"{place}?sign_in=connected", *headers)
        session = session_cookie(pair.refresh_token, path, secure=secure)
        return _redirect(place, *headers, ("Set-Cookie", session))

    return routes


def _redirect(location: str, *headers: tuple[str, str]) -> ASGIResponse:
    """302; no page that is fetched next learns the address with the code."""
    sent = [("Location", location), ("Referrer-Policy", "no-referrer"), *headers]
    return ASGIResponse(body=b"", status_code=302, headers=sent)


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
