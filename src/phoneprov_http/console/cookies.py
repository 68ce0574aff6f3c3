"""The cookie of a session, and the guard of the routes that it is sent to."""

from litestar.handlers import BaseRouteHandler

from phoneprov_core.kernel.errors import Forbidden
from phoneprov_http.routes.handlers import Connection

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
