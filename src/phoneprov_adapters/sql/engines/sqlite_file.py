"""The file of an embedded database: creation, file mode, checks for damage, and connections."""

import asyncio
import contextlib
import errno
import logging
import os
import resource
import sqlite3
import stat
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from phoneprov_adapters.sql.engines.revisions import REVISION
from phoneprov_core.kernel.errors import Unavailable

BUSY_SECONDS = 10
PAGES = 8_000
"""Number of pages in the write-ahead log (32 MiB) from which SQLite checkpoints during a commit. It
bounds the log if the thread of ``Checkpoints`` is too slow."""
_CHECK_SECONDS = 1.0

_DRAFT = "-new-"
_TRIAL_BYTES = 64 * 1024
"""Size of the trial file of ``why_not_writable``."""
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
    """Raises ``Unavailable`` for a file of 0 bytes: this service never creates an empty file."""
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size == 0:
            raise Unavailable(
                f"The database file {path} is empty (0 bytes). Restore a backup, or remove the "
                "file to begin with an empty database."
            )


async def create(path: Path, fill: Callable[[Path], Awaitable[None]]) -> None:
    """Create the database. ``fill`` writes it to a draft, which gets the name ``path`` when it is
    complete. To be called within ``alone``."""
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
    for leftover in path.parent.glob(f"{path.name}{_DRAFT}*"):
        leftover.unlink(missing_ok=True)  # Created by a process that was killed.
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}{_DRAFT}", dir=path.parent)
    os.close(descriptor)
    return Path(name)


def _finish(draft: Path, path: Path) -> None:
    """Turn WAL on before the file gets its name: processes that turned it on at the same time
    could fail with SQLITE_BUSY."""
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
"""Opens a database without creating WAL and SHM files, which is impossible on a full disk. Only for
a file without a write-ahead log, and only while no process changes it."""


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
    """The damage that SQLite's check finds, or None. The check stops after a second, so a large
    file is checked only in part. Blocks."""
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
    """The error number of the operating system that explains why ``path`` cannot be written: from
    its file system, the limits of this process and a trial file beside it. None if there is no
    such reason. Blocks for a moment."""
    try:
        system = os.statvfs(path.parent)
        if system.f_flag & os.ST_RDONLY:
            return errno.EROFS
        if not system.f_bavail:
            return errno.ENOSPC
        if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:
            return errno.EFBIG
        with tempfile.TemporaryFile(dir=path.parent, buffering=0) as file:
            file.write(bytes(_TRIAL_BYTES))
            os.fsync(file.fileno())
    except OSError as error:
        return error.errno
    return None


_OPTIONS: Any = {
    "timeout": BUSY_SECONDS,
    "isolation_level": None,
    "check_same_thread": False,
    "cached_statements": 256,
}


def connection_to(path: Path, *, frozen: bool = False) -> sqlite3.Connection:
    """A connection to an existing file; read-only if ``frozen``. Raises ``sqlite3.Error``."""
    # Neither mode creates a file if the database was removed.
    url = url_of(path, UNCHANGING if frozen else "mode=rw")
    connection: sqlite3.Connection = sqlite3.connect(url, uri=True, **_OPTIONS)
    if frozen:
        return connection
    try:
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            f"wal_autocheckpoint={PAGES}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        if connection.execute("PRAGMA foreign_keys").fetchone() != (1,):
            raise sqlite3.OperationalError("foreign keys are not supported by this SQLite")
    except BaseException:
        connection.close()
        raise
    return connection
