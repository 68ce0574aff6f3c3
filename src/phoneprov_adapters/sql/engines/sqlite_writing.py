"""Connections to SQLite, writing transactions, checkpoints, and the messages of its errors."""

import asyncio
import contextlib
import errno
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import aiosqlite
from sqlalchemy.dialects import sqlite as dialect

from phoneprov_adapters.runtime.tasks import to_its_end
from phoneprov_adapters.sql.engines.connection import (
    Compiled,
    Compiler,
    Connection,
    Context,
    JsonCompiler,
    Row,
    foreign_key_violation,
    log_failure,
    not_utf8,
    unique_violation,
)
from phoneprov_adapters.sql.engines.revisions import REQUIRE_REVISION, REVISION_COLUMN, UNFIT
from phoneprov_adapters.sql.engines.sqlite_file import damages, why_not_writable
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_core.kernel.errors import DiskFull, Invalid, NotWritable, Unavailable

DAMAGED = "The database file is damaged; restore a backup."
REPLACED = (
    "The database file was moved, replaced or removed while the service used it; "
    "restart the service."
)
UNUSABLE = "The database cannot be used right now; try again later."

BUSY = "The database is busy; try again."
READ_ONLY = (
    "The database is read-only: its file, its folder or the file system does not permit changes; "
    "nothing was changed."
)

# At DEBUG, aiosqlite logs the parameters of statements, such as hashes and tokens.
logging.getLogger("aiosqlite").setLevel(logging.INFO)

READERS = 4

COMMITS = 100
"""Number of commits between two checkpoints."""

log = logging.getLogger("phoneprov.database")

compiled_for = Compiler(dialect.dialect(paramstyle="qmark"))
compiled_as_json = JsonCompiler(dialect.dialect(paramstyle="qmark"))

_require_revision = compiled_for(REQUIRE_REVISION)
Step = tuple[str, Sequence[Any]]
"""The text of a statement, and its parameters."""

_BEGIN: tuple[Step, ...] = (
    ("BEGIN IMMEDIATE", ()),
    (_require_revision.sql, _require_revision.parameters({})),
)
_BEGIN_WITHIN: tuple[Step, ...] = (("SAVEPOINT within", ()),)


class Checkpoints:
    """Runs a checkpoint after every ``COMMITS`` commits of this process.

    A checkpoint copies the write-ahead log into the database file: it writes and flushes both
    files, which takes up to 300 ms on a slow disk. By default SQLite runs it during a commit as
    soon as the log has 1,000 pages, and the caller waits. Here a thread runs the checkpoint, and
    other transactions commit meanwhile.
    """

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
                # PASSIVE: the checkpoint, readers and writers do not wait for each other.
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error as error:
            # The log still holds all changes.
            log.warning("A checkpoint of the database failed: %s", error)


def executed(connection: sqlite3.Connection, steps: Sequence[Step]) -> list[Row]:
    """Execute statements until one fails; returns the rows of the last statement."""
    rows: list[Row] = []
    for sql, parameters in steps:
        rows = connection.execute(sql, parameters).fetchall()
    return rows


class Driver(Protocol):
    """Executes statements: a connection with or without its own thread."""

    @property
    def in_transaction(self) -> bool: ...

    def execute_steps(self, steps: Sequence[Step]) -> Awaitable[list[Row]]:
        """Execute statements one after the other until one fails; returns the rows of the last
        statement. A cancelled call is still executed, before later calls."""


class ThreadDriver(aiosqlite.Connection):
    """aiosqlite's connection, with several statements in one call of its thread: each call takes
    about as long as a short statement."""

    async def execute_steps(self, steps: Sequence[Step]) -> list[Row]:
        """Execute statements in one call of the thread, as ``Driver`` says."""
        return await self._execute(executed, self._conn, steps)  # type: ignore[no-any-return, no-untyped-call]


class Drivers:
    """The connections to one file: ``writer``, ``short`` for queries for one row, and ``READERS``
    connections for longer queries. Opening and closing a connection is never interrupted: a thread
    that is still running after the event loop has ended would fail."""

    writer: ThreadDriver
    short: ThreadDriver

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._opened: list[ThreadDriver] = []
        self._readers: list[ThreadDriver] = []
        self._reader_free = asyncio.Semaphore(READERS)

    async def open(self) -> None:
        """Open all connections. Raises ``sqlite3.Error``; ``close`` then closes those that were
        opened."""
        for _ in range(2 + READERS):
            await to_its_end(self._open_one())
        self.writer, self.short, *self._readers = self._opened

    async def _open_one(self) -> None:
        # Not opened by aiosqlite: after an error in opening it does not wait for its thread.
        connection = await asyncio.to_thread(self._connect)
        driver = ThreadDriver(lambda: connection, 0)
        await driver
        self._opened.append(driver)

    async def close(self) -> None:
        """Close all."""
        while self._opened:
            await self._opened.pop().close()

    async def rows(self, sql: str, parameters: Sequence[Any]) -> Iterable[Any]:
        """The rows of a query that may take long."""
        async with self._reader_free:
            reader = self._readers.pop()
            try:
                return await reader.execute_fetchall(sql, parameters)
            finally:
                # A cancelled query may still run in the thread; the next one waits for it there.
                self._readers.append(reader)


