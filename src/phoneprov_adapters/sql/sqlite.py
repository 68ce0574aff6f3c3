"""The embedded database: SQLite, one writer and a few readers over one file.

Questions for one row go to a reader that answers many at a time; longer ones to connections
of their own, so that they keep nobody waiting.

Set up so that what was acknowledged survives a crash and a power failure: write-ahead log
with ``synchronous=FULL``; every writing transaction begins with ``BEGIN IMMEDIATE``, so that
it never meets a busy database half-way.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.dialects import sqlite as dialect

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.connection import (
    Connection,
    ForeignKeyViolation,
    Row,
    UniqueViolation,
    version_at,
)
from phoneprov_adapters.sql.sqlite_thread import SqliteThread, Step
from phoneprov_adapters.sql.statements import Compiled, Compiler, Statement
from phoneprov_adapters.sql.transaction import Shared, SqlTransaction
from phoneprov_adapters.sql.waiting import to_its_end
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.store import ReadAndWrite

READERS = 4
BUSY_SECONDS = 10

_OPTIONS: Any = {
    "timeout": BUSY_SECONDS,
    "isolation_level": None,
    "cached_statements": 256,
    # The connection is made and used in one thread, and closed there.
    "check_same_thread": True,
}

_BEGIN: Step = ("BEGIN IMMEDIATE", ())

Ask = Callable[[str, Sequence[Any]], Awaitable[Sequence[Row]]]

_compiled = Compiler(dialect.dialect(paramstyle="qmark"))


class SqliteDatabase(ReadAndWrite[SqlTransaction]):
    """A SQLite file. ``box`` encrypts the secrets that are kept in it."""

    def __init__(self, path: Path, box: SecretBox) -> None:
        self._path = path
        self._box = box
        self._is_open = False
        self._quick = SqliteThread(self._connect)
        self._writer = SqliteThread(self._connect)
        self._one_writer = asyncio.Lock()
        self._readers: deque[SqliteThread] = deque()
        self._reader_free = asyncio.Semaphore(READERS)
        # What is read holds nothing: all who read share it.
        self._reading = Shared(SqlTransaction(_ReadConnection(self), box))

    @property
    def url(self) -> str:
        """The address by which SQLAlchemy knows it, for migrations."""
        return f"sqlite+aiosqlite:///{self._path}"

    def _connect(self) -> sqlite3.Connection:
        connection: sqlite3.Connection = sqlite3.connect(self._path, **_OPTIONS)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")
        if connection.execute("PRAGMA foreign_keys").fetchone() != (1,):
            raise sqlite3.OperationalError("foreign keys are not supported by this SQLite")
        return connection

    async def open(self) -> None:
        """Open the connections. The schema must be there already."""
        try:
            await self._writer.open()
            await self._quick.open()
            for _ in range(READERS):
                reader = SqliteThread(self._connect)
                await reader.open()
                self._readers.append(reader)
            self._is_open = True
        except sqlite3.Error as error:
            await self.close()
            raise _unavailable(error) from error

    async def close(self) -> None:
        """Close the connections; to be called when nothing uses them any more."""
        self._is_open = False
        for connection in (self._writer, self._quick, *self._readers):
            await connection.close()
        self._readers.clear()

    async def schema_version(self) -> str | None:
        """The step of the schema's history that it stands at, or None. Raises
        ``Unavailable``."""
        return await version_at(_ReadConnection(self))

    def read(self) -> AbstractAsyncContextManager[SqlTransaction]:
        return self._reading

    async def quick_rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
        """The rows of a question for few of them."""
        self._require_open()
        return await self._quick.ask((sql, parameters))

    async def long_rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
        """The rows of a question that may take its time."""
        self._require_open()
        async with self._reader_free:
            reader = self._readers.pop()
            try:
                return await reader.ask((sql, parameters))
            finally:
                # A question that was given up may still be under way in the thread; whatever
                # comes next waits behind it there.
                self._readers.append(reader)

    def _require_open(self) -> None:
        if not self._is_open:
            raise Unavailable("The database is not open.")

    @asynccontextmanager
    async def write(self) -> AsyncIterator[SqlTransaction]:
        self._require_open()
        async with self._one_writer:
            connection = _WriteConnection(self._writer)
            try:
                yield SqlTransaction(connection, self._box)
                await connection.commit()
            finally:
                await connection.settle()


class _ReadConnection(Connection):
    writing = False
    insert = staticmethod(dialect.insert)

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        return await self._asked(self._database.long_rows, statement, values)

    async def row(self, statement: Statement, **values: Any) -> Row | None:
        rows = await self._asked(self._database.quick_rows, statement, values)
        return rows[0] if rows else None

    async def one_at_a_time(self, what: str) -> None:
        """Nothing to do: reading holds nothing."""

    async def _asked(self, ask: Ask, statement: Statement, values: dict[str, Any]) -> Sequence[Row]:
        compiled = _compiled(statement)
        try:
            rows = await ask(compiled.sql, compiled.parameters(values))
        except (sqlite3.Error, ValueError) as error:
            raise _unavailable(error) from error
        return _typed(rows, compiled)


class _WriteConnection(Connection):
    """The transaction begins with its first statement, in the same turn of the thread."""

    writing = True
    insert = staticmethod(dialect.insert)

    def __init__(self, writer: SqliteThread) -> None:
        self._writer = writer
        self._begun = False

    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        compiled = _compiled(statement)
        step = (compiled.sql, compiled.parameters(values))
        if self._begun:
            rows = await self._run(step)
        else:
            self._begun = True
            rows = await self._run(_BEGIN, step)
        return _typed(rows, compiled)

    async def row(self, statement: Statement, **values: Any) -> Row | None:
        rows = await self.rows(statement, **values)
        return rows[0] if rows else None

    async def one_at_a_time(self, what: str) -> None:
        """Nothing to do: there is one writing transaction at a time."""

    async def commit(self) -> None:
        """Make it durable."""
        if self._begun:
            await self._run(("COMMIT", ()))

    async def settle(self) -> None:
        """Take back what was begun and not committed."""
        if self._writer.in_transaction:
            await self._run(("ROLLBACK", ()))

    async def _run(self, *steps: Step) -> Sequence[Row]:
        try:
            return await to_its_end(self._writer.ask(*steps))
        except sqlite3.IntegrityError as error:
            raise _violation(error) from error
        except (sqlite3.Error, ValueError) as error:
            raise _unavailable(error) from error


def _typed(rows: Sequence[Row], compiled: Compiled) -> Sequence[Row]:
    """SQLite keeps truth values as numbers. Its driver could turn them back, but would look
    up the type of each column with each question, which takes longer than to answer it."""
    if not compiled.booleans:
        return rows
    typed = [list(row) for row in rows]
    for row in typed:
        for place in compiled.booleans:
            if row[place] is not None:
                row[place] = row[place] != 0
    return typed


def _violation(error: sqlite3.IntegrityError) -> Exception:
    if error.sqlite_errorname in {
        "SQLITE_CONSTRAINT_UNIQUE",
        "SQLITE_CONSTRAINT_PRIMARYKEY",
    }:
        # The message ends with the columns, each behind its table and a dot.
        return UniqueViolation(str(error).rsplit(".", 1)[-1])
    if error.sqlite_errorname in {
        "SQLITE_CONSTRAINT_FOREIGNKEY",
        "SQLITE_CONSTRAINT_TRIGGER",
    }:
        return ForeignKeyViolation(str(error))
    return error


def _unavailable(error: Exception) -> Unavailable:
    name = getattr(error, "sqlite_errorname", "")
    if name in {"SQLITE_FULL", "SQLITE_IOERR_WRITE"}:
        return Unavailable("The database has no room left; nothing was changed.", code="disk_full")
    if name.startswith("SQLITE_BUSY"):
        return Unavailable("The database is busy; try again.")
    return Unavailable("The database cannot be used right now; try again later.")
