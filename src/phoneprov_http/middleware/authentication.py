"""Authentication: 401 before anything else of a request is looked at."""

from litestar.types import ASGIApp, Receive, Scope, Send

from phoneprov_core.auth.sessions import Authenticate
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unauthenticated
from phoneprov_http.middleware.headers import field

AUTHENTICATION = "authentication"
PUBLIC = {AUTHENTICATION: "none"}
"""The ``opt`` of a handler that needs no token."""
OPTIONAL = {AUTHENTICATION: "optional"}
"""The ``opt`` of a handler that uses a token if there is a valid one."""


class Authentication:
    """Sets ``request.user`` to the caller.

    Raises ``Unauthenticated`` for a missing or invalid access token, unless the handler's
    ``opt`` says otherwise; ``request.user`` is None then.
    """

    def __init__(self, app: ASGIApp, authenticate: Authenticate) -> None:
        self._app = app
        self._authenticate = authenticate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ip = scope["state"]["client_ip"]
        scope["auth"] = None
        authentication = scope["route_handler"].opt.get(AUTHENTICATION)
        user: Actor | None = None
        if authentication != "none":
            try:
                user = await self._caller(scope, ip)
            except Unauthenticated:
                if authentication != "optional":
                    raise
        scope["user"] = user
        await self._app(scope, receive, send)

    async def _caller(self, scope: Scope, ip: str) -> Actor:
        scheme, _, token = field(scope, b"authorization").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated
        actor = await self._authenticate(token.strip(), ip)
        scope["state"]["account"] = actor.user_uuid
        return actor
