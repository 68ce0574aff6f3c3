"""Contents that a transfer sends: bytes in memory, or a file that is read piece by piece."""

import asyncio
import os
from pathlib import Path

from phoneprov_adapters.runtime.tasks import to_its_end

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
