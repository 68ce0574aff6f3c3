"""Logging in, registering, refreshing, logging out."""

from __future__ import annotations

from litestar import post
from litestar.response.base import ASGIResponse
from msgspec import Struct

from phoneprov_core.auth.login import Login
from phoneprov_core.auth.logout import Logout
from phoneprov_core.auth.model import (
    Credentials,
    LogoutRequest,
    RefreshRequest,
    Token,
    TokenPair,
)
from phoneprov_core.auth.refresh import Refresh
from phoneprov_core.auth.register import Register
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.users.model import Registration, User
from phoneprov_http.describe import described
from phoneprov_http.replies import created, done
from phoneprov_http.requests import AnyRequest, Requests
from phoneprov_http.routes.router import Router


class Tokens(Struct, frozen=True, rename="camel"):
    """A fresh pair of tokens."""

    access_token: Token
    refresh_token: Token

    def __repr__(self) -> str:
        return redacted(self, "access_token", "refresh_token")


class LoginData(Struct, frozen=True, rename="camel"):
    """Who logged in, and their tokens."""

    user: User
    access_token: Token
    refresh_token: Token

    def __repr__(self) -> str:
        return redacted(self, "access_token", "refresh_token")


def auth_routes(
    requests: Requests, login: Login, register: Register, refresh: Refresh, logout: Logout
) -> Router:
    """``/auth``."""

    @post(
        "/login",
        opt=described(
            "Log in",
            "Login successful",
            body=Credentials,
            reply=LoginData,
            errors=(401, 429),
            public=True,
        ),
    )
    async def log_in(request: AnyRequest) -> ASGIResponse:
        """Exchange a username and a password for a pair of tokens."""
        credentials = await requests.sent(request, Credentials)
        logged_in = await login(credentials, requests.ip(request))
        return done("Login successful", _login_data(logged_in.user, logged_in.tokens))

    @post(
        "/register",
        opt=described(
            "Register",
            "Registration successful",
            body=Registration,
            reply=User,
            status=201,
            errors=(403,),
            conflicts=("already_exists",),
            public=True,
            heeds_bearer=True,
        ),
    )
    async def register_account(request: AnyRequest) -> ASGIResponse:
        """Create an account, where registration is public or the caller holds level 0."""
        actor = await requests.caller_if_any(request)
        sent = await requests.sent(request, Registration)
        user = await register(actor, sent, requests.ip(request))
        return created("Registration successful", user)

    @post(
        "/refresh",
        opt=described(
            "Refresh tokens",
            "Token refreshed",
            body=RefreshRequest,
            reply=Tokens,
            errors=(401,),
            public=True,
        ),
    )
    async def refresh_tokens(request: AnyRequest) -> ASGIResponse:
        """Exchange a refresh token, once, for a new pair."""
        pair = await refresh(await requests.sent(request, RefreshRequest))
        return done("Token refreshed", Tokens(pair.access_token, pair.refresh_token))

    @post(
        "/logout",
        opt=described("Log out", "Logout successful", body=LogoutRequest, body_optional=True),
    )
    async def log_out(request: AnyRequest) -> ASGIResponse:
        """End the session of one refresh token, or all sessions of the caller."""
        actor = await requests.caller(request)
        await logout(actor, await requests.sent(request, LogoutRequest, optional=True))
        return done("Logout successful")

    return Router(
        "/auth", route_handlers=[log_in, register_account, refresh_tokens, log_out], tags=["Auth"]
    )


def _login_data(user: User, tokens: TokenPair) -> LoginData:
    return LoginData(user, tokens.access_token, tokens.refresh_token)
