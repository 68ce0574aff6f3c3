"""Contents of files for phones, over HTTP and TFTP, and the queue of records of requests: a
phone never waits for the database."""

import asyncio
import contextlib
import logging
import os
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Self

from phoneprov_adapters.runtime.tasks import to_its_end
from phoneprov_adapters.tftp.packets import ErrorCode
from phoneprov_adapters.tftp.server import Denied, OpenFile
from phoneprov_core.features.serving.model import FetchResult, SharedFile, Transport
from phoneprov_core.features.serving.use_cases import Ended, FileRequest, Provided, ProvideFile
from phoneprov_core.kernel.errors import Unavailable

PIECE = 128 * 1024
"""Bytes of a file that are in memory at a time."""


class MemoryFile:
    """Bytes in memory."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    @property
    def size(self) -> int:
        """Bytes in all."""
        return len(self._content)

    def loaded(self, offset: int, size: int) -> bytes | None:
        """The bytes from ``offset`` on."""
        return self._content[offset : offset + size]

    async def load(self, offset: int) -> None:
        """Everything is in memory."""

    def close(self) -> None:
        """Nothing to release."""


class DiskFile:
    """A regular file, read in pieces by a thread. Raises ``OSError`` if it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        self._size = os.fstat(self._descriptor).st_size
        self._start = 0
        self._piece = b""

    @property
    def size(self) -> int:
        """Bytes in all, when the file was opened."""
        return self._size

    def loaded(self, offset: int, size: int) -> bytes | None:
        """The bytes from ``offset`` on; None while they are not in memory."""
        wanted = min(size, self._size - offset)
        first = offset - self._start
        if first >= 0 and first + wanted <= len(self._piece):
            return self._piece[first : first + wanted]
        return None

    async def load(self, offset: int) -> None:
        """Load a piece. Raises ``OSError`` if the file became shorter."""
        wanted = min(PIECE, self._size - offset)
        # The descriptor must stay open until the thread has used it.
        piece = await to_its_end(asyncio.to_thread(os.pread, self._descriptor, wanted, offset))
        if len(piece) < wanted:
            raise OSError("the file became shorter while it was sent")
        self._start, self._piece = offset, piece

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


_DENIED = {
    FetchResult.NOT_FOUND: Denied(ErrorCode.NOT_FOUND, "File not found."),
    FetchResult.REFUSED: Denied(ErrorCode.ACCESS_VIOLATION, "Access denied."),
}


class TftpFiles:
    """Opens files by name for client addresses."""

    def __init__(self, provide: ProvideFile, record: Callable[[Ended], None]) -> None:
        self._provide = provide
        self._record = record

    async def __call__(self, name: str, client_ip: str) -> OpenFile | Denied:
        """The file, or the error for the client, which is recorded too."""
        provided = await self._provide.open(FileRequest(Transport.TFTP, name, client_ip))
        if provided.result is FetchResult.SERVED:
            return _RecordedFile(self._provide, provided, self._record)
        self._record(self._provide.ended(provided, is_complete=False, size=0, duration_ms=0))
        return _DENIED[provided.result]


class _RecordedFile(OpenFile):
    """An open file that records its transfer."""

    def __init__(
        self, provide: ProvideFile, provided: Provided, record: Callable[[Ended], None]
    ) -> None:
        self._provide = provide
        self._record = record
        self._provided = provided
        self._content: SharedFile = provided.file or MemoryFile(provided.content or b"")

    @property
    def size(self) -> int:
        return self._content.size

    def loaded(self, offset: int, size: int) -> bytes | None:
        return self._content.loaded(offset, size)

    async def load(self, offset: int) -> None:
        await self._content.load(offset)

    def finish(self, *, is_complete: bool, size: int, seconds: float) -> None:
        self._content.close()
        ended = self._provide.ended(
            self._provided,
            is_complete=is_complete,
            size=size,
            duration_ms=round(seconds * 1000),
        )
        self._record(ended)


MOST = 10_000
GROUP = 200
STOP_SECONDS = 5.0
RETRY_SECONDS = 1.0
_NOTE_SECONDS = 10.0

log = logging.getLogger("phoneprov.provision")


class FetchRecords:
    """Writes records in groups, in the background; at the end of the context all that are left.

    While the database is unavailable they wait. A full queue loses records, which are counted and
    logged: first records that confirm no deployment.
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
