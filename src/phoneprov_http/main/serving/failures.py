"""Failures that the server answers by itself, in the envelope of all others."""

import uuid

import msgspec

from phoneprov_http.envelope import ErrorInfo, Failure
from phoneprov_http.front import HEADERS


def failure(status: bytes, code: str, message: str, *more: tuple[bytes, bytes]) -> bytes:
    """The bytes of a response, after which the connection is closed."""
    request_id = uuid.uuid4().hex
    error = ErrorInfo(code, (), request_id)
    body = msgspec.json.encode(Failure(False, message, None, error))
    fields = [
        *HEADERS,
        *more,
        (b"content-type", b"application/json"),
        (b"x-request-id", request_id.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    head = b"".join(b"%s: %s\r\n" % field for field in fields)
    return b"HTTP/1.1 " + status + b"\r\n" + head + b"\r\n" + body
