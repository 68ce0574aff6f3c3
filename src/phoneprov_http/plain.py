"""Parts of the ASGI applications that answer phones and Asterisk without the framework."""

import logging
import time
from collections.abc import Iterable

from litestar.types import Receive, Send

Headers = Iterable[tuple[bytes, bytes]]


async def body_of(receive: Receive, largest: int) -> bytes | None:
    """The body of a request, None if it is too long or did not arrive."""
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        content += message["body"]
        if len(content) > largest:
            return None
        if not message.get("more_body", False):
            return bytes(content)


async def begin(send: Send, status: int, length: int, headers: Headers = ()) -> None:
    """Send the head of a response whose body has this length."""
    fields = [*headers, (b"content-length", str(length).encode())]
    await send({"type": "http.response.start", "status": status, "headers": fields})


async def end(send: Send, body: bytes = b"") -> None:
    """Send the body of a response, or its last part."""
    await send({"type": "http.response.body", "body": body, "more_body": False})


def bearers_of(headers: Iterable[tuple[bytes, bytes]]) -> list[bytes]:
    """The tokens of all ``Authorization`` headers."""
    fields = (value.partition(b" ") for name, value in headers if name == b"authorization")
    return [token.strip() for scheme, _, token in fields if scheme.lower() == b"bearer"]


def log_request(log: logging.Logger, event: str, began: float, **fields: object) -> None:
    """Log a request that began at this time of ``time.perf_counter``."""
    if log.isEnabledFor(logging.INFO):
        fields["duration_ms"] = round((time.perf_counter() - began) * 1000, 1)
        log.info(event, extra={"fields": fields})
