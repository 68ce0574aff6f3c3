"""The file of an embedded database: its mode, its creation, and its damage."""

import asyncio
import contextlib
import logging
import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from phoneprov_core.kernel.errors import Unavailable

_CHECK_SECONDS = 1.0
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
