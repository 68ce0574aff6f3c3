"""Clients that ask and then do not take the answer."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import struct
import termios

LOOK_SECONDS = 10.0
LEAST_READ = 32 * 1024
"""Bytes that a client must take between two looks, while there are any for it."""


class ReaderWatch:
    """Cuts off the client of a connection that holds up what waits for it.

    A reply that waits holds memory, and a connection that is to be closed stays open until
    the last byte went out: uvicorn waits for both as long as it takes.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        self._loop = loop
        self._transport = transport
        self._timer: asyncio.TimerHandle | None = None
        self._waiting = 0

    def start(self) -> None:
        """From now on nothing is written, and what was written has to go out."""
        if self._timer is None:
            self._waiting = self._bytes_waiting()
            self._timer = self._loop.call_later(LOOK_SECONDS, self._look)

    def stop(self) -> None:
        """Look no more."""
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
        """What the client has not taken, be it here or in the kernel, which takes megabytes at
        a time and would look like a client that sleeps in between."""
        waiting = self._transport.get_write_buffer_size()
        fd = self._transport.get_extra_info("socket").fileno()
        if fd >= 0:
            with contextlib.suppress(OSError):  # Not every system tells.
                waiting += struct.unpack("i", fcntl.ioctl(fd, termios.TIOCOUTQ, bytes(4)))[0]
        return waiting
