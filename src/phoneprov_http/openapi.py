"""The OpenAPI document, made from what the routes say of themselves.

Every operation says what it takes and answers; what follows from that (who needs a token,
what a bad body costs) is added here, once.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler

from phoneprov_core.kernel.store import Window
from phoneprov_http.describe import Endpoint
from phoneprov_http.replies import ErrorEnvelope

Json = dict[str, Any]

_REF = "#/components/schemas/{name}"
_WORDS = {
    400: "The body is not JSON.",
    401: "There is no valid bearer token, or the credentials are wrong.",
    403: "The caller may not do this.",
    404: "There is no such record, or none that the caller may see.",
    409: "The stored state stands against it; `details` names the field, if it is one.",
    413: "The body is too large.",
    415: "The body is not `application/json`.",
    422: "The input breaks a rule; `details` names every bad field.",
    429: "Too many failed logins; `Retry-After` says when to try again.",
    502: "The phone or the FTP server refused; the file that was there is there still.",
    503: "The database is away; nothing was changed.",
    504: "The phone or the FTP server did not answer in time.",
}
_HEADERS = {
    401: ("WWW-Authenticate", {"type": "string"}),
    429: ("Retry-After", {"type": "integer"}),
}


def document(app: Litestar) -> Json:
    """The whole document."""
    operations = list(_operations(app))
    types = {Window, ErrorEnvelope}
    for _, _, _, endpoint in operations:
        types |= {t for t in (endpoint.body, endpoint.reply) if t is not None}
    ordered = sorted(types, key=str)
    schemas, components = msgspec.json.schema_components(ordered, ref_template=_REF)
    by_type = dict(zip(ordered, schemas, strict=True))
    for endpoint_body in {e.body for _, _, _, e in operations if e.body}:
        components[endpoint_body.__name__]["additionalProperties"] = False
    paths: dict[str, Json] = {}
    for path, method, handler, endpoint in operations:
        paths.setdefault(path, {})[method.lower()] = _operation(path, handler, endpoint, by_type)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "phoneprov",
            "version": version("phoneprov"),
            "summary": "Own your office telephony.",
            "description": (
                "Accounts and levels, extensions, an inventory of phones, directories, PINs, "
                "and the job all of it exists for: putting a person's phone profile onto any "
                "desk phone."
            ),
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in _tags(operations)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
        },
    }


def _operations(app: Litestar) -> list[tuple[str, str, HTTPRouteHandler, Endpoint]]:
    found = []
    for route in app.routes:
        for handler in getattr(route, "route_handlers", []):
            endpoint = handler.opt.get("endpoint")
            if isinstance(endpoint, Endpoint):
                path = re.sub(r"\{(\w+):\w+\}", r"{\1}", route.path_format or route.path)
                found += [(path, str(m), handler, endpoint) for m in sorted(handler.http_methods)]
    return found


def _tags(operations: list[tuple[str, str, HTTPRouteHandler, Endpoint]]) -> list[str]:
    return list(dict.fromkeys(tag for _, _, h, _ in operations for tag in sorted(h.tags or ())))


def _operation(
    path: str, handler: HTTPRouteHandler, endpoint: Endpoint, schemas: dict[Any, Json]
) -> Json:
    parameters: list[Json] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", path)
    ]
    if endpoint.listed:
        parameters += [
            {"name": "limit", "in": "query", "schema": _bounded(1, 1000)},
            {"name": "offset", "in": "query", "schema": _bounded(0, 2**63 - 1)},
        ]
    operation: Json = {
        "operationId": handler.handler_name,
        "summary": endpoint.summary,
        "description": " ".join((handler.fn.__doc__ or "").split()),
        "tags": sorted(handler.tags or ()),
        "parameters": parameters,
        "responses": {
            str(endpoint.status): _success(endpoint, schemas),
            **{str(status): _failure(status) for status in _failures(endpoint)},
        },
        "security": [] if endpoint.public else [{"bearer": []}],
    }
    if endpoint.body is not None:
        operation["requestBody"] = {
            "required": not endpoint.body_optional,
            "content": {"application/json": {"schema": schemas[endpoint.body]}},
        }
    return operation


def _bounded(least: int, most: int) -> Json:
    return {"type": "integer", "minimum": least, "maximum": most}


def _failures(endpoint: Endpoint) -> list[int]:
    statuses = {503, *endpoint.errors}
    if not endpoint.public:
        statuses.add(401)
    if endpoint.body is not None:
        statuses |= {400, 413, 415, 422}
    if endpoint.listed:
        statuses.add(422)
    return sorted(statuses)


def _success(endpoint: Endpoint, schemas: dict[Any, Json]) -> Json:
    data: Json = {"type": "null"} if endpoint.reply is None else schemas[endpoint.reply]
    properties: Json = {
        "success": {"const": True},
        "message": {"type": "string", "examples": [endpoint.message]},
        "data": data,
    }
    if endpoint.metadata:
        properties["metadata"] = _metadata(listed=endpoint.listed)
    return {
        "description": endpoint.message,
        "headers": {"X-Request-Id": {"schema": {"type": "string"}}},
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": properties,
                    "required": list(properties),
                    "additionalProperties": False,
                }
            }
        },
    }


def _metadata(*, listed: bool) -> Json:
    if not listed:
        return {"type": "object", "additionalProperties": False}
    count = {"type": "integer", "minimum": 0}
    return {
        "type": "object",
        "description": "Filled when `limit` or `offset` was given",
        "properties": {"total": count, "limit": count, "offset": count},
        "additionalProperties": False,
    }


def _failure(status: int) -> Json:
    headers: Json = {"X-Request-Id": {"schema": {"type": "string"}}}
    if status in _HEADERS:
        name, schema = _HEADERS[status]
        headers[name] = {"schema": schema}
    return {
        "description": _WORDS.get(status, HTTPStatus(status).phrase),
        "headers": headers,
        "content": {
            "application/json": {"schema": {"$ref": _REF.format(name=ErrorEnvelope.__name__)}}
        },
    }
