"""Contents of files for phones, over HTTP and TFTP."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from phoneprov_adapters.runtime.tasks import to_its_end
from phoneprov_adapters.tftp.packets import ErrorCode
from phoneprov_adapters.tftp.server import Denied, OpenFile
from phoneprov_core.features.serving.model import FetchResult, SharedFile, Transport
from phoneprov_core.features.serving.use_cases import Ended, FileRequest, Provided, ProvideFile

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
