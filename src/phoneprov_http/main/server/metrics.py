"""Metrics of a process that serves: ``GET /metrics``, one observation a request, the listener."""

import os
import secrets
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from litestar.types import ASGIApp

from phoneprov_adapters.composition.container import Container
from phoneprov_adapters.composition.settings import Settings
from phoneprov_http.envelope import HEADERS, ErrorInfo, failure
from phoneprov_http.errors import bearers_of, begin, end
from phoneprov_http.front import client_ip, path_of
from phoneprov_http.main.server.sockets import bound

Expose = Callable[[], Awaitable[bytes]]
"""The metrics as text for Prometheus."""
Observe = Callable[[str, str, int, float], None]
"""Takes the method, the template of the path, the status, and the seconds of a request."""

Headers = dict[str, str]

_PATH = "/metrics"
_TEXT = b"text/plain; version=0.0.4; charset=utf-8"


def with_metrics(app: ASGIApp, container: Container, *, apart_only: bool = False) -> ASGIApp:
    """The application with ``/metrics``, as the settings say; itself where metrics are off.
    ``apart_only`` leaves out the token: metrics are on their own listener alone."""
    settings = container.settings()
    token = None if apart_only else settings.metrics_token
    if token is None and settings.metrics_port is None:
        return app
    # Slow to load, and of use only here.
    from phoneprov_adapters.metrics import Exposition, count_request  # noqa: PLC0415

    return Metrics(
        app,
        Exposition(container.database()),
        None if apart_only else count_request,
        token=None if token is None else partial(_is_token, container, token),
        port=settings.metrics_port,
    )


async def _is_token(container: Container, token: str, scope: Any) -> bool:
    """Whether the request has the token, once."""
    sent = bearers_of(scope["headers"])
    if len(sent) != 1:
        return False
    ip = client_ip(scope, container.settings().trusted_proxies)
    return await container.check_service_token()("metrics", token, sent, ip)


def metrics_listeners(settings: Settings) -> list[socket.socket]:
    """The socket for metrics alone, none if it is not set. Raises ``Refused``."""
    port = settings.metrics_port
    return [] if port is None else [bound(settings.metrics_host, port)]


def counts_of(workers: int, settings: Settings) -> AbstractContextManager[None]:
    """Within it, several workers that start count together."""
    if not settings.has_metrics or (workers == 1 and "PROMETHEUS_MULTIPROC_DIR" not in os.environ):
        return nullcontext()
    from phoneprov_adapters.metrics import shared_counts  # noqa: PLC0415

    return shared_counts()


class Metrics:
    """An ASGI application around another one.

    With a ``token``, ``/metrics`` answers requests that it accepts. Requests that arrive
    at ``port``, a listener for metrics alone, need no token and reach no other path. Such
    requests are neither logged nor observed.
    """

    def __init__(
        self,
        app: Any,
        expose: Expose,
        observe: Observe | None = None,
        *,
        token: Callable[[Any], Awaitable[bool]] | None = None,
        port: int | None = None,
    ) -> None:
        self._app = app
        self._expose = expose
        self._observe = observe
        self._token = token
        self._port = port

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        server = scope.get("server")
        apart = self._port is not None and server is not None and server[1] == self._port
        if path_of(scope) == _PATH and (apart or self._token is not None):
            is_allowed = apart or (self._token is not None and await self._token(scope))
            await self._answer(scope, send, is_allowed=is_allowed)
        elif apart:
            await _refuse(scope, send, 404, "not_found", "Only /metrics is served here.")
        elif self._observe is None:
            await self._app(scope, receive, send)
        else:
            await self._observed(self._observe, scope, receive, send)

    async def _answer(self, scope: Any, send: Any, *, is_allowed: bool) -> None:
        if not is_allowed:
            message = "Missing or invalid token for metrics."
            challenge = {"www-authenticate": "Bearer"}
            await _refuse(scope, send, 401, "unauthenticated", message, challenge)
        elif scope["method"] not in {"GET", "HEAD"}:
            message = "Metrics are read with GET."
            await _refuse(scope, send, 405, "method_not_allowed", message, {"allow": "GET, HEAD"})
        else:
            text = await self._expose()
            await begin(send, 200, len(text), [(b"content-type", _TEXT), *HEADERS])
            await end(send, b"" if scope["method"] == "HEAD" else text)

    async def _observed(self, observe: Observe, scope: Any, receive: Any, send: Any) -> None:
        method, status, began = scope["method"], 0, time.perf_counter()

        async def noted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            route = scope.get("path_template") or "-"
            observe(method, route, status, time.perf_counter() - began)


async def _refuse(
    scope: Any, send: Any, status: int, code: str, message: str, headers: Headers | None = None
) -> None:
    request_id = secrets.token_hex(16)
    own = {name.decode(): value.decode() for name, value in HEADERS}
    headers = {**(headers or {}), **own, "x-request-id": request_id}
    reply = failure(status, message, ErrorInfo(code, (), request_id), headers)
    await reply.to_asgi_response(None, None)(scope, _nothing, send)


async def _nothing() -> Any:
    """There is nothing to receive."""
