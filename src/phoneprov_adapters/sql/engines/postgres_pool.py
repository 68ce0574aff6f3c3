"""A pool of connections to PostgreSQL."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable

from phoneprov_adapters.sql.engines.hosts import Opened
from phoneprov_adapters.sql.engines.postgres_errors import FAILURES
from phoneprov_core.kernel.errors import Unavailable

SIZE = 10
IDLE_SECONDS = 240.0
_CLOSE_SECONDS = 1.0


class PostgresPool:
    """At most ``SIZE`` connections, opened when needed; the one used last is taken first.

    The driver's own pool costs a read about as much again as its query (see decision 0002).
    Acquiring a free connection and releasing it awaits nothing, so that no cancellation can lose a
    connection.
    """

    def __init__(self, connect: Callable[[], Awaitable[Opened]], wait_seconds: float) -> None:
        self._connect = connect
        self._wait_seconds = wait_seconds
        self._idle: deque[tuple[Opened, float]] = deque()
        self._lent: dict[Opened, float] = {}
        self._free = asyncio.Semaphore(SIZE)
        self._closed = False

    async def borrow(self) -> Opened:
        """A connection that is open as far as known. Raises ``Unavailable``."""
        if self._free.locked():
            try:
                async with asyncio.timeout(self._wait_seconds):
                    await self._free.acquire()
            except TimeoutError:
                raise Unavailable("The database is busy; try again.") from None
        else:
            await self._free.acquire()
        try:
            opened = self._idle_one() or await self._connect()
        except BaseException:
            self._free.release()
            raise
        self._lent[opened] = time.monotonic()
        return opened

    def _idle_one(self) -> Opened | None:
        while self._idle:
            opened, since = self._idle.pop()
            # Firewalls drop idle connections without notice.
            if not opened.driver.is_closed() and time.monotonic() - since < IDLE_SECONDS:
                return opened
            opened.driver.terminate()
        return None

    def give_back(self, opened: Opened, *, usable: bool) -> None:
        """Release a connection; ``usable`` if it is idle, outside a transaction."""
        del self._lent[opened]
        if usable and not self._closed and not opened.driver.is_closed():
            self._idle.append((opened, time.monotonic()))
        else:
            opened.driver.terminate()
        self._free.release()

    def longest_lent(self) -> tuple[Opened, float] | None:
        """The connection that has been in use for the longest time, and for how many seconds; None
        if none is."""
        for opened, since in self._lent.items():
            return opened, time.monotonic() - since
        return None

    @property
    def connections(self) -> list[Opened]:
        """All connections, in use or idle."""
        return [*self._lent, *(opened for opened, _ in self._idle)]

    def forget_idle(self) -> None:
        """Close every idle connection: the network or the server has failed."""
        while self._idle:
            self._idle.pop()[0].driver.terminate()

    def forget_all(self) -> None:
        """Close every connection, those in use too, since their server must not be used any
        longer."""
        self.forget_idle()
        for opened in self._lent:
            opened.driver.terminate()

    async def close(self) -> None:
        """Close idle connections; those in use are closed when they are released."""
        self._closed = True
        while self._idle:
            opened, _ = self._idle.pop()
            try:
                await opened.driver.close(timeout=_CLOSE_SECONDS)
            except FAILURES:
                opened.driver.terminate()
