"""Response headers, and ``HEAD`` answered like ``GET``."""

from litestar.types import HTTPScope, Message, Scope, Send

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""The headers of every response that does not set them itself."""
_NAMES = frozenset(name for name, _ in HEADERS)


def field(scope: Scope, name: bytes) -> str:
    """The first field of a request with this name, in lower case; empty without one."""
    return next((value.decode("latin-1") for one, value in scope["headers"] if one == name), "")


def with_headers(message: Message, request_id: bytes) -> Message:
    """Add the headers and the request id to the start of a response."""
    if message["type"] == "http.response.start":
        headers = list(message.get("headers", []))
        present = {name.lower() for name, _ in headers}
        headers += (
            HEADERS
            if present.isdisjoint(_NAMES)
            else [field for field in HEADERS if field[0] not in present]
        )
        headers.append((b"x-request-id", request_id))
        message["headers"] = headers
    return message


def as_get(scope: HTTPScope, send: Send) -> Send:
    """Turn a HEAD request into a GET request for the application. Returns a ``send`` that leaves
    the body out and restores the method, which the server reads with each message."""
    scope["method"] = "GET"

    async def send_head(message: Message) -> None:
        scope["method"] = "HEAD"
        if message["type"] == "http.response.body":
            if message.get("more_body", False):
                return
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await send(message)

    return send_head
