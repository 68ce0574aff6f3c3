"""The outermost middleware: request id, one log line a request, a response in any case.

It admits one spelling of each path. The framework decodes ``%2F``, joins empty segments and drops a
last slash, so that ``//api//v1%2Fme/`` would reach ``/api/v1/me``, past a proxy that allows or
refuses by path.
"""

import logging
import re
import time
from collections.abc import Sequence
from typing import Any

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from phoneprov_core.kernel.origin import belonging_to
from phoneprov_http.envelope import ErrorInfo, failure
from phoneprov_http.middleware.headers import as_get, with_headers
from phoneprov_http.middleware.origins import Network, origin_of

log = logging.getLogger("phoneprov.requests")

_OTHER_SPELLING = re.compile(
    rb"//|/api/.*/$"
    # What RFC 3986 section 2.3 never encodes, and the slash.
    rb"|%(?:2[DEFdef]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|7[Ee])"
)


class AccessLog:
    """The ASGI application around the real one.

    A short, plain request id of the client is kept; every response carries the request id. One
    line a request is logged: id, method, route, status, duration, account. Request id, valid
    ``traceparent`` and client address are those of the request's other log lines and of its
    audit entries too.
    """

    def __init__(self, app: ASGIApp, trusted_proxies: Sequence[Network] = ()) -> None:
        self._app = app
        self._trusted = trusted_proxies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        _refuse_other_spellings(scope)
        origin = origin_of(scope, self._trusted)
        # Other requests of the server share its state; this one needs its own.
        scope["state"] = {
            **(scope.get("state") or {}),
            "request_id": origin.request_id,
            "client_ip": origin.client_ip,
        }
        with belonging_to(origin):
            await self._answer(scope, receive, send, str(origin.request_id).encode(), began)

    async def _answer(
        self, scope: HTTPScope, receive: Receive, send: Send, request_id: bytes, began: float
    ) -> None:
        method = scope["method"]
        status = 0

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = with_headers(message, request_id)
            await send(message)

        answer: Send = send_framed
        if method == "HEAD":
            answer = as_get(scope, send_framed)
        elif method == "OPTIONS":
            # Litestar answers OPTIONS by itself, without an envelope. This is a method like any
            # other that no path has.
            scope["method"] = "-"  # type: ignore[typeddict-item]
        try:
            await self._app(scope, receive, answer)
        except Exception as error:
            log.exception("unexpected %s", type(error).__name__)
            if status:
                raise  # the response has begun; the server ends the connection
            message = "Internal error of the service."
            reply = failure(500, message, ErrorInfo("internal_error", (), request_id.decode()))
            await reply.to_asgi_response(None, None)(scope, receive, answer)
        finally:
            _log(scope, method, status, time.perf_counter() - began)


def _refuse_other_spellings(scope: HTTPScope) -> None:
    """Change a path that is not spelled the one way into one that no route has."""
    raw: Any = scope.get("raw_path") or b""
    if _OTHER_SPELLING.search(raw):
        scope["path"] = "/" + raw.decode("latin-1").replace("/", "%2F")


def _log(scope: HTTPScope, method: str, status: int, seconds: float) -> None:
    if not log.isEnabledFor(logging.INFO):
        return
    state: Any = scope.get("state") or {}
    fields = {
        "request_id": state.get("request_id"),
        "method": method,
        "route": scope.get("path_template") or "-",
        "status": status,
        "duration_ms": round(seconds * 1000, 1),
        "account": state.get("account"),
    }
    # Not ``log.info``, which would look through the callers for a place that is not shown.
    log.handle(
        log.makeRecord(log.name, logging.INFO, "", 0, "request", (), None, extra={"fields": fields})
    )
