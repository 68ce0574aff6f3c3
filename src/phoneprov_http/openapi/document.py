"""The document as it is served: Litestar's own, completed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler

from phoneprov_http.bodies import fields_read, writes
from phoneprov_http.failures import STATUSES, spec
from phoneprov_http.middleware.authentication import AUTHENTICATION
from phoneprov_http.openapi.examples import example
from phoneprov_http.openapi.schemas import Json, StructSchemas, components_of, reference

EXAMPLE = "example"
"""The key of a handler's ``opt`` for an example of its body, where one of all fields is invalid."""

_HEADERS: Json = {
    "RequestId": {
        "description": "The identifier of this request, as it is logged",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "Authenticate": {
        "description": "The authentication scheme",
        "required": True,
        "schema": {"type": "string", "enum": ["Bearer"]},
    },
    "RetryAfter": {
        "description": "Number of seconds to wait",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
}
_MORE_HEADERS = {401: ("WWW-Authenticate", "Authenticate"), 429: ("Retry-After", "RetryAfter")}
_NEW = re.compile(r"^New(?=[A-Z])|(?<=/schemas/)New(?=[A-Z])")
_SHARED = {f"{status}": one.name for status, one in STATUSES.items() if one.codes}


def document(app: Litestar) -> Json:
    """The OpenAPI 3.1 document of this application."""
    made: Json = collapsed(app.openapi_schema.to_schema())
    components = made["components"]
    schemas = components_of(app.plugins.get(StructSchemas))
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            if isinstance(field.get("default"), dict):
                # openapi-generator 7 writes it as Go that does not compile. Such fields are read
                # only.
                del field["default"]
    components["schemas"] = schemas
    components["headers"] = _HEADERS
    components["responses"] = {
        one.name: _failure(status) for status, one in STATUSES.items() if one.codes
    }
    paths: Json = {}
    for path, method, handler in _operations(app):
        operation = made["paths"][path][method]
        _complete(operation, handler, components["schemas"])
        paths.setdefault(_as_written(path), {})[method] = operation
    made["paths"] = paths
    renamed: Json = _for_clients(made)
    renamed["components"]["schemas"] = {
        _NEW.sub("Create", name): schema
        for name, schema in renamed["components"]["schemas"].items()
    }
    return renamed


def _for_clients(thing: Any) -> Any:
    """References to ``NewPhone`` as references to ``CreatePhone``: the clients that
    openapi-generator makes for Go have a function ``NewPhone`` that makes a ``Phone``."""
    if isinstance(thing, list):
        return [_for_clients(item) for item in thing]
    if isinstance(thing, dict):
        made = {name: _for_clients(value) for name, value in thing.items()}
        for name in ("$ref", "title"):
            if isinstance(made.get(name), str):
                made[name] = _NEW.sub("Create", made[name])
        return made
    return thing


def _operations(app: Litestar) -> Iterator[tuple[str, str, HTTPRouteHandler]]:
    """Every operation; of one path the reading ones first."""
    methods = ("GET", "POST", "PUT", "DELETE")
    found = [
        (route.path_format, method.lower(), handler)
        for route in app.routes
        for handler in getattr(route, "route_handlers", ())
        if handler.resolve_include_in_schema()
        for method in sorted(handler.http_methods & set(methods), key=methods.index)
    ]
    paths = list(dict.fromkeys(path for path, _, _ in found))
    yield from sorted(found, key=lambda one: (paths.index(one[0]), methods.index(one[1].upper())))


def _complete(operation: Json, handler: HTTPRouteHandler, schemas: Json) -> None:
    operation["description"] = " ".join(operation["description"].split())
    operation["security"] = {
        "none": [],
        "optional": [{}, {"bearer": []}],
    }.get(str(handler.opt.get(AUTHENTICATION)), [{"bearer": []}])
    operation.pop("deprecated", None)
    parameters = operation.setdefault("parameters", [])
    for parameter in parameters:
        _complete_parameter(parameter)
    parameters.sort(key=lambda one: one["in"])  # the path first
    body = operation.get("requestBody")
    if body is not None:
        _complete_body(body, handler, schemas)
    _complete_responses(operation, handler, schemas)


def _complete_parameter(parameter: Json) -> None:
    parameter["name"] = (
        _camel(parameter["name"]) if parameter["in"] == "path" else parameter["name"]
    )
    for name in ("deprecated", "allowEmptyValue", "allowReserved"):
        parameter.pop(name, None)
    schema = parameter["schema"]
    description = schema.pop("description", None)
    parameter.setdefault("description", description)
    # A parameter is absent, but never null; and its default is that of its absence.
    schema.pop("default", None)
    if "oneOf" in schema:
        schema |= schema.pop("oneOf")[0]
    if "enum" in schema and schema.get("type") != "boolean":
        schema |= {"type": "string", "enum": [one for one in schema["enum"] if one is not None]}


def _complete_body(body: Json, handler: HTTPRouteHandler, schemas: Json) -> None:
    field: Any = handler.parsed_data_field
    command = field.annotation
    body["required"] = not field.has_default
    schema = schemas[command.__name__]
    allowed = schema["properties"]
    read = fields_read(handler) if "PUT" in handler.http_methods else frozenset()
    own = set(command.__struct_fields__)
    for name in _path_names(handler):
        if writes(handler) and name not in own:
            allowed[name] = {"type": "string", "description": "Must agree with the path"}
    for name in sorted(read - set(allowed)):
        allowed[name] = {"description": "Read-only: may be sent as it was read, and is ignored"}
    content = body["content"]["application/json"]
    content["schema"] = reference(command.__name__)
    shown = {
        name
        for name in command.__struct_encode_fields__
        # An example that is tried out should not change a password.
        if "PUT" not in handler.http_methods or allowed[name].get("format") != "password"
    }
    content["example"] = handler.opt.get(EXAMPLE) or example(schema, schemas, shown)


def _path_names(handler: HTTPRouteHandler) -> list[str]:
    return [name for path in handler.paths for name in re.findall(r"{(\w+):", path)]


def _complete_responses(operation: Json, handler: HTTPRouteHandler, schemas: Json) -> None:
    made = operation["responses"]
    success = str(handler.status_code)
    content = made[success]["content"]["application/json"]
    content["example"] = example(content["schema"], schemas)
    specified = {str(status) for status in handler.responses or ()}
    responses = {success: {**made[success], "headers": _headers(handler.status_code)}}
    responses[success]["description"] = "Success."
    for status in sorted(specified | _derived(operation, handler)):
        if status not in specified or made[status]["description"] == _shared_words(status):
            responses[status] = {"$ref": f"#/components/responses/{_SHARED[status]}"}
        else:
            responses[status] = {**made[status], "headers": _headers(int(status))}
            _plain_examples(responses[status])
    operation["responses"] = responses


def _shared_words(status: str) -> str:
    return spec(int(status)).description if status in _SHARED else ""


def _derived(operation: Json, handler: HTTPRouteHandler) -> set[str]:
    """The failures that follow from what an operation takes."""
    statuses = {"400"}
    if operation["security"] == [{"bearer": []}]:
        statuses.add("401")
    if handler.resolve_guards():
        statuses.add("403")
    if "requestBody" in operation:
        statuses |= {"413", "415", "422"}
    if any(parameter["in"] == "query" for parameter in operation["parameters"]):
        statuses.add("422")
    if handler.handler_name != "live":
        statuses.add("503")
    return statuses


def _failure(status: int) -> Json:
    """A failure that several operations share."""
    shared = spec(status)
    response = {
        "description": shared.description,
        "headers": _headers(status),
        "content": {
            "application/json": {
                "schema": reference("Failure"),
                "examples": {one.id: {"value": one.value} for one in shared.examples or ()},
            }
        },
    }
    return _plain_examples(response)


def _plain_examples(response: Json) -> Json:
    content = response["content"]["application/json"]
    content["schema"] = reference("Failure")
    content["examples"] = {
        code: {"value": msgspec.to_builtins(one["value"])}
        for code, one in content["examples"].items()
    }
    return response


def _headers(status: int) -> Json:
    headers = {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}}
    if status in _MORE_HEADERS:
        name, component = _MORE_HEADERS[status]
        headers[name] = {"$ref": f"#/components/headers/{component}"}
    return headers


def _as_written(path: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: f"{{{_camel(match[1])}}}", path)


def _camel(name: str) -> str:
    # The names of path parameters in the interface; Python has another convention.
    return {"user_uuid": "userUuid", "extension_uuid": "extUuid"}.get(name, name)


def collapsed(thing: Any) -> Any:
    """``{"allOf": [one]}`` as the one itself."""
    if isinstance(thing, list):
        return [collapsed(item) for item in thing]
    if isinstance(thing, dict):
        if set(thing) == {"allOf"} and len(thing["allOf"]) == 1:
            return collapsed(thing["allOf"][0])
        return {name: collapsed(value) for name, value in thing.items()}
    return thing