class WriteConnection(Connection):
    """A transaction, which begins with its first statement. If ``within``, it is a savepoint in the
    open transaction of another writer. ``begun``: it has at least one statement. A statement whose
    rows are not needed is executed with the next statement, or at the end."""

    writing = True

    def __init__(
        self, context: Context, path: Path, driver: Driver, *, within: bool = False
    ) -> None:
        super().__init__(context)
        self._path = path
        self._driver = driver
        self._within = within
        self._waiting: list[Step] = []
        self._is_open = False
        self.begun = False

    async def fetch_all(self, statement: Statement, **values: Any) -> Sequence[Row]:
        compiled = self._add(statement, values)
        return compiled.typed(await self._run())

    async def execute(self, statement: Statement, **values: Any) -> None:
        self._add(statement, values)

    async def flush(self) -> None:
        if self._waiting:
            await self._run()

    async def touch(self) -> None:
        """Make a trial write that changes no record: the commit writes to the disk."""
        self.begun = True
        self._waiting += (*_BEGIN, ("PRAGMA user_version = 0", ()))

    async def commit(self) -> None:
        """Commit, or release the savepoint if ``within``. The driver finishes a cancelled call,
        too."""
        if self.begun:
            self._waiting.append(("RELEASE within" if self._within else "COMMIT", ()))
            await self._run()

    async def roll_back(self) -> bool:
        """Roll back the transaction if it has begun. Returns False if the transaction of the other
        writer (see ``within``) was rolled back as well: some errors do this."""
        self._waiting.clear()
        return not self._is_open or await to_its_end(self._rolled_back())

    async def _rolled_back(self) -> bool:
        steps = ("ROLLBACK TO within", "RELEASE within") if self._within else ("ROLLBACK",)
        # Fails if the transaction has ended already, or if the connection is closed.
        with contextlib.suppress(sqlite3.Error, ValueError):
            await self._driver.execute_steps([(sql, ()) for sql in steps])
        with contextlib.suppress(ValueError):
            return self._driver.in_transaction
        return False

    def _add(self, statement: Statement, values: Mapping[str, Any]) -> Compiled:
        compiled = compiled_for(statement)
        step = compiled.sql, compiled.parameters(values)
        if not self.begun:
            self.begun = True
            self._waiting += _BEGIN_WITHIN if self._within else _BEGIN
        self._waiting.append(step)
        return compiled

    async def _run(self) -> Sequence[Row]:
        steps, self._waiting, self._is_open = self._waiting, [], True
        try:
            return await self._driver.execute_steps(steps)
        except sqlite3.IntegrityError as error:
            raise _violation(error) from error
        except (sqlite3.Error, ValueError) as error:
            raise unavailable(error, self._path) from error


def _violation(error: sqlite3.IntegrityError) -> Exception:
    if error.sqlite_errorname in {"SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"}:
        # The message ends with the columns, each with the prefix of its table and a dot.
        return unique_violation(str(error).rsplit(".", 1)[-1])
    if error.sqlite_errorname in {"SQLITE_CONSTRAINT_FOREIGNKEY", "SQLITE_CONSTRAINT_TRIGGER"}:
        return foreign_key_violation()
    if str(error).endswith(f" {REVISION_COLUMN}"):
        return Unavailable(UNFIT)
    return error


def unavailable(error: Exception, path: Path) -> Unavailable | Invalid:
    """The reason why the file cannot be used, as one sentence; the cause is logged. ``Invalid`` if
    a text is not UTF-8."""
    if isinstance(error, UnicodeEncodeError):
        return not_utf8()
    name = getattr(error, "sqlite_errorname", "")
    if name == "SQLITE_FULL":
        failure: Unavailable = DiskFull()
    elif name.startswith("SQLITE_READONLY"):
        failure = NotWritable(READ_ONLY)
    elif name in _WRITE_ERRORS:
        failure = _not_written(path)
    elif name.startswith("SQLITE_BUSY"):
        failure = Unavailable(BUSY)
    elif isinstance(error, sqlite3.Error) and damages(error):
        failure = Unavailable(DAMAGED)
    else:
        failure = Unavailable(UNUSABLE)
    log_failure(f"file {path}", f"{name or type(error).__name__} {error}")
    return failure


_WRITE_ERRORS = {
    f"SQLITE_IOERR_{name}"
    for name in ("WRITE", "FSYNC", "DIR_FSYNC", "TRUNCATE", "SHMSIZE", "SHMOPEN", "SHMMAP")
}


def _not_written(path: Path) -> NotWritable:
    """The error for a failed write, with the reason from a trial write. SQLite has one error for
    many reasons: a quota, a file size limit, a read-only file system or a defect."""
    reason = why_not_writable(path)
    if reason in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}:
        return DiskFull()
    return NotWritable(READ_ONLY if reason == errno.EROFS else "")
