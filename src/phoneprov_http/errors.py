"""Exception handlers, over the table from kinds of errors to HTTP statuses.

Parts of the ASGI applications that answer phones and Asterisk without the framework.
"""

import logging
import time
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from litestar import Request
from litestar.exceptions import HTTPException, InternalServerException, ValidationException
from litestar.types import Receive, Send

from phoneprov_core.kernel import errors
from phoneprov_http.envelope import EnvelopeResponse, ErrorInfo, failure

log = logging.getLogger("phoneprov.http")

AnyRequest = Request[Any, Any, Any]


class Malformed(errors.PhoneprovError):
    """The request is malformed."""

    code = "malformed"
    usual = "The body is not UTF-8."


class TooLarge(errors.PhoneprovError):
    """The body is larger than the limit (1 MiB, unless the deployment sets another one)."""

    code = "too_large"
    usual = "The body is larger than 1048576 bytes."


class UnsupportedMediaType(errors.PhoneprovError):
    """The body is not of the type `application/json`, not in UTF-8, or has a content coding."""

    code = "unsupported_media_type"
    usual = "The body must be of the type application/json."


STATUS: dict[type[errors.PhoneprovError], int] = {
    Malformed: 400,
    errors.Unauthenticated: 401,
    errors.Forbidden: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    TooLarge: 413,
    UnsupportedMediaType: 415,
    errors.Invalid: 422,
    errors.TooManyAttempts: 429,
    errors.Refused: 502,
    errors.Unavailable: 503,
    errors.TimedOut: 504,
}

_OF_BODIES: dict[type[Exception], str] = {
    # Nothing else is left to the framework to check.
    ValidationException: "The body is empty; a JSON object is expected.",
    # The client disconnected. The framework takes it for a fault of the service.
    InternalServerException: "The request ended before it was complete.",
}
_ROUTING = {
    400: ("malformed", "The request is malformed."),
    404: ("not_found", "This path does not exist."),
    405: ("method_not_allowed", "This path does not support this method."),
}


def kind_of(error: type[errors.PhoneprovError]) -> type[errors.PhoneprovError] | None:
    """The kind in the table that an error belongs to."""
    return next((kind for kind in error.__mro__ if kind in STATUS), None)


def on_phoneprov_error(request: AnyRequest, error: errors.PhoneprovError) -> EnvelopeResponse:
    """The response to an error of the core or an adapter."""
    headers = {}
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, errors.TooManyAttempts):
        headers["Retry-After"] = str(error.retry_after)
    kind = kind_of(type(error))
    info = ErrorInfo(error.code, error.problems, _request_id(request))
    return failure(STATUS[kind] if kind else 500, error.message, info, headers)


def on_http_exception(request: AnyRequest, error: HTTPException) -> EnvelopeResponse:
    """The response to an error of the framework: unknown path or method, unreadable body."""
    status = HTTPStatus(error.status_code)
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        limit = request.app.request_max_body_size
        return on_phoneprov_error(request, TooLarge(f"The body is larger than {limit} bytes."))
    if type(error) in _OF_BODIES:
        return on_phoneprov_error(request, Malformed(_OF_BODIES[type(error)]))
    code, message = _ROUTING.get(status, (status.name.lower(), f"{status.phrase}."))
    headers = {"Allow": _allowed(error)} if status == HTTPStatus.METHOD_NOT_ALLOWED else None
    return failure(status, message, ErrorInfo(code, (), _request_id(request)), headers)


def on_any_exception(request: AnyRequest, error: Exception) -> EnvelopeResponse:
    """The response to a fault of the service. The log has the traceback."""
    log.error("unexpected %s", type(error).__name__, exc_info=error)
    message = "Internal error of the service. The log has the details under this request id."
    return failure(500, message, ErrorInfo("internal_error", (), _request_id(request)))


def _request_id(request: AnyRequest) -> str:
    return str(request.scope["state"].get("request_id", ""))


def _allowed(error: HTTPException) -> str:
    # The router answers OPTIONS by itself, this service does not. HEAD is answered like GET.
    methods = set((error.headers or {}).get("allow", "").split(", ")) - {"OPTIONS"}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


Headers = Iterable[tuple[bytes, bytes]]


async def body_of(receive: Receive, largest: int) -> bytes | None:
    """The body of a request, None if it is too long or did not arrive."""
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        content += message["body"]
        if len(content) > largest:
            return None
        if not message.get("more_body", False):
            return bytes(content)


async def begin(send: Send, status: int, length: int, headers: Headers = ()) -> None:
    """Send the head of a response whose body has this length."""
    fields = [*headers, (b"content-length", str(length).encode())]
    await send({"type": "http.response.start", "status": status, "headers": fields})


async def end(send: Send, body: bytes = b"") -> None:
    """Send the body of a response, or its last part."""
    await send({"type": "http.response.body", "body": body, "more_body": False})


def bearers_of(headers: Iterable[tuple[bytes, bytes]]) -> list[bytes]:
    """The tokens of all ``Authorization`` headers."""
    fields = (value.partition(b" ") for name, value in headers if name == b"authorization")
    return [token.strip() for scheme, _, token in fields if scheme.lower() == b"bearer"]


def log_request(log: logging.Logger, event: str, began: float, **fields: object) -> None:
    """Log a request that began at this time of ``time.perf_counter``."""
    if log.isEnabledFor(logging.INFO):
        fields["duration_ms"] = round((time.perf_counter() - began) * 1000, 1)
        log.info(event, extra={"fields": fields})
