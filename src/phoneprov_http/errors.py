"""The one table from what went wrong to what HTTP calls it."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException, MethodNotAllowedException
from litestar.routes import HTTPRoute

from phoneprov_core.kernel import errors
from phoneprov_http.replies import failed

log = logging.getLogger("phoneprov.http")


class Malformed(errors.PhoneprovError):
    """The body is not JSON."""

    code = "malformed"


class TooLarge(errors.PhoneprovError):
    """The body is larger than is taken."""

    code = "too_large"


class UnsupportedMediaType(errors.PhoneprovError):
    """The body is of a type that is not understood."""

    code = "unsupported_media_type"


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
    400: ("malformed", "The request cannot be understood."),
    404: ("not_found", "There is nothing at this path."),
    405: ("method_not_allowed", "This path does not take this method."),
}


def status_of(error: errors.PhoneprovError) -> int:
    """The status of an error's kind."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def request_id(request: Request[Any, Any, Any]) -> str:
    """The identifier of this request, as it is logged and answered."""
    return str(request.scope["state"].get("request_id", ""))


def on_phoneprov_error(
    request: Request[Any, Any, Any], error: errors.PhoneprovError
) -> Response[bytes]:
    """Answer what the core or an adapter raised on purpose."""
    headers = {}
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, errors.TooManyAttempts):
        headers["Retry-After"] = str(error.retry_after)
    return failed(
        status_of(error),
        error.message,
        code=error.code,
        request_id=request_id(request),
        problems=error.problems,
        headers=headers,
    )


def on_http_exception(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """Answer what the router raised: no such path, no such method."""
    code, message = _ROUTING.get(
        error.status_code,
        (
            HTTPStatus(error.status_code).name.lower(),
            HTTPStatus(error.status_code).phrase + ".",
        ),
    )
    headers = {}
    if error.status_code == 405:
        headers["Allow"] = _allowed(error)
    return failed(
        error.status_code, message, code=code, request_id=request_id(request), headers=headers
    )


def _allowed(error: HTTPException) -> str:
    # The router's own list has OPTIONS, which it answers by itself; nobody else here does.
    methods = (error.headers or {}).get("allow", "").split(", ")
    return ", ".join(sorted(method for method in methods if method != "OPTIONS"))


async def refuse_options(request: Request[Any, Any, Any]) -> None:
    """Keeps the router from answering OPTIONS by itself, without an envelope."""
    if request.method == "OPTIONS":
        template = request.scope["path_template"]
        route = next(one for one in request.app.routes if one.path_format == template)
        methods = ", ".join(route.methods) if isinstance(route, HTTPRoute) else ""
        raise MethodNotAllowedException(headers={"allow": methods})


def on_any_exception(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Answer a fault of our own; the log keeps where, the reply tells nothing."""
    log.error("unexpected %s", type(error).__name__, exc_info=error)
    return failed(
        500,
        "Something went wrong on our side; the request id finds it in the log.",
        code="internal_error",
        request_id=request_id(request),
    )
