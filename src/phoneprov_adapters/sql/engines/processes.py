"""The processes of this host that use a database, and the killed ones among them.

Each process holds a lock on a file of its own. The system releases a lock when its process ends,
for any reason: a file that can be locked is that of a process that was killed.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import logging
import os
import platform
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""The file with the identifier of the running system."""

MACHINE = Path("/etc/machine-id")
"""The file with the identifier of this installation, which is not to be shown."""

log = logging.getLogger("phoneprov.database")


def _this_boot() -> str:
    try:
        return BOOT.read_text("ascii").strip()
    except OSError:
        return platform.node()


def _this_machine() -> str:
    """A name of this host that outlives a boot; empty if it has none, as in some containers."""
    try:
        machine = MACHINE.read_bytes().strip()
    except OSError:
        return ""
    name = b"phoneprov %b %b" % (machine, platform.node().encode())
    return hashlib.sha256(name).hexdigest()[:16] if machine else ""


class Processes:
    """The files of processes in ``folder``.

    Hosts that share a database may share the folder too, and not every network file system shows
    them each other's locks: with ``several_hosts`` only processes of this host are judged, of this
    boot and of earlier ones.
    """

    def __init__(self, folder: Path, *, several_hosts: bool) -> None:
        self._folder = folder
        self._several_hosts = several_hosts
        self._boot, self._machine = _this_boot(), _this_machine()

    @contextlib.contextmanager
    def registered(self, process: str) -> Iterator[None]:
        """Register this process. Without a folder for its file the process works; if it is killed,
        its leases expire."""
        with contextlib.ExitStack() as stack:
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                draft = self._folder / f".{process}"
                fcntl.flock(_opened(draft, stack), fcntl.LOCK_EX | fcntl.LOCK_NB)
                # It is locked when it appears.
                path = draft.rename(self._folder / f"{process}.{self._machine}.{self._boot}")
                stack.callback(path.unlink, missing_ok=True)
            except OSError as error:
                log.warning(
                    "The folder %s cannot be used (%s): if this process is killed, its phones stay "
                    "busy for up to a minute.",
                    *(self._folder, error.strerror),
                )
            yield

    def names(self) -> frozenset[str]:
        """The files of the registered processes; the file of a killed process stays until
        ``forget``."""
        return frozenset(path.name for path in self._folder.glob("[!.]*"))

    @contextlib.asynccontextmanager
    async def killed(self) -> AsyncIterator[list[str]]:
        """The processes that were killed. After the block they are forgotten, unless it raises. One
        process at a time is in the block; the others wait."""
        with contextlib.ExitStack() as stack:
            ended: list[Path] = []
            with contextlib.suppress(OSError):
                lock = _opened(self._folder / ".turn", stack)
                await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
            for path in filter(self._is_here, self._folder.glob("[!.]*")):
                with contextlib.suppress(OSError):
                    fcntl.flock(_opened(path, stack), fcntl.LOCK_EX | fcntl.LOCK_NB)
                    ended.append(path)
            yield [path.name.partition(".")[0] for path in ended]
            for path in ended:
                path.unlink(missing_ok=True)

    def _is_here(self, file: Path) -> bool:
        """Whether this is the file of a process of this host."""
        machine, _, boot = file.name.partition(".")[2].partition(".")
        is_earlier = machine == self._machine != ""
        return not self._several_hosts or boot == self._boot or is_earlier


def _opened(path: Path, stack: contextlib.ExitStack) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    stack.callback(os.close, file)
    return file
