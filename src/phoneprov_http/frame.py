"""What stands around every request: its identifier, its log line, its headers, and an answer
even when everything else failed."""

from __future__ import annotations

import logging
import re
import secrets
import time
from itertools import count
from typing import Any

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from phoneprov_http.paths import refuse_other_spellings
from phoneprov_http.replies import ErrorEnvelope, ErrorInfo

log = logging.getLogger("phoneprov.requests")

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""What every reply says, unless it says otherwise itself: keep it nowhere, show it nowhere."""
_NAMES = frozenset(name for name, _ in HEADERS)

# An identifier is random for its process and counted within it. To ask the system for random
# bytes would hand the interpreter to another thread each time.
_PROCESS = secrets.token_hex(10).encode()
_numbers = count(secrets.randbits(40))


class Frame:
    """An ASGI application around the real one.

    A request id that the client sent is taken over when it is short and plain; every reply
    carries it. One line a request is logged: id, method, route, status, duration, account.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        refuse_other_spellings(scope)
        request_id = _request_id(scope)
        scope["state"] = {**(scope.get("state") or {}), "request_id": request_id.decode()}
        status = 0

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = list(message.get("headers", []))
                present = {name.lower() for name, _ in headers}
                headers += (
                    HEADERS
                    if present.isdisjoint(_NAMES)
                    else [field for field in HEADERS if field[0] not in present]
                )
                headers.append((b"x-request-id", request_id))
                message["headers"] = headers
            await send(message)

        try:
            await self._app(scope, receive, send_framed)
        except Exception as error:
            log.exception("unexpected %s", type(error).__name__)
            if status:
                raise  # the reply has begun; the server ends the connection
            await _answer_failure(send_framed, request_id.decode())
        finally:
            _log(scope, status, time.perf_counter() - began)


def _request_id(scope: Scope) -> bytes:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return bytes(value)
    return b"%s%012x" % (_PROCESS, next(_numbers))


def _log(scope: HTTPScope, status: int, seconds: float) -> None:
    if not log.isEnabledFor(logging.INFO):
        return
    state: Any = scope.get("state") or {}
    fields = {
        "request_id": state.get("request_id"),
        "method": scope["method"],
        "route": scope.get("path_template") or "-",
        "status": status,
        "duration_ms": round(seconds * 1000, 1),
        "account": state.get("account"),
    }
    # Not ``log.info``, which would look through the callers for a place that nobody shows.
    log.handle(
        log.makeRecord(log.name, logging.INFO, "", 0, "request", (), None, extra={"fields": fields})
    )


async def _answer_failure(send: Send, request_id: str) -> None:
    error = ErrorInfo("internal_error", (), request_id)
    body = msgspec.json.encode(
        ErrorEnvelope(False, "Something went wrong on our side.", None, error)
    )
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
