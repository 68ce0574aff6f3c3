"""The queue of records of requests: a phone never waits for the database."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from typing import Self

from phoneprov_core.features.serving.use_cases import Ended, ProvideFile
from phoneprov_core.kernel.errors import Unavailable

MOST = 10_000
GROUP = 200
STOP_SECONDS = 5.0
RETRY_SECONDS = 1.0
_NOTE_SECONDS = 10.0

log = logging.getLogger("phoneprov.provision")


class FetchRecords:
    """Writes records in groups, in the background; at the end of the context all that are left.

    While the database is unavailable they wait. A full queue loses records, which are counted and
    logged: first those that confirm no deployment.
    """

    def __init__(
        self, provide: ProvideFile, lost: Callable[[int], None], *, most: int = MOST
    ) -> None:
        self._provide = provide
        self._count_lost = lost
        self._most = most
        self._confirming: deque[Ended] = deque()
        self._others: deque[Ended] = deque()
        self._group: list[Ended] = []
        self._wake = asyncio.Event()
        self._is_stopping = False
        self._worker: asyncio.Task[None] | None = None
        self._unsaid, self._said_at = 0, -_NOTE_SECONDS

    def add(self, ended: Ended) -> None:
        """Have a request recorded."""
        if len(self) >= self._most:
            self._lose(1)
            if ended.attempt is None or not self._others:
                return
            self._others.popleft()
        (self._others if ended.attempt is None else self._confirming).append(ended)
        self._wake.set()

    def __len__(self) -> int:
        return len(self._confirming) + len(self._others)

    async def __aenter__(self) -> Self:
        self._worker = asyncio.create_task(self._work())
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._worker is not None
        self._is_stopping = True
        self._wake.set()
        _, unfinished = await asyncio.wait({self._worker}, timeout=STOP_SECONDS)
        for worker in unfinished:
            worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await worker
        self._said_at = -_NOTE_SECONDS
        self._lose(len(self._group) + len(self))

    async def _work(self) -> None:
        while not self._is_stopping or len(self):
            await self._wake.wait()
            while len(self):
                self._group = [self._next() for _ in range(min(len(self), GROUP))]
                await self._write()
            if not self._is_stopping:
                self._wake.clear()

    def _next(self) -> Ended:
        return (self._confirming or self._others).popleft()

    async def _write(self) -> None:
        while self._group:
            try:
                await self._provide.record(self._group)
            except Unavailable as error:
                log.warning("Requests of phones are not recorded yet: %s", error.message)
                await asyncio.sleep(RETRY_SECONDS)
            except Exception:
                log.exception("Requests of phones could not be recorded")
                await self._write_each()
            else:
                self._group = []

    async def _write_each(self) -> None:
        """Write the records of a refused group one by one: a bad record does not affect the
        others."""
        while self._group:
            try:
                await self._provide.record(self._group[:1])
            except Unavailable:
                return
            except Exception:
                log.exception("A request of a phone could not be recorded")
                self._lose(1)
            self._group = self._group[1:]

    def _lose(self, number: int) -> None:
        if not number:
            return
        self._count_lost(number)
        self._unsaid += number
        now = asyncio.get_running_loop().time()
        if now - self._said_at >= _NOTE_SECONDS:
            log.error("%s requests of phones were not recorded.", self._unsaid)
            self._unsaid, self._said_at = 0, now
