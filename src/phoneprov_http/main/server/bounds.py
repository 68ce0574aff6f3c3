"""Bounds on open connections, on what a client sends, and on how slowly it reads.

Each connection is an open file of the process. Without a bound, clients that open connections
and send nothing use up the limit, and then neither the database nor a phone can be reached.
"""

import asyncio
import contextlib
import logging
import os
import resource
import socket
import time
from collections import Counter
from collections.abc import Sequence
from typing import Protocol, Self

from phoneprov_core.kernel.values import Network, address_key, address_of
from phoneprov_http.main.server.sockets import unacknowledged

log = logging.getLogger("phoneprov.connections")

MOST_FILES = 65_536
"""Limit of open files that a process asks for; a larger one serves no purpose here."""
RESERVED_FILES = 256
"""Open files kept free for the database, phones, servers and log."""
SHARE_OF_ONE = 4
"""One client address may hold the fourth part of all connections."""
_NOTE_SECONDS = 60.0


class Closable(Protocol):
    """A connection that can be closed at once."""

    def abort(self) -> None:
        """Close the connection without sending what is buffered."""


LEAST_FILES = 64
"""Open files below which the service does not start: its database alone needs about 20."""


def raise_file_limit() -> int:
    """Raise the soft limit of open files to the hard one, up to ``MOST_FILES``; the limit then."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _files(hard)
    if _files(soft) < wanted:
        # macOS refuses what exceeds its own limit, which it does not report as the hard one.
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return _files(resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _files(limit: int) -> int:
    return MOST_FILES if limit == resource.RLIM_INFINITY else min(limit, MOST_FILES)


class Connections:
    """The open connections of one process.

    At most ``most`` are open. When one more arrives, the connection that has waited longest for
    a whole request is closed for it; if all are being answered, the new one is refused. One
    client address (for IPv6 its /64) holds at most ``most_of_one``; addresses in ``trusted`` are
    proxies, which speak for many clients, and a client without an address is local: the
    second bound does not apply to them.
    """

    def __init__(self, most: int, most_of_one: int, trusted: Sequence[Network] = ()) -> None:
        self.most = most
        self.most_of_one = most_of_one
        self._trusted = trusted
        self._open: dict[Closable, str | None] = {}
        self._waiting: dict[Closable, None] = {}
        self._of: Counter[str] = Counter()
        self._unsaid: Counter[str] = Counter()
        self._said: dict[str, float] = {}

    @classmethod
    def within(cls, files: int, trusted: Sequence[Network] = ()) -> Self:
        """The bounds that fit into this number of open files."""
        most = files - min(RESERVED_FILES, files // 2)
        return cls(most, max(1, most // SHARE_OF_ONE), trusted)

    def admit(self, connection: Closable, address: str | None) -> bool:
        """Count a new connection in. False when it must be refused; then it is not counted."""
        key = self._key(address)
        if key is not None and self._of[key] >= self.most_of_one:
            self._say("client address refused", self.most_of_one, address)
            return False
        if len(self._open) >= self.most:
            self._say("limit of connections reached", self.most, address)
            oldest = next(iter(self._waiting), None)
            if oldest is None:
                return False
            self.leave(oldest)
            oldest.abort()
        self._open[connection] = key
        self._waiting[connection] = None
        if key is not None:
            self._of[key] += 1
        return True

    def wait(self, connection: Closable) -> None:
        """The connection waits for a request; it is the last to be closed for another one."""
        if connection in self._open:
            self._waiting[connection] = None

    def work(self, connection: Closable) -> None:
        """The connection has a whole request and is not closed for another one."""
        self._waiting.pop(connection, None)

    def leave(self, connection: Closable) -> None:
        """Count a connection out; nothing happens if it is not counted."""
        self._waiting.pop(connection, None)
        key = self._open.pop(connection, None)
        if key is not None:
            self._of[key] -= 1
            if not self._of[key]:
                del self._of[key]

    def _key(self, address: str | None) -> str | None:
        ip = address_of(address or "")
        if ip is None or any(ip in network for network in self._trusted):
            return None
        return address_key(str(ip))

    def _say(self, event: str, limit: int, address: str | None) -> None:
        """Log an event, at most once a minute; ``connections`` counts connections since the last
        event."""
        self._unsaid[event] += 1
        now = time.monotonic()
        if now - self._said.get(event, -_NOTE_SECONDS) < _NOTE_SECONDS:
            return
        self._said[event] = now
        fields = {
            "limit": limit,
            "client_ip": address,
            "connections": self._unsaid.pop(event),
            "open": len(self._open),
        }
        log.warning(event, extra={"fields": fields})


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


EXTENSION = "phoneprov.delivered"
"""Key of an ASGI extension whose ``complete`` is an async callable. Called after the last byte and
before the end of a response it returns whether the client has it all."""

PATIENCE_SECONDS = 5.0
"""As long as a kept connection stays open."""
RESET_SECONDS = 0.05
"""A client that closes with unread bytes sends the reset right after its last segment."""


class Delivery:
    """Watches one connection after a response was written. ``closes``: the response is the last
    one; the client is informed at once that no more follows."""

    def __init__(self, transport: asyncio.Transport, *, closes: bool) -> None:
        self._transport = transport
        self._closes = closes
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._is_shut = self._is_lost = self._has_asked = False
        self._closed_at: float | None = None

    @property
    def has_closed(self) -> bool:
        """Whether the client closed its side."""
        return self._closed_at is not None

    def asked(self) -> None:
        """The client sent something, or the server cannot wait."""
        self._has_asked = True
        self._changed.set()

    def closed(self) -> None:
        """The client closed its side."""
        self._closed_at = self._loop.time()
        self._changed.set()

    def lost(self) -> None:
        """The connection was reset or aborted."""
        self._is_lost = True
        self._changed.set()

    async def complete(self) -> bool:
        """Wait until it is known whether the client has the response."""
        silent_since: float | None = None
        while not self._is_lost:
            now = self._loop.time()
            wait = RESET_SECONDS
            if not self._unacknowledged():
                silent_since = silent_since or now
                if self._has_asked or now - silent_since >= PATIENCE_SECONDS:
                    return not self._error()
                if self._closed_at is None:
                    wait = silent_since + PATIENCE_SECONDS - now
                elif now - self._closed_at >= RESET_SECONDS:
                    return not self._error()
            elif self.has_closed and self._error():
                return False
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._changed.wait()
        return False

    def _unacknowledged(self) -> int:
        """Bytes that the client's host has not acknowledged."""
        waiting = self._transport.get_write_buffer_size()
        if waiting:
            return waiting
        if self._closes and not self._is_shut:
            self._is_shut = True
            with self._socket() as sock, contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_WR)
        # The end of the stream counts like a byte.
        return max(0, unacknowledged(self._fileno()) - self._is_shut)

    def _error(self) -> int:
        with self._socket() as sock:
            error: int = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        return error

    def _socket(self) -> socket.socket:
        """A copy of the socket: uvloop's has not all methods."""
        return socket.socket(fileno=os.dup(self._fileno()))

    def _fileno(self) -> int:
        return int(self._transport.get_extra_info("socket").fileno())
