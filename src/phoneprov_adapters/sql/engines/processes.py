"""The processes of this host that use a database, and those of them that were killed.

Each process holds a lock on a file of its own. The system releases a lock when its process ends,
for any reason: a file that can be locked is that of a process that was killed.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import platform
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""The file with the identifier of the running system."""

log = logging.getLogger("phoneprov.database")


def _this_boot() -> str:
    try:
        return BOOT.read_text("ascii").strip()
    except OSError:
        return platform.node()


class Processes:
    """The files of processes in ``folder``.

    Hosts that share a database may share the folder too, and not every network file system shows
    them each other's locks: with ``several_hosts`` only processes of this boot of this host are
    judged.
    """

    def __init__(self, folder: Path, *, several_hosts: bool) -> None:
        self._folder = folder
        self._end = f".{_this_boot()}" if several_hosts else ""

    @contextlib.contextmanager
    def registered(self, process: str) -> Iterator[None]:
        """Register this process. Without a folder for its file the process works, and what it holds
        when it is killed expires."""
        with contextlib.ExitStack() as stack:
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                draft = self._folder / f".{process}"
                fcntl.flock(_opened(draft, stack), fcntl.LOCK_EX | fcntl.LOCK_NB)
                # It is locked when it appears.
                path = draft.rename(self._folder / f"{process}{self._end}")
                stack.callback(path.unlink, missing_ok=True)
            except OSError as error:
                log.warning(
                    "The folder %s cannot be used (%s): if this process is killed, its phones stay "
                    "busy for up to a minute.",
                    *(self._folder, error.strerror),
                )
            yield

    @contextlib.asynccontextmanager
    async def killed(self) -> AsyncIterator[list[str]]:
        """The processes that were killed. After the block they are forgotten, unless it raises. One
        process at a time is in the block; the others wait."""
        with contextlib.ExitStack() as stack:
            left: list[Path] = []
            with contextlib.suppress(OSError):
                turn = _opened(self._folder / ".turn", stack)
                await asyncio.to_thread(fcntl.flock, turn, fcntl.LOCK_EX)
            for path in self._folder.glob("[!.]*"):
                with contextlib.suppress(OSError):
                    fcntl.flock(_opened(path, stack), fcntl.LOCK_EX | fcntl.LOCK_NB)
                    left.append(path)
            yield [path.name.partition(".")[0] for path in left if path.name.endswith(self._end)]
            for path in left:
                path.unlink(missing_ok=True)


def _opened(path: Path, stack: contextlib.ExitStack) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    stack.callback(os.close, file)
    return file
