"""Sign-in with the provider: the browser goes there, and comes back with a code.

A reply comes from another site, with a cookie that is ``SameSite=Lax``: a ``Strict`` one is not
sent then. Only these two GET routes accept requests of other sites.
"""

from urllib.parse import urlencode, urlsplit

from litestar.response.base import ASGIResponse
from msgspec import Struct

from phoneprov_core.features.identities.model import PENDING_SECONDS, NotAMember, ProviderReply
from phoneprov_core.features.identities.use_cases import ProviderSignIn
from phoneprov_core.kernel.errors import PhoneprovError, Unauthenticated
from phoneprov_http.console.cookies import own_origin, session_cookie
from phoneprov_http.envelope import EnvelopeResponse, record
from phoneprov_http.routes.handlers import (
    LONGEST_QUERY,
    OPTIONAL,
    PUBLIC,
    ApiRequest,
    Routes,
)

COOKIE = "phoneprov_signin"
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
        parts = [f"{COOKIE}={text}", f"Path={path}/oidc", "HttpOnly", "SameSite=Lax"]
        parts.append(f"Max-Age={PENDING_SECONDS if text else 0}")
        if secure:
            parts.append("Secure")
        return "Set-Cookie", "; ".join(parts)

    @routes.get("/")
    async def go_to_provider(request: ApiRequest) -> ASGIResponse:
        """Send the browser to the provider."""
        location, text = await sign_in.begin(request.cookies.get(COOKIE, ""))
        return _redirect(location, kept(text))

    @routes.post("/", status_code=200, guards=[own_origin], opt=OPTIONAL)
    async def begin_sign_in(request: ApiRequest) -> EnvelopeResponse:
        """The address of the provider, for a page that shows why there is none. A caller with an
        access token connects their account."""
        if request.user is None and "authorization" in request.headers:
            raise Unauthenticated("The session has ended; log in again.")
        location, text = await sign_in.begin(request.cookies.get(COOKIE, ""), request.user)
        envelope = record("Continue at the provider", ProviderAddress(location))
        return EnvelopeResponse(envelope, headers=dict([kept(text)]))

    @routes.get("/callback", opt={**PUBLIC, LONGEST_QUERY: _LONGEST_REPLY})
    async def come_back(request: ApiRequest) -> ASGIResponse:
        """Open the session, or go back to the page with the code of the error."""
        query, cookie = request.query_params, request.cookies.get(COOKIE, "")
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
