"""The file of an embedded database: its mode, its creation and its damage, and the lock of the
processes that use it.

The lock is on a file beside it. The system releases it when its process ends, for any reason.
"""

import asyncio
import contextlib
import errno
import fcntl
import glob
import logging
import os
import resource
import sqlite3
import stat
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from phoneprov_adapters.sql.engines.revisions import REVISION
from phoneprov_core.kernel.errors import Unavailable

_CHECK_SECONDS = 1.0
_LOCK_SECONDS = 120.0
_USERS_SECONDS = 10.0
"""Time for commands to end before an upgrade is refused."""
_LOOK_SECONDS = 0.2

_POLL_SECONDS = 0.02
_DRAFT = "-new-"
_TRIED = 64 * 1024
"""The size of a file that is written to find out why others cannot be."""
_LOCK = "-schema"
PROCESSES = "-processes"
"""The end of the name of the folder with the list of processes."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO

log = logging.getLogger("phoneprov.database")


def protect(path: Path) -> None:
    """Give the database, its WAL and its SHM file the mode 0600. SQLite gives new WAL and SHM
    files the mode of the database."""
    for file in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        with contextlib.suppress(OSError):
            if file.stat().st_mode & _OTHERS:
                file.chmod(0o600)


def warn_about_folder(path: Path) -> None:
    """Log a warning when other users can read the folder of the database."""
    folder = path.absolute().parent
    with contextlib.suppress(OSError):
        if folder.stat().st_mode & _OTHERS:
            log.warning("Other users can read the folder %s; set its mode to 0700.", folder)


def require_content(path: Path) -> None:
    """Raises ``Unavailable`` for a file of 0 bytes: this service never leaves one."""
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size == 0:
            raise Unavailable(
                f"The database file {path} is empty (0 bytes). Restore a backup, or remove the "
                "file to begin with an empty database."
            )


def identity_of(path: Path) -> tuple[int, int] | None:
    """Device and inode of a file, which a file that takes its name does not have; None if there
    is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


async def create(path: Path, fill: Callable[[Path], Awaitable[None]]) -> None:
    """Create the file with the content of ``fill``; it appears only when it is complete. To be
    called within ``alone``."""
    try:
        draft = await asyncio.to_thread(_new_draft, path)
        try:
            await fill(draft)
            await asyncio.to_thread(_finish, draft, path)
        finally:
            await asyncio.to_thread(draft.unlink, missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise Unavailable(f"The database {path} cannot be created: {why}.") from error


def _new_draft(path: Path) -> Path:
    for left in path.parent.glob(f"{path.name}{_DRAFT}*"):
        left.unlink(missing_ok=True)  # Of a process that was killed.
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}{_DRAFT}", dir=path.parent)
    os.close(descriptor)
    return Path(name)


