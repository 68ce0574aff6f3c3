"""Connections to PostgreSQL, kept for the next who needs one."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

import asyncpg

from phoneprov_adapters.sql.engines.postgres_errors import FAILURES
from phoneprov_core.kernel.errors import Unavailable

SIZE = 10
IDLE_SECONDS = 240.0
_GOODBYE_SECONDS = 1.0


class PostgresPool:
    """At most ``SIZE`` connections, made when they are needed; the one used last is lent first.

    Our own rather than the driver's, which costs a reading request about as much again as its
    query. Here nothing is awaited when a connection is free or comes back: so nothing can be
    cancelled in between, and a connection is never lost.
    """

    def __init__(
        self, connect: Callable[[], Awaitable[asyncpg.Connection]], wait_seconds: float
    ) -> None:
        self._connect = connect
        self._wait_seconds = wait_seconds
        self._idle: deque[tuple[asyncpg.Connection, float]] = deque()
        self._free = asyncio.Semaphore(SIZE)
        self._closed = False

    async def borrow(self) -> asyncpg.Connection:
        """A connection that is open as far as is known. Raises ``Unavailable``."""
        if self._free.locked():
            try:
                async with asyncio.timeout(self._wait_seconds):
                    await self._free.acquire()
            except TimeoutError:
                raise Unavailable("The database is busy; try again.") from None
        else:
            await self._free.acquire()
        try:
            return self._idle_one() or await self._connect()
        except BaseException:
            self._free.release()
            raise

    def _idle_one(self) -> asyncpg.Connection | None:
        while self._idle:
            connection, since = self._idle.pop()
            # A firewall may have dropped one that was long silent, without a word to us.
            if not connection.is_closed() and time.monotonic() - since < IDLE_SECONDS:
                return connection
            connection.terminate()
        return None

    def give_back(self, connection: asyncpg.Connection, *, usable: bool) -> None:
        """Take back what was lent; ``usable`` when it is idle, outside a transaction."""
        if usable and not self._closed and not connection.is_closed():
            self._idle.append((connection, time.monotonic()))
        else:
            connection.terminate()
        self._free.release()

    def forget_idle(self) -> None:
        """Close every connection that waits: the network or the server has failed."""
        while self._idle:
            self._idle.pop()[0].terminate()

    async def close(self) -> None:
        """Take leave of the server; what is still lent is closed when it comes back."""
        self._closed = True
        while self._idle:
            connection, _ = self._idle.pop()
            try:
                await connection.close(timeout=_GOODBYE_SECONDS)
            except FAILURES:
                connection.terminate()
