"""Exception handlers, over the one table from kinds of errors to HTTP statuses."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from litestar import Request
from litestar.exceptions import HTTPException, ValidationException

from phoneprov_core.kernel import errors
from phoneprov_http.envelope import EnvelopeResponse, failure

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
    """The body is not of the type `application/json`."""

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
    return failure(
        STATUS[kind] if kind else 500,
        error.message,
        code=error.code,
        request_id=_request_id(request),
        problems=error.problems,
        headers=headers,
    )


def on_http_exception(request: AnyRequest, error: HTTPException) -> EnvelopeResponse:
    """The response to an error of the router: unknown path, unknown method."""
    status = HTTPStatus(error.status_code)
    code, message = _ROUTING.get(status, (status.name.lower(), f"{status.phrase}."))
    headers = {"Allow": _allowed(error)} if status == HTTPStatus.METHOD_NOT_ALLOWED else None
    return failure(status, message, code=code, request_id=_request_id(request), headers=headers)


def on_missing_body(request: AnyRequest, _: ValidationException) -> EnvelopeResponse:
    """The response where a body is missing: nothing else is left to the framework to check."""
    return on_phoneprov_error(request, Malformed("The body is empty; a JSON object is expected."))


def on_large_body(request: AnyRequest, _: HTTPException) -> EnvelopeResponse:
    """The response to a body that is larger than the limit."""
    limit = request.route_handler.resolve_request_max_body_size()
    return on_phoneprov_error(request, TooLarge(f"The body is larger than {limit} bytes."))


def on_disconnect(request: AnyRequest, _: HTTPException) -> EnvelopeResponse:
    """The response to a body that ends early, for the log: the framework calls it a fault."""
    return on_phoneprov_error(request, Malformed("The request ended before it was complete."))


def on_any_exception(request: AnyRequest, error: Exception) -> EnvelopeResponse:
    """The response to a fault of the service. The log has the traceback."""
    log.error("unexpected %s", type(error).__name__, exc_info=error)
    return failure(
        500,
        "Internal error of the service. The log has the details under this request id.",
        code="internal_error",
        request_id=_request_id(request),
    )


def _request_id(request: AnyRequest) -> str:
    return str(request.scope["state"].get("request_id", ""))


def _allowed(error: HTTPException) -> str:
    # The router answers OPTIONS by itself, this service does not. HEAD is answered like GET.
    methods = set((error.headers or {}).get("allow", "").split(", ")) - {"OPTIONS"}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
