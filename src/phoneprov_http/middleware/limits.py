"""Limits of a request: the size of its body and of its query."""

from __future__ import annotations

from litestar.types import ASGIApp, HTTPReceiveMessage, Receive, Scope, Send

from phoneprov_core.kernel.commands import invalid
from phoneprov_core.kernel.errors import Problem
from phoneprov_http.errors import Malformed, TooLarge

# The query of a page is short; to parse a long one takes quadratic time.
_LONGEST_QUERY = 2048


class Limits:
    """Raises ``Malformed`` for a long query and for a body that breaks off, ``Invalid`` for a
    parameter that is sent twice, and ``TooLarge`` for a body of more than
    ``largest_body`` bytes when the handler reads it."""

    def __init__(self, app: ASGIApp, largest_body: int) -> None:
        self._app = app
        self._largest_body = largest_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = scope["query_string"]
        if query:
            _require_plain(query)
        if scope.get("method") in {"POST", "PUT"}:
            receive = self._bounded(scope, receive)
        await self._app(scope, receive, send)

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        size = _announced(scope)
        received = 0

        async def receive_bounded() -> HTTPReceiveMessage:
            nonlocal received
            if size <= self._largest_body:
                message = await receive()
                if message["type"] != "http.request":
                    raise Malformed("The request ended before it was complete.")
                received += len(message["body"])
                if received <= self._largest_body:
                    return message
            raise TooLarge(f"The body is larger than {self._largest_body} bytes.")

        return receive_bounded


def _require_plain(query: bytes) -> None:
    if len(query) > _LONGEST_QUERY:
        raise Malformed("The query is too long.")
    names = [part.partition(b"=")[0].decode("latin-1") for part in query.split(b"&")]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise invalid([Problem(name, "must be sent once") for name in repeated])


def _announced(scope: Scope) -> int:
    """The content length that the client announces; 0 without one."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and len(value) < 20:
            return int(value)
    return 0
