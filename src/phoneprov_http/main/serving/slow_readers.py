"""Clients that do not read their replies."""

import asyncio
import contextlib
import fcntl
import struct
import termios

LOOK_SECONDS = 10.0
LEAST_READ = 32 * 1024
"""Bytes that a client must read between two checks, if more wait for it."""


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
        waiting = self._transport.get_write_buffer_size()
        fd = self._transport.get_extra_info("socket").fileno()
        if fd >= 0:
            with contextlib.suppress(OSError):  # not every system reports it
                waiting += struct.unpack("i", fcntl.ioctl(fd, termios.TIOCOUTQ, bytes(4)))[0]
        return waiting
