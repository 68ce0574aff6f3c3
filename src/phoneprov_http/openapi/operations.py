"""Operations: what each takes, what it answers, and how it can fail."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from litestar import Litestar
from litestar.handlers import HTTPRouteHandler

from phoneprov_core.kernel.fields import MAC
from phoneprov_http.describe import Endpoint
from phoneprov_http.openapi.examples import UUID, example
from phoneprov_http.openapi.replies import failure, success

Json = dict[str, Any]


class Operation(NamedTuple):
    """One method of one path, the path as the interface writes it."""

    method: str
    path: str
    tags: list[str]
    name: str
    description: str
    endpoint: Endpoint


def operations_of(app: Litestar) -> list[Operation]:
    """Every operation that describes itself, in the order of the routes; of one path, those
    that read come first."""
    found = []
    for route in app.routes:
        for handler in getattr(route, "route_handlers", []):
            endpoint = handler.opt.get("endpoint")
            if isinstance(endpoint, Endpoint):
                path = _as_written(route.path_format)
                found += [
                    _operation(method.lower(), path, handler, endpoint)
                    for method in sorted(handler.http_methods)
                ]
    paths = list(dict.fromkeys(operation.path for operation in found))
    return sorted(found, key=lambda one: (paths.index(one.path), _METHODS.index(one.method)))


_METHODS = ("get", "post", "put", "delete")


def _operation(method: str, path: str, handler: HTTPRouteHandler, endpoint: Endpoint) -> Operation:
    description = " ".join((handler.fn.__doc__ or "").split())
    return Operation(
        method, path, handler.resolve_tags(), handler.handler_name, description, endpoint
    )


_PATH_PARAMETERS = {
    "uuid": ("The identifier of the record", UUID),
    "mac": (
        "The phone's MAC: 12 hexadecimal digits, separated by : or - or dots or not at all",
        "00:1B:D4:12:34:56",
    ),
    "userUuid": ("The identifier of the user", UUID),
    "extUuid": ("The identifier of the extension", UUID),
}
_AS_WRITTEN = {"user_uuid": "userUuid", "extension_uuid": "extUuid"}


def _as_written(path: str) -> str:
    # The interface's own names of path parameters; Python has another custom.
    return re.sub(r"\{(\w+)\}", lambda m: f"{{{_AS_WRITTEN.get(m[1], m[1])}}}", path)


def described_operation(
    operation: Operation, by_type: dict[Any, Json], components: Json, queries: Json
) -> Json:
    """The operation as the document shows it."""
    endpoint = operation.endpoint
    described: Json = {
        "operationId": operation.name,
        "summary": endpoint.summary,
        "description": operation.description,
        "tags": operation.tags,
        "parameters": [*_in_path(operation.path), *_in_query(endpoint, operation.path, queries)],
    }
    if endpoint.body is not None:
        described["requestBody"] = _request_body(operation, by_type, components)
    described["responses"] = {
        str(endpoint.status): success(endpoint, by_type, components),
        **{str(status): failure(status, endpoint) for status in failures_of(endpoint)},
    }
    described["security"] = _security(endpoint)
    return described


def failures_of(endpoint: Endpoint) -> list[int]:
    """The statuses that this operation can fail with."""
    # 400: any request may be no good request at all.
    statuses = {400, *endpoint.errors}
    if endpoint.stored:
        statuses.add(503)
    if endpoint.conflicts:
        statuses.add(409)
    if not endpoint.public:
        statuses.add(401)
    if endpoint.body is not None:
        statuses |= {413, 415, 422}
    if endpoint.listed:
        statuses.add(422)
    return sorted(statuses)


def _security(endpoint: Endpoint) -> list[Json]:
    if not endpoint.public:
        return [{"bearer": []}]
    return [{}, {"bearer": []}] if endpoint.heeds_bearer else []


def _in_path(path: str) -> list[Json]:
    parameters = []
    for name in re.findall(r"\{(\w+)\}", path):
        description, shown = _PATH_PARAMETERS[name]
        rule = {"pattern": MAC} if name == "mac" else {"format": "uuid"}
        schema: Json = {"type": "string", "examples": [shown], **rule}
        parameters.append(
            {
                "name": name,
                "in": "path",
                "required": True,
                "description": description,
                "schema": schema,
            }
        )
    return parameters


_IN_QUERY = {
    "limit": "At most so many rows; 1000 where only `offset` is given",
    "offset": "Leave out so many rows at the beginning",
}


def _in_query(endpoint: Endpoint, path: str, queries: Json) -> list[Json]:
    parameters = []
    if endpoint.filters is not None:
        parameters += [
            _parameter(name, schema["description"], _present(schema))
            for name, schema in queries[endpoint.filters.__name__].items()
            if f"{{{name}}}" not in path
        ]
    if endpoint.listed:
        parameters += [
            _parameter(name, words, _present(queries["Window"][name]))
            for name, words in _IN_QUERY.items()
        ]
    return parameters


def _parameter(name: str, words: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "description": words, "schema": schema}


def _present(schema: Json) -> Json:
    """The schema of what is there: no null, and no default, which of a page counts only beside
    the other of the two."""
    present = {key: value for key, value in schema.items() if key not in {"default", "description"}}
    if isinstance(schema.get("type"), list):
        present["type"] = next(kind for kind in schema["type"] if kind != "null")
    if "enum" in schema:
        present["enum"] = [value for value in schema["enum"] if value is not None]
    return present


def _request_body(operation: Operation, by_type: dict[Any, Json], components: Json) -> Json:
    endpoint = operation.endpoint
    assert endpoint.body is not None
    schema = by_type[endpoint.body]
    properties = components[endpoint.body.__name__]["properties"]
    fields = {
        name
        for name in endpoint.body.__struct_encode_fields__
        # A change that somebody tries out should not change a password.
        if operation.method != "put" or properties[name].get("format") != "password"
    }
    return {
        "required": not endpoint.body_optional,
        "content": {
            "application/json": {
                "schema": schema,
                "example": endpoint.example or example(schema, components, fields),
            }
        },
    }
