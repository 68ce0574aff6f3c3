"""Which request the running code belongs to: for log lines and audit entries.

The value is a context variable, so tasks that a request starts belong to the request too.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct

# W3C Trace Context, section 3.2: version 00 is exactly these 55 characters; a higher version
# may append fields after a hyphen. Version ff and identifiers of zeros only are invalid.
_TRACEPARENT = re.compile(
    r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?",
    re.ASCII,
)
_LONGEST_TRACEPARENT = 128
_LENGTH = 55


class Origin(Struct, frozen=True):
    """The request that something belongs to. ``traceparent`` is the caller's, if it was
    valid; ``client_ip`` is the address of the client."""

    request_id: str | None = None
    traceparent: str | None = None
    client_ip: str | None = None


NO_ORIGIN = Origin()

_current: ContextVar[Origin] = ContextVar("phoneprov_origin", default=NO_ORIGIN)


def current_origin() -> Origin:
    """The request that the running task belongs to; ``NO_ORIGIN`` outside requests."""
    return _current.get()


@contextmanager
def belonging_to(origin: Origin) -> Iterator[None]:
    """Everything inside, and every task started inside, belongs to this request."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)


def valid_traceparent(sent: str) -> str | None:
    """The first 55 characters of a valid W3C ``traceparent``; None for any other text."""
    if len(sent) > _LONGEST_TRACEPARENT:
        return None
    match = _TRACEPARENT.fullmatch(sent)
    if match is None or (match[1] == "00" and match[5]):
        return None
    return sent[:_LENGTH]
