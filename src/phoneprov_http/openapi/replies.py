"""Replies: the envelope of each success and each failure."""

from __future__ import annotations

import re
from typing import Any

from phoneprov_http.describe import Endpoint
from phoneprov_http.openapi.examples import example
from phoneprov_http.openapi.schemas import REF
from phoneprov_http.openapi.words import CODES, STATUSES

Json = dict[str, Any]

HEADERS: Json = {
    "RequestId": {
        "description": "The identifier of this request, as it is logged",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "Authenticate": {
        "description": "How to prove who is asking",
        "required": True,
        "schema": {"const": "Bearer"},
    },
    "RetryAfter": {
        "description": "Seconds until the next login is allowed",
        "required": True,
        "schema": {"type": "integer", "minimum": 1},
    },
}
_MORE_HEADERS = {401: ("WWW-Authenticate", "Authenticate"), 429: ("Retry-After", "RetryAfter")}

FAILURES = {
    400: "Malformed",
    401: "Unauthenticated",
    403: "Forbidden",
    404: "NotFound",
    413: "TooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManySwitches",
    502: "Refused",
    503: "Unavailable",
    504: "TimedOut",
}
"""The failures that are the same wherever they occur, by the name they have in the document."""

_CODES = {
    400: ("malformed",),
    401: ("unauthenticated",),
    403: ("forbidden",),
    404: ("not_found",),
    413: ("too_large",),
    415: ("unsupported_media_type",),
    422: ("invalid",),
    429: ("too_many_switches",),
    502: ("refused", "outcome_unknown"),
    503: ("unavailable", "disk_full", "wrong_key"),
    504: ("timed_out", "outcome_unknown"),
}


def success(endpoint: Endpoint, by_type: dict[Any, Json], components: Json) -> Json:
    """The reply of an operation that went well."""
    data: Json = {"type": "null"} if endpoint.reply is None else by_type[endpoint.reply]
    properties: Json = {
        "success": {"const": True},
        "message": _message(endpoint),
        "data": data,
    }
    if endpoint.metadata:
        properties["metadata"] = _metadata(listed=endpoint.listed)
    shown = {
        "success": True,
        "message": f"1{endpoint.message[1:]}" if endpoint.listed else endpoint.message,
        "data": example(data, components),
    }
    if endpoint.metadata:
        shown["metadata"] = {}
    return {
        "description": endpoint.message,
        "headers": _headers(endpoint.status),
        "content": {"application/json": {"schema": _object(properties), "example": shown}},
    }


def _message(endpoint: Endpoint) -> Json:
    if not endpoint.listed:
        return {"const": endpoint.message}
    _, words = endpoint.message.split(" ", 1)
    return {"type": "string", "pattern": f"^[0-9]+ {re.escape(words).replace(chr(92) + ' ', ' ')}$"}


def _metadata(*, listed: bool) -> Json:
    nothing = {"type": "object", "maxProperties": 0}
    if not listed:
        return {**nothing, "description": "Always empty"}
    page = _object(
        {
            "total": {"type": "integer", "minimum": 0, "description": "Rows in the whole list"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000},
            "offset": {"type": "integer", "minimum": 0},
        }
    )
    return {
        "description": "Empty, unless `limit` or `offset` was given",
        "anyOf": [nothing, page],
    }


def failure(status: int, endpoint: Endpoint) -> Json:
    """The reply of an operation that failed in this way."""
    if status == 409:
        return _failure(409, endpoint.conflicts)
    if status == 401 and endpoint.public:
        codes = ("wrong_credentials",) if 429 in endpoint.errors else _CODES[401]
        return _failure(401, codes)
    if status == 429 and endpoint.public:
        return _failure(429, ("too_many_attempts", "locked"))
    return {"$ref": f"#/components/responses/{FAILURES[status]}"}


def shared_failure(status: int) -> Json:
    """A failure that is the same wherever it occurs."""
    return _failure(status, _CODES[status])


def _failure(status: int, codes: tuple[str, ...]) -> Json:
    error = _object(
        {
            "code": {"type": "string", "enum": list(codes), "description": "For programs"},
            "details": {
                "type": "array",
                "items": {"$ref": REF.format(name="Problem")},
                "description": "Every field that is to blame",
            },
            "request_id": HEADERS["RequestId"]["schema"],
        }
    )
    schema = _object(
        {
            "success": {"const": False},
            "message": {"type": "string", "minLength": 1, "description": "For people"},
            "data": {"type": "null"},
            "error": error,
        }
    )
    told = " ".join(f"`{code}`: {CODES[code].words}" for code in codes)
    return {
        "description": f"{STATUSES[status]} {told}",
        "headers": _headers(status),
        "content": {
            "application/json": {
                "schema": schema,
                "examples": {code: {"value": _example(code)} for code in codes},
            }
        },
    }


def _example(code: str) -> Json:
    told = CODES[code]
    details = [{"field": field, "message": message} for field, message in told.details]
    error = {"code": code, "details": details, "request_id": "9b2f0c7d1e5a4d2f8c1b6a7e3f409d55"}
    return {"success": False, "message": told.message, "data": None, "error": error}


def _headers(status: int) -> Json:
    headers = {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}}
    if status in _MORE_HEADERS:
        name, component = _MORE_HEADERS[status]
        headers[name] = {"$ref": f"#/components/headers/{component}"}
    return headers


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
