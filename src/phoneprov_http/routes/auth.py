"""Login, registration, refresh, logout."""

from __future__ import annotations

from litestar import Router
from litestar.params import JSONBody
from msgspec import Struct

from phoneprov_core.auth.login import Login
from phoneprov_core.auth.logout import Logout
from phoneprov_core.auth.model import Credentials, LogoutRequest, RefreshRequest, Token
from phoneprov_core.auth.refresh import Refresh
from phoneprov_core.auth.register import Register
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.users.model import Registration, User
from phoneprov_http.bodies import RULES
from phoneprov_http.envelope import Done, Envelope, done, record
from phoneprov_http.failures import failures
from phoneprov_http.guards import guard
from phoneprov_http.middleware.authentication import OPTIONAL, PUBLIC
from phoneprov_http.routes.handlers import post
from phoneprov_http.routes.parameters import ApiRequest, PublicRequest


class Tokens(Struct, frozen=True, rename="camel"):
    """A new pair of tokens."""

    access_token: Token
    refresh_token: Token

    def __repr__(self) -> str:
        return redacted(self, "access_token", "refresh_token")


class LoginData(Struct, frozen=True, rename="camel"):
    """The user who logged in, and a new pair of tokens."""

    user: User
    access_token: Token
    refresh_token: Token

    def __repr__(self) -> str:
        return redacted(self, "access_token", "refresh_token")


def auth_routes(login: Login, register: Register, refresh: Refresh, logout: Logout) -> Router:
    """``/auth``."""

    @post(
        "/login",
        status_code=200,
        summary="Log in",
        opt=PUBLIC,
        responses=failures(
            codes={401: ["wrong_credentials"], 429: ["too_many_attempts", "locked"]}
        ),
    )
    async def log_in(request: PublicRequest, data: JSONBody[Credentials]) -> Envelope[LoginData]:
        """Exchange a username and a password for a pair of tokens."""
        logged_in = await login(data, request.state.client_ip)
        tokens = logged_in.tokens
        shown = LoginData(logged_in.user, tokens.access_token, tokens.refresh_token)
        return record("Login successful", shown)

    @post(
        "/register",
        summary="Register",
        guards=[guard(lambda actor: register.require_open(actor))],
        opt={**OPTIONAL, RULES: lambda: register.rules},
        responses=failures(403, conflicts=["already_exists"]),
    )
    async def register_account(
        request: PublicRequest, data: JSONBody[Registration]
    ) -> Envelope[User]:
        """Create an account. Registration is public, or the caller holds level 0."""
        user = await register(request.user, data, request.state.client_ip)
        return record("Registration successful", user)

    @post(
        "/refresh", status_code=200, summary="Refresh tokens", opt=PUBLIC, responses=failures(401)
    )
    async def refresh_tokens(
        request: PublicRequest,
        data: JSONBody[RefreshRequest],
    ) -> Envelope[Tokens]:
        """Exchange a refresh token, once, for a new pair."""
        pair = await refresh(data, request.state.client_ip)
        return record("Token refreshed", Tokens(pair.access_token, pair.refresh_token))

    @post("/logout", status_code=200, summary="Log out")
    async def log_out(request: ApiRequest, data: JSONBody[LogoutRequest] = LogoutRequest()) -> Done:  # noqa: B008
        """End the session of one refresh token, or all sessions of the caller."""
        await logout(request.user, data)
        return done("Logout successful")

    return Router(
        "/auth", route_handlers=[log_in, register_account, refresh_tokens, log_out], tags=["Auth"]
    )
