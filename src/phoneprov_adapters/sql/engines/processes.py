"""The processes of this host that use a database, and the detection of killed processes.

Each process creates a file and holds a lock on it. The operating system releases the lock when the
process ends for any reason; a process that ends normally also removes its file. So a file that can
be locked belongs to a killed process.

All processes that use an embedded database also share the lock of a file beside the database.
"""

import asyncio
import contextlib
import fcntl
import glob
import hashlib
import logging
import os
import platform
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

from phoneprov_adapters.sql.engines.address import embedded_file
from phoneprov_core.kernel.errors import Unavailable

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""The file with the identifier of the running system."""

MACHINE = Path("/etc/machine-id")
"""The file with the identifier of this host's operating system; it must stay secret."""

_LOCK_SECONDS = 120.0
_USERS_SECONDS = 10.0
"""Time for commands to end before an upgrade is refused."""
_LOOK_SECONDS = 0.2
_POLL_SECONDS = 0.02

_LOCK = "-schema"
_PROCESSES = "-processes"
"""Suffixes of the lock file and of the folder of process files beside a database."""

log = logging.getLogger("phoneprov.database")


def _this_boot() -> str:
    try:
        return BOOT.read_text("ascii").strip()
    except OSError:
        return platform.node()


def _this_machine() -> str:
    """A name of this host that stays the same after a reboot; empty if the host has no such name,
    as some containers."""
    try:
        machine = MACHINE.read_bytes().strip()
    except OSError:
        return ""
    name = b"phoneprov %b %b" % (machine, platform.node().encode())
    return hashlib.sha256(name).hexdigest()[:16] if machine else ""


class Processes:
    """The files of processes in ``folder``.

    Hosts that share a database may share the folder, too. Not every network file system shows the
    locks of the other hosts, so with ``several_hosts`` only the files of this host are examined,
    from this boot and from earlier boots.
    """

    def __init__(self, folder: Path, *, several_hosts: bool) -> None:
        self._folder = folder
        self._several_hosts = several_hosts
        self._boot, self._machine = _this_boot(), _this_machine()

    @contextlib.contextmanager
    def registered(self, process: str) -> Iterator[None]:
        """Register this process. If its file cannot be created, the process works all the same;
        after it was killed, its leases last until they expire."""
        with contextlib.ExitStack() as stack:
            try:
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                draft = self._folder / f".{process}"
                fcntl.flock(_opened(draft, stack), fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Renamed after locking: other processes never see the file unlocked.
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
        """The killed processes. Their files are removed after the block, unless it raises. Only one
        process at a time runs the block; other processes wait."""
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


def processes_at(url: str, data_dir: Path) -> Processes:
    """The processes of this host that use the database of this URL. Their files are beside an
    embedded database, and in ``data_dir`` for a shared database."""
    file = embedded_file(url)
    if file is not None:
        return Processes(file.with_name(f"{file.name}{_PROCESSES}"), several_hosts=False)
    return Processes(data_dir / "processes", several_hosts=True)


class UseLock:
    """The lock of the processes that use a database, beside its file. The processes share it; a
    process that creates, restores or upgrades the database holds it alone. Raises
    ``Unavailable``."""

    def __init__(self, path: Path) -> None:
        self._database = path
        self._file = _lock_file(path.with_name(f"{path.name}{_LOCK}"))

    async def share(self) -> None:
        """Share the lock; waits for the end of an upgrade. Raises ``Unavailable``."""
        with contextlib.suppress(OSError):  # on a full disk; only ``require_no_users`` reads it
            os.pwrite(self._file, _path_text(self._database), 0)
        if not await self._obtained(fcntl.LOCK_SH, _LOCK_SECONDS):
            raise Unavailable(
                f"Another process is upgrading the database{self._upgrader()}; try again later."
            )

    async def hold(self, needless: Callable[[], bool] = lambda: False) -> bool:
        """Hold the lock alone. Returns False, without the lock, as soon as ``needless`` returns
        True while waiting. Raises ``Unavailable`` if other processes use the database."""
        deadline = time.monotonic() + _USERS_SECONDS
        while not await self._obtained(fcntl.LOCK_EX, _LOOK_SECONDS):
            if await asyncio.to_thread(needless):
                return False
            if time.monotonic() > deadline:
                raise in_use(self._holders())
        return True

    async def _obtained(self, kind: int, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        # Another process releases the lock without an event in this process, so poll.
        while not _locked(self._file, kind):
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    def _holders(self) -> str:
        """The other processes that hold the lock; empty if the system does not name them."""
        return _holders_of(os.fstat(self._file).st_ino)

    def _upgrader(self) -> str:
        holders = self._holders()
        return f" ({holders})" if holders else ""

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)


def in_use(processes: str) -> Unavailable:
    """The refusal while ``processes`` use the database; empty if the system does not name them."""
    which = processes or "every service and command of phoneprov"
    return Unavailable(f"Another process uses the database: stop {which} first.")


def _holders_of(inode: int) -> str:
    """The other processes that hold a lock on a file; empty if the system does not name them."""
    pids = set()
    with contextlib.suppress(OSError):
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            _, kind, *_, pid, place, _, _ = line.split()
            if kind == "FLOCK" and place.endswith(f":{inode}") and int(pid) != os.getpid():
                pids.add(int(pid))
    return ", ".join(map(_process, sorted(pids)))


def require_no_users(path: Path) -> None:
    """Raises ``Unavailable`` if a process uses a database that has or had this path. The files of
    the database may have been moved or removed: lock files in its folder and below are tested, and
    other lock files are found among the open files of the processes of this host. To be called
    within ``alone``. Blocks."""
    own = _identity_of(path.with_name(f"{path.name}{_LOCK}"))
    base = glob.escape(path.name)
    for name in (f"{base}{_LOCK}", f"{base}{_PROCESSES}/*"):
        for file in path.absolute().parent.glob(f"**/{name}"):
            if _identity_of(file) != own and _is_locked(file):
                raise in_use(_holders_of(file.stat().st_ino))
    pids = {int(fd.parts[2]) for fd in Path("/proc").glob("[0-9]*/fd/*") if _is_lock(fd, path, own)}
    if pids:
        raise in_use(", ".join(map(_process, sorted(pids))))


def _is_locked(file: Path) -> bool:
    try:
        descriptor = os.open(file, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _locked(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def _is_lock(descriptor: Path, path: Path, own: tuple[int, int] | None) -> bool:
    """Whether an open file of a process is the lock file of another database that had this path."""
    with contextlib.suppress(OSError):
        if not str(descriptor.readlink()).removesuffix(" (deleted)").endswith(_LOCK):
            return False
        if _identity_of(descriptor) == own:
            return False
        return descriptor.read_bytes() == _path_text(path)
    return False


def _path_text(path: Path) -> bytes:
    return os.fsencode(path.resolve())


def _process(pid: int) -> str:
    command = b""
    with contextlib.suppress(OSError):
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    name = " ".join(command.decode(errors="replace").replace("\0", " ").split())
    return f"process {pid}" + (f" ({name[:80]})" if name else "")


@contextlib.asynccontextmanager
async def alone(path: Path, needless: Callable[[], bool] = lambda: False) -> AsyncIterator[bool]:
    """Hold the lock of the database alone. See ``UseLock.hold``."""
    lock = UseLock(path)
    try:
        yield await lock.hold(needless)
    finally:
        lock.release()


def _lock_file(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Unavailable("The database's folder cannot be written to.") from error


def _locked(file: int, kind: int) -> bool:
    """Lock a file, unless another process holds a lock that excludes it."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _identity_of(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file; a later file with the same name has others. None if the file does
    not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
