"""The whole document."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import msgspec
from litestar import Litestar

from phoneprov_core.kernel.errors import Problem
from phoneprov_core.kernel.store import Window
from phoneprov_http.openapi.operations import Operation, described_operation, operations_of
from phoneprov_http.openapi.replies import FAILURES, HEADERS, shared_failure
from phoneprov_http.openapi.schemas import REF, of_request, tidied, with_enums_in_place
from phoneprov_http.openapi.words import ABOUT, TAGS

Json = dict[str, Any]


def document(app: Litestar) -> Json:
    """The OpenAPI 3.1 document of this application."""
    operations = operations_of(app)
    types: set[Any] = {Problem, Window}
    for operation in operations:
        endpoint = operation.endpoint
        types |= {t for t in (endpoint.body, endpoint.reply, endpoint.filters) if t is not None}
    ordered = sorted(types, key=str)
    schemas, components = msgspec.json.schema_components(ordered, ref_template=REF)
    by_type = dict(zip(ordered, schemas, strict=True))
    components = with_enums_in_place(components)
    components = {name: tidied(name, schema) for name, schema in components.items()}
    queries = {name: components.pop(name)["properties"] for name in _in_queries(operations)}
    for operation in operations:
        _take_what_is_read(operation, components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "phoneprov",
            "version": version("phoneprov"),
            "summary": "Own your office telephony.",
            "description": ABOUT,
            "license": {"name": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag, "description": TAGS[tag]} for tag in _tags(operations)],
        "paths": _paths(operations, by_type, components, queries),
        "components": {
            "schemas": components,
            "responses": {name: shared_failure(status) for status, name in FAILURES.items()},
            "headers": HEADERS,
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "The accessToken that `POST /api/v1/auth/login` answers",
                }
            },
        },
    }


def _paths(
    operations: list[Operation], by_type: dict[Any, Json], components: Json, queries: Json
) -> Json:
    paths: Json = {}
    for operation in operations:
        described = described_operation(operation, by_type, components, queries)
        paths.setdefault(operation.path, {})[operation.method] = described
    return paths


def _in_queries(operations: list[Operation]) -> set[str]:
    filters = {one.endpoint.filters for one in operations if one.endpoint.filters is not None}
    return {"Window", *(command.__name__ for command in filters)}


def _tags(operations: list[Operation]) -> list[str]:
    return list(dict.fromkeys(tag for operation in operations for tag in operation.tags))


def _take_what_is_read(operation: Operation, components: Json) -> None:
    """A body may hold more than what it writes: identifiers, which must agree with what is
    addressed, and on PUT the rest of the record as it was read, which is ignored."""
    endpoint = operation.endpoint
    if endpoint.body is None:
        return
    read = components[endpoint.reply.__name__] if operation.method == "put" else None
    of_request(components[endpoint.body.__name__], read, endpoint.identifiers)
