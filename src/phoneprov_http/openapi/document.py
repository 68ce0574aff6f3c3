"""The OpenAPI document as it is served: Litestar's own, completed; and Litestar's configuration."""

import inspect
import re
from importlib import resources
from importlib.metadata import version
from typing import Any

import msgspec
from litestar import Litestar, Router
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Components, License, SecurityScheme, Server

from phoneprov_http.bodies import ignored_fields, writes
from phoneprov_http.envelope import CSV, ROWS, Failure
from phoneprov_http.openapi.schemas import (
    SHARED,
    Json,
    example,
    parameters_of,
    reference,
    schemas_of,
    specified,
    words_of,
)
from phoneprov_http.routes.handlers import AUTHENTICATION, QUERY, changes, parameters_in

UPSERT = "upsert"
"""The key of a handler's ``opt`` where a record that does not exist is created."""


def _header(description: str, **schema: Any) -> Json:
    return {"description": description, "required": True, "schema": schema}


_HEADERS: Json = {
    "RequestId": _header(
        "The identifier of this request, as it is logged",
        type="string",
        pattern="^[A-Za-z0-9._-]{1,64}$",
    ),
    "Authenticate": _header("The authentication scheme", type="string", enum=["Bearer"]),
    "RetryAfter": _header("Number of seconds to wait", type="integer", minimum=1),
}
_MORE_HEADERS = {401: ("WWW-Authenticate", "Authenticate"), 429: ("Retry-After", "RetryAfter")}
_SHARED = specified(error for errors in SHARED.values() for error in errors)
_SECURITY: dict[object, list[Json]] = {"none": [], "optional": [{}, {"bearer": []}]}
# The names of path parameters in the interface; Python has another convention.
_PATH_NAMES = {"user_uuid": "userUuid", "extension_uuid": "extUuid"}


class _NoPages(Router):
    """Takes no handlers: Litestar's own pages for the document are not served."""

    def register(self, value: object) -> list[object]:  # type: ignore[override]  # noqa: ARG002
        return []


def openapi_config() -> OpenAPIConfig:
    """The configuration of Litestar's document."""
    about = resources.files("phoneprov_http").joinpath("static/about.md")
    return OpenAPIConfig(
        title="phoneprov",
        version=version("phoneprov"),
        summary="Switch the desk phones of an office to the profiles of their users.",
        description=about.read_text("utf-8"),
        license=License(name="Apache License 2.0", identifier="Apache-2.0"),
        servers=[Server(url="/")],
        components=Components(
            security_schemes={
                "bearer": SecurityScheme(
                    type="http",
                    scheme="bearer",
                    bearer_format="JWT",
                    description="The `accessToken` of the response of `POST /api/v1/auth/login`",
                )
            }
        ),
        use_handler_docstrings=True,
        operation_id_creator=lambda handler, _method, _path: handler.handler_name,
        openapi_router=_NoPages("/docs", route_handlers=[]),
        render_plugins=[],
    )


def document(app: Litestar) -> Json:
    """The OpenAPI 3.1 document of this application."""
    made: Json = app.openapi_schema.to_schema()
    handlers: dict[str, Any] = {
        handler.handler_name: handler
        for route in app.routes
        for handler in getattr(route, "route_handlers", ())
        if handler.resolve_include_in_schema()
    }
    commands = [one.parsed_data_field.annotation for one in handlers.values() if _takes_body(one)]
    replies = [one.parsed_return_field.annotation for one in handlers.values()]
    schemas = schemas_of({*commands, *replies, Failure})
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            if isinstance(field.get("default"), dict):
                del field["default"]  # openapi-generator 7 writes Go that does not compile
    made["components"] |= {
        "schemas": schemas,
        "headers": _HEADERS,
        "responses": {
            errors[0].__name__: _failure(status, _SHARED[status])
            for status, errors in SHARED.items()
        },
    }
    for operations in made["paths"].values():
        for operation in operations.values():
            _complete(operation, handlers[operation["operationId"]], schemas)
    described = {tag: handler.fn for handler in handlers.values() for tag in handler.resolve_tags()}
    made["tags"] = [
        {"name": tag, "description": _about(fn).removesuffix(".")} for tag, fn in described.items()
    ]
    made["paths"] = {_as_written(path): item for path, item in made["paths"].items()}
    return made


def _about(handle: Any) -> str:
    """What the function that makes a section says after its paths; else its module's text."""
    module = inspect.getmodule(handle)
    section = getattr(module, handle.__qualname__.partition(".")[0])
    return words_of(section).partition("``. ")[2] or words_of(module)


def _takes_body(handler: HTTPRouteHandler) -> bool:
    return handler.parsed_data_field is not None


