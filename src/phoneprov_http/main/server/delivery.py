"""Whether a client took a whole response.

What was written may still be in the buffers of two kernels when the client closes the connection.
A client has the response when its host acknowledged every byte, and it then sends the next request,
closes its side without a reset, or stays connected and silent for ``PATIENCE_SECONDS``. A client
that closes with unread bytes resets the connection (RFC 1122 section 4.2.2.13).
"""

import asyncio
import contextlib
import os
import socket

from phoneprov_http.main.server.sockets import unacknowledged

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
