"""The file of an embedded database: its mode, its creation, its damage and its checkpoints, and the
locks of the processes that use it.

The locks are on files beside it. The system releases a lock when its process ends, for any reason.

A checkpoint copies the write-ahead log into the database file: it writes and flushes both files,
which takes up to 300 ms on a slow disk. By default the commit that finds 1,000 pages in the log
does it while its caller waits. Here another thread does it, and other transactions commit
meanwhile.
"""

import asyncio
import contextlib
import fcntl
import logging
import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from phoneprov_core.kernel.errors import Unavailable

COMMITS = 100
"""Number of commits between two checkpoints."""

PAGES = 8_000
"""Pages in the log (32 MiB) from which a commit checkpoints itself, so that the log stays bounded
when the thread does not keep up."""

_CHECK_SECONDS = 1.0
_LOCK_SECONDS = 120.0
_POLL_SECONDS = 0.02
_DRAFT = "-new-"
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


async def create(path: Path, fill: Callable[[Path], Awaitable[None]]) -> None:
    """Create the file with the content of ``fill``; it appears only when it is complete. To be
    called within ``alone``."""
    draft = await asyncio.to_thread(_new_draft, path)
    try:
        await fill(draft)
        await asyncio.to_thread(_finish, draft, path)
    finally:
        await asyncio.to_thread(draft.unlink, missing_ok=True)


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


@contextlib.contextmanager
def read_only(path: Path, timeout: float = 1) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing and creates no file. Raises ``sqlite3.Error``."""
    url = f"file:{quote(str(path))}?mode=ro"
    with contextlib.closing(sqlite3.connect(url, uri=True, timeout=timeout)) as connection:
        yield connection


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


class Checkpoints:
    """Runs a checkpoint after every ``COMMITS`` commits of this process."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._commits = 0
        self._running: asyncio.Task[None] | None = None

    def committed(self) -> None:
        """Count a commit."""
        self._commits += 1
        if self._commits >= COMMITS and (self._running is None or self._running.done()):
            self._commits = 0
            self._running = asyncio.create_task(asyncio.to_thread(self._run))

    async def close(self) -> None:
        """Wait for the running checkpoint."""
        if self._running is not None:
            await self._running

    def _run(self) -> None:
        try:
            with contextlib.closing(self._connect()) as connection:
                # PASSIVE waits for no reader and no writer, and none of them waits for it.
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error as error:
            # The log still holds all changes.
            log.warning("A checkpoint of the database failed: %s", error)


class Presence:
    """A process that is registered as a user of a database.

    A process that registers when no other one is registered is the ``first``: work that earlier
    processes started will not be finished by them. Until the first has called ``admit``, all others
    wait.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self.first = _locked(file, fcntl.LOCK_EX)

    async def admit(self) -> None:
        """Admit the other processes."""
        # The others are separate processes: there is no event to wait for.
        while not _locked(self._file, fcntl.LOCK_SH):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)


@contextlib.asynccontextmanager
async def present(path: Path) -> AsyncIterator[Presence]:
    """Register as a process that uses the database at ``path``. Raises ``Unavailable``."""
    file = _lock_file(path.with_name(f"{path.name}-users"))
    try:
        presence = Presence(file)
        if not presence.first:
            await presence.admit()
        yield presence
    finally:
        os.close(file)


@contextlib.asynccontextmanager
async def alone(path: Path) -> AsyncIterator[None]:
    """Lock: one process at a time creates or migrates the database. Raises ``Unavailable``."""
    lock = _lock_file(path.with_name(f"{path.name}-schema"))
    try:
        deadline = time.monotonic() + _LOCK_SECONDS
        while not _locked(lock, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                raise Unavailable("Another process is migrating the database; try again later.")
            await asyncio.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(lock)


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