def _complete(operation: Json, handler: HTTPRouteHandler, schemas: Json) -> None:
    words = " ".join(operation["description"].split())
    summary, _, more = words.partition(". ")
    operation["summary"] = summary.removesuffix(".")
    operation["description"] = more or words
    authentication = handler.opt.get(AUTHENTICATION)
    operation["security"] = _SECURITY.get(authentication, [{"bearer": []}])
    parameters = operation.setdefault("parameters", [])
    for parameter in parameters:
        parameter["name"] = _PATH_NAMES.get(parameter["name"], parameter["name"])
    parameters += _query(handler)
    if _takes_body(handler):
        _complete_body(operation["requestBody"], handler, schemas)
    _complete_responses(operation, handler, schemas)


def _query(handler: HTTPRouteHandler) -> list[Json]:
    queries = handler.opt.get(QUERY, ())
    (path,) = handler.paths
    known = parameters_in(queries, path)
    return [one for query in queries for one in parameters_of(query) if one["name"] in known]


def _path_names(handler: HTTPRouteHandler) -> list[str]:
    return [name for path in handler.paths for name in re.findall(r"{(\w+):", path)]


def _complete_body(body: Json, handler: HTTPRouteHandler, schemas: Json) -> None:
    field: Any = handler.parsed_data_field
    command, is_put = field.annotation, "PUT" in handler.http_methods
    body["required"] = not field.has_default
    schema = schemas[command.__name__]
    allowed = schema["properties"]
    own = command.__struct_encode_fields__
    if writes(handler):
        for name in _path_names(handler):
            agrees = {"type": "string", "description": "Must agree with the path"}
            allowed.setdefault(name, agrees)
    for name in sorted(ignored_fields(handler) - set(allowed)):
        allowed[name] = {"description": "Read-only: may be sent as it was read, and is ignored"}
    # An example that is tried out should not change a password that may be left out.
    hidden = {name for name in own if is_put and allowed[name].get("format") == "password"}
    shown = set(own) - hidden.difference(schema.get("required", ()))
    accepted = reference(command)
    if field.has_default:
        accepted = {"anyOf": [accepted, {"type": "null"}]}
        body["description"] = "May be omitted, or null"
    body["content"] = {
        "application/json": {
            "schema": accepted,
            "example": example(schema, schemas, shown),
        }
    }


def _complete_responses(operation: Json, handler: HTTPRouteHandler, schemas: Json) -> None:
    schema = reference(handler.parsed_return_field.annotation)
    content = {"schema": schema, "example": example(schema, schemas)}
    responses: Json = {
        str(handler.status_code): {
            "description": "Success.",
            "headers": _headers(handler.status_code),
            "content": {
                "application/json": content,
                **({CSV: {"schema": {"type": "string"}}} if ROWS in handler.opt else {}),
            },
        }
    }
    own = handler.responses or {}
    for status in sorted({*own, *_derived(operation, handler)}):
        responses[str(status)] = (
            _failure(status, own[status])
            if own.get(status, _SHARED.get(status)) != _SHARED.get(status)
            else {"$ref": f"#/components/responses/{SHARED[status][0].__name__}"}
        )
    operation["responses"] = responses


def _derived(operation: Json, handler: HTTPRouteHandler) -> set[int]:
    """The failures that follow from what an operation takes."""
    places = {parameter["in"] for parameter in operation["parameters"]}
    known = handler.opt.get(AUTHENTICATION) != "none"
    (method,) = handler.http_methods
    follow = {
        400: True,
        401: operation["security"] == [{"bearer": []}],
        403: bool(handler.resolve_guards()) or (known and changes(method, handler.opt)),
        404: "path" in places and UPSERT not in handler.opt,
        413: _takes_body(handler),
        415: _takes_body(handler),
        422: _takes_body(handler) or QUERY in handler.opt,
        503: handler.handler_name != "live",
    }
    return {status for status, follows in follow.items() if follows}


def _failure(status: int, spec: ResponseSpec) -> Json:
    examples = {one.id: {"value": msgspec.to_builtins(one.value)} for one in spec.examples or ()}
    content = {"schema": reference(Failure), "examples": examples}
    return {
        "description": spec.description,
        "headers": _headers(status),
        "content": {"application/json": content},
    }


def _headers(status: int) -> Json:
    headers = {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}}
    if status in _MORE_HEADERS:
        name, component = _MORE_HEADERS[status]
        headers[name] = {"$ref": f"#/components/headers/{component}"}
    return headers


def _as_written(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda name: f"{{{_PATH_NAMES.get(name[1], name[1])}}}", path)
