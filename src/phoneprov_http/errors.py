"""Exception handlers, over the one table from kinds of errors to HTTP statuses."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from litestar import Request
from litestar.exceptions import HTTPException, ValidationException
from litestar.handlers import BaseRouteHandler
from litestar.params import ParameterKwarg
from litestar.typing import FieldDefinition

from phoneprov_core.kernel import errors
from phoneprov_core.kernel.commands import expected, invalid
from phoneprov_core.kernel.ids import UUID
from phoneprov_http.envelope import EnvelopeResponse, ErrorInfo, Failure

log = logging.getLogger("phoneprov.http")


class Malformed(errors.PhoneprovError):
    """The body is not JSON."""

    code = "malformed"


class TooLarge(errors.PhoneprovError):
    """The body is larger than the limit."""

    code = "too_large"


class UnsupportedMediaType(errors.PhoneprovError):
    """The body is not of the type ``application/json``."""

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
    400: ("malformed", "The request is malformed."),
    404: ("not_found", "This path does not exist."),
    405: ("method_not_allowed", "This path does not support this method."),
}


def status_of(error: errors.PhoneprovError) -> int:
    """The status of an error's kind."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def request_id(request: Request[Any, Any, Any]) -> str:
    """The identifier of this request, as it is logged and answered."""
    return str(request.scope["state"].get("request_id", ""))


def failed(
    request: Request[Any, Any, Any],
    status: int,
    message: str,
    *,
    code: str,
    problems: tuple[errors.Problem, ...] = (),
    headers: dict[str, str] | None = None,
) -> EnvelopeResponse:
    """The response of a failure."""
    error = ErrorInfo(code, problems, request_id(request))
    return EnvelopeResponse(
        Failure(False, message, None, error), status_code=status, headers=headers
    )


def on_phoneprov_error(
    request: Request[Any, Any, Any], error: errors.PhoneprovError
) -> EnvelopeResponse:
    """The response to an error of the core or an adapter."""
    headers = {}
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, errors.TooManyAttempts):
        headers["Retry-After"] = str(error.retry_after)
    return failed(
        request,
        status_of(error),
        error.message,
        code=error.code,
        problems=error.problems,
        headers=headers,
    )


def on_http_exception(request: Request[Any, Any, Any], error: HTTPException) -> EnvelopeResponse:
    """The response to an error of the router: unknown path, unknown method."""
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
    return failed(request, error.status_code, message, code=code, headers=headers)


def on_invalid_parameters(
    request: Request[Any, Any, Any], error: ValidationException
) -> EnvelopeResponse:
    """The response to a query that does not fit its types, and to a missing body."""
    fields = _parameters(request.route_handler)
    problems = []
    for problem in error.extra or ():
        assert isinstance(problem, dict)
        if problem.get("key") == "data":
            missing = Malformed("The body is empty; a JSON object is expected.")
            return on_phoneprov_error(request, missing)
        field = fields[problem["key"]]
        definition = field.kwarg_definition
        assert isinstance(definition, ParameterKwarg)
        name = definition.name or field.name
        problems.append(errors.Problem(name, _in_words(field.annotation, definition)))
    return on_phoneprov_error(request, invalid(problems))


def _parameters(handler: BaseRouteHandler) -> dict[str, FieldDefinition]:
    """The parameters of a handler and of its dependencies."""
    parameters: dict[str, FieldDefinition] = {}
    for dependency in handler.resolve_dependencies().values():
        parameters |= dependency.parsed_fn_signature.parameters
    return parameters | handler.parsed_fn_signature.parameters


def _in_words(annotation: Any, definition: ParameterKwarg) -> str:
    """What a parameter must be."""
    if definition.le is not None:
        return f"must be a whole number from {definition.ge} to {definition.le}"
    if definition.pattern is not None:
        return "must be a UUID" if definition.pattern == UUID else "must be a MAC address"
    return expected(annotation).removesuffix(" or null")


def _allowed(error: HTTPException) -> str:
    # The router answers OPTIONS by itself, this service does not. HEAD is answered like GET.
    methods = set((error.headers or {}).get("allow", "").split(", ")) - {"OPTIONS"}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


def on_any_exception(request: Request[Any, Any, Any], error: Exception) -> EnvelopeResponse:
    """The response to a fault of the service. The log has the traceback."""
    log.error("unexpected %s", type(error).__name__, exc_info=error)
    return failed(
        request,
        500,
        "Internal error of the service. The log has the details under this request id.",
        code="internal_error",
    )
