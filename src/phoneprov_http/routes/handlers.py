"""The decorators of the routes."""

from __future__ import annotations

from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import HTTPRouteHandler


class Handler(HTTPRouteHandler):
    """A handler whose guards see the handler itself. Litestar copies it for each guard of each
    request, which takes longer than to read a record."""

    async def authorize_connection(self, connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        for guard in self.resolve_guards():
            await guard(connection, self)  # type: ignore[misc]


def get(path: str, **more: Any) -> Handler:
    """Decorates a handler of GET."""
    return Handler(path, http_method="GET", **more)


def post(path: str, **more: Any) -> Handler:
    """Decorates a handler of POST; its status is 201 unless it says otherwise."""
    return Handler(path, http_method="POST", **more)


def put(path: str, **more: Any) -> Handler:
    """Decorates a handler of PUT."""
    return Handler(path, http_method="PUT", **more)


def delete(path: str, **more: Any) -> Handler:
    """Decorates a handler of DELETE; it responds with a body."""
    return Handler(path, http_method="DELETE", status_code=200, **more)