def _finish(draft: Path, path: Path) -> None:
    """Turn WAL on: two processes that do so at the same time may each find the file busy."""
    with contextlib.closing(sqlite3.connect(draft)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(path)


def revision_of(path: Path) -> str | None:
    """The revision of the schema; None if there is none or it cannot be read. Blocks."""
    for options in (READ_ONLY, UNCHANGING)[: 1 if has_log(path) else 2]:
        with contextlib.suppress(sqlite3.Error), read_only(path, options=options) as connection:
            row = connection.execute(str(REVISION)).fetchone()
            return None if row is None else str(row[0])
    return None


def has_log(path: Path) -> bool:
    """Whether the newest changes are in the write-ahead log beside the file."""
    log_ = path.with_name(f"{path.name}-wal")
    return log_.exists() and log_.stat().st_size > 0


READ_ONLY = "mode=ro"
UNCHANGING = "mode=ro&immutable=1"
"""Needs no other file, which cannot be made on a full disk: for a file without a log, as long as
no process changes it."""


@contextlib.contextmanager
def read_only(
    path: Path, timeout: float = 1, *, options: str = READ_ONLY
) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing and creates no file. Raises ``sqlite3.Error``."""
    url = url_of(path, options)
    with contextlib.closing(sqlite3.connect(url, uri=True, timeout=timeout)) as connection:
        yield connection


def url_of(path: Path, options: str) -> str:
    """The URL of a file for SQLite."""
    return f"file:{quote(str(path))}?{options}"


def damage_of(path: Path) -> str | None:
    """The damage that SQLite's check finds within a second, or None; a larger file is checked in
    part. Blocks."""
    try:
        with read_only(path) as connection:
            deadline = time.monotonic() + _CHECK_SECONDS
            connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
            row = connection.execute("PRAGMA quick_check(1)").fetchone()
            return "malformed" if row is None else None if row[0] == "ok" else str(row[0])
    except sqlite3.Error as error:
        return f"{error.sqlite_errorname} {error}" if damages(error) else None


def damages(error: sqlite3.Error) -> bool:
    """Whether an error means that the file is damaged."""
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def why_not_writable(path: Path) -> int | None:
    """The error number of the system for a small new file beside ``path``, or for its size; None
    if it can be written. Blocks for a moment."""
    try:
        system = os.statvfs(path.parent)
        if system.f_flag & os.ST_RDONLY:
            return errno.EROFS
        if not system.f_bavail:
            return errno.ENOSPC
        if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
            return errno.EFBIG
        with tempfile.TemporaryFile(dir=path.parent, buffering=0) as file:
            file.write(bytes(_TRIED))
            os.fsync(file.fileno())
    except OSError as error:
        return error.errno
    return None


class UseLock:
    """The lock of the processes that use a database, beside its file. The processes share it; a
    process that creates, restores or upgrades the database holds it alone. Raises
    ``Unavailable``."""

    def __init__(self, path: Path) -> None:
        self._database = path
        self._file = _lock_file(path.with_name(f"{path.name}{_LOCK}"))

    async def share(self) -> None:
        """Share the lock; waits for the end of an upgrade. Raises ``Unavailable``."""
        with contextlib.suppress(OSError):  # on a full disk; only ``others`` reads it
            os.pwrite(self._file, _path_text(self._database), 0)
        if not await self._obtained(fcntl.LOCK_SH, _LOCK_SECONDS):
            raise Unavailable(
                f"Another process upgrades the database{self._holders()}; try again later."
            )

    async def hold(self, needless: Callable[[], bool] = lambda: False) -> bool:
        """Hold the lock alone; returns False if it is ``needless`` before it is free. Raises
        ``Unavailable`` if other processes use the database."""
        deadline = time.monotonic() + _USERS_SECONDS
        while not await self._obtained(fcntl.LOCK_EX, _LOOK_SECONDS):
            if await asyncio.to_thread(needless):
                return False
            if time.monotonic() > deadline:
                raise in_use(self._holders())
        return True

    async def _obtained(self, kind: int, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        # The others are separate processes: there is no event to wait for.
        while not _locked(self._file, kind):
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    def _holders(self) -> str:
        """The processes that hold the lock, if the system tells."""
        return _holders_of(os.fstat(self._file).st_ino)

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)


def in_use(processes: str) -> Unavailable:
    """The refusal while ``processes`` use the database; empty if the system does not name them."""
    which = processes or "every service and command of phoneprov"
    return Unavailable(f"Another process uses the database: stop {which} first.")


def _holders_of(inode: int) -> str:
    """The other processes that hold a lock on a file, if the system tells."""
    pids = set()
    with contextlib.suppress(OSError):
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            _, kind, *_, pid, place, _, _ = line.split()
            if kind == "FLOCK" and place.endswith(f":{inode}") and int(pid) != os.getpid():
                pids.add(int(pid))
    return ", ".join(map(_process, sorted(pids)))


def require_no_users(path: Path) -> None:
    """Raises ``Unavailable`` if a process uses the database of this path, also if its files were
    moved or removed meanwhile: into a folder beside it, where their locks are looked at, or
    anywhere, where the files are found that processes of this host hold open. To be called within
    ``alone``. Blocks."""
    own = identity_of(path.with_name(f"{path.name}{_LOCK}"))
    base = glob.escape(path.name)
    for name in (f"{base}{_LOCK}", f"{base}{PROCESSES}/*"):
        for file in path.absolute().parent.glob(f"**/{name}"):
            if identity_of(file) != own and _is_locked(file):
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
    """Whether an open file of a process is a lock of a database that had this path."""
    with contextlib.suppress(OSError):
        if not str(descriptor.readlink()).removesuffix(" (deleted)").endswith(_LOCK):
            return False
        if identity_of(descriptor) == own:
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
