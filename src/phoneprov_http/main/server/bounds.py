"""The bounds of one connection: the head of a request, and a client that does not read."""

import asyncio
from collections.abc import Sequence

from phoneprov_http.main.server.sockets import unacknowledged

LARGEST_HEAD = 64 * 1024
MOST_FIELDS = 100

NO_HTTP = "The request is not valid HTTP."
TOO_LARGE = "The header fields are too large."

LOOK_SECONDS = 10.0
LEAST_READ = 32 * 1024
"""Bytes that a client must read between two checks, if more wait for it."""


class ParserFault(Exception):
    """A fault that the parser lets pass."""


class RequestHead:
    """The head of one request, while it arrives. Every method raises ``ParserFault``."""

    is_open = False
    """Whether the head is not complete. What has the form of fields later is a trailer."""
    _size = 0
    _fields = 0

    def begin(self) -> None:
        """The first byte of a request arrived."""
        self.is_open, self._size, self._fields = True, 0, 0

    def line(self, url: bytes) -> None:
        """A part of the request line arrived."""
        self._count(len(url))

    def field(self, name: bytes, value: bytes) -> None:
        """A field arrived."""
        self._count(len(name) + len(value) + 4)
        # Asterisk sends its header once more after each reload of its configuration.
        self._fields += name.lower() != b"authorization"
        if self._fields > MOST_FIELDS:
            raise ParserFault(TOO_LARGE)

    def complete(self, version: str, fields: Sequence[tuple[bytes, bytes]]) -> None:
        """The head is complete. It must name one host (RFC 9112 section 3.2)."""
        self.is_open = False
        hosts = sum(name == b"host" for name, _ in fields)
        if version not in {"1.0", "1.1"}:
            raise ParserFault(NO_HTTP)
        if hosts > 1 or (version == "1.1" and not hosts):
            raise ParserFault("The request must name one host.")

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > LARGEST_HEAD:
            raise ParserFault(TOO_LARGE)


class ReaderWatch:
    """Aborts a connection whose client does not read.

    A waiting reply holds memory, and a closing connection stays open until its last byte is
    sent: uvicorn waits for both without limit.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        self._loop = loop
        self._transport = transport
        self._timer: asyncio.TimerHandle | None = None
        self._waiting = 0

    def start(self) -> None:
        """Start to check that waiting bytes are read."""
        if self._timer is None:
            self._waiting = self._bytes_waiting()
            self._timer = self._loop.call_later(LOOK_SECONDS, self._look)

    def stop(self) -> None:
        """Stop checking."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        before = self._waiting
        self.start()
        if self._waiting and before - self._waiting < LEAST_READ:
            self._transport.abort()

    def _bytes_waiting(self) -> int:
        """Bytes not read by the client, here and in the kernel, which takes megabytes at a time
        and would look like a client that pauses."""
        fd = self._transport.get_extra_info("socket").fileno()
        return self._transport.get_write_buffer_size() + (unacknowledged(fd) if fd >= 0 else 0)
