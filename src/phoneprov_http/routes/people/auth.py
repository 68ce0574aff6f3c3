"""Login, registration, refresh and logout."""

from phoneprov_core.kernel.errors import AlreadyExists, TooManyAttempts, Unauthenticated
from phoneprov_core.kernel.fields import Redacted
from phoneprov_core.people.auth.accounts import Register
from phoneprov_core.people.auth.login import Login
from phoneprov_core.people.auth.model import (
    Credentials,
    Locked,
    LogoutRequest,
    RefreshRequest,
    Token,
    TokenPair,
    WrongCredentials,
)
from phoneprov_core.people.auth.sessions import Logout, Refresh
from phoneprov_core.people.users.model import Registration, User
from phoneprov_http.bodies import RULES
from phoneprov_http.envelope import Done, Envelope, done, record
from phoneprov_http.routes.handlers import OPTIONAL, PUBLIC, ApiRequest, Body, Routes, guard


class LoginData(Redacted, frozen=True, rename="camel"):
    """The user who logged in, and a new pair of tokens."""

    user: User
    access_token: Token
    refresh_token: Token


def auth_routes(login: Login, register: Register, refresh: Refresh, logout: Logout) -> Routes:
    """``/auth``."""
    routes = Routes("Auth")

    @routes.post(
        "/auth/login",
        status_code=200,
        opt=PUBLIC,
        raises=[WrongCredentials, TooManyAttempts, Locked],
    )
    async def log_in(request: ApiRequest, data: Body[Credentials]) -> Envelope[LoginData]:
        """Log in. Exchange a username and a password for a pair of tokens."""
        logged_in = await login(data, request.client_ip)
        tokens = logged_in.tokens
        shown = LoginData(logged_in.user, tokens.access_token, tokens.refresh_token)
        return record("Login successful", shown)

    @routes.post(
        "/auth/register",
        guards=[guard(lambda actor: register.require_open(actor))],
        opt={**OPTIONAL, RULES: lambda: register.policy.rules_of_new},
        raises=[AlreadyExists],
    )
    async def register_account(request: ApiRequest, data: Body[Registration]) -> Envelope[User]:
        """Register. Create an account. Registration is public, or the caller holds level 0."""
        user = await register(request.user, data, request.client_ip)
        return record("Registration successful", user)

    @routes.post("/auth/refresh", status_code=200, opt=PUBLIC, raises=[Unauthenticated])
    async def refresh_tokens(
        request: ApiRequest, data: Body[RefreshRequest]
    ) -> Envelope[TokenPair]:
        """Refresh tokens. Exchange a refresh token, once, for a new pair."""
        return record("Token refreshed", await refresh(data, request.client_ip))

    @routes.post("/auth/logout", status_code=200)
    async def log_out(request: ApiRequest, data: Body[LogoutRequest] = LogoutRequest()) -> Done:
        """Log out. End the session of one refresh token, or all sessions of the caller."""
        await logout(request.user, data)
        return done("Logout successful")

    return routes
