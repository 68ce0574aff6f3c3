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
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from sqlalchemy.dialects import sqlite as dialect

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.connection import (
    Connection,
    ForeignKeyViolation,
    Row,
    UniqueViolation,
    version_at,
)
from phoneprov_adapters.sql.sqlite_reader import QuickReader
from phoneprov_adapters.sql.statements import Compiler, Statement
from phoneprov_adapters.sql.transaction import SqlTransaction
from phoneprov_adapters.sql.waiting import to_its_end
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.store import ReadAndWrite

READERS = 4
BUSY_SECONDS = 10

_OPTIONS: Any = {
    "timeout": BUSY_SECONDS,
    "isolation_level": None,
    "detect_types": sqlite3.PARSE_DECLTYPES,
    "cached_statements": 256,
    # The connection is made and used in one thread, and closed there.
    "check_same_thread": True,
}

Ask = Callable[[str, Sequence[Any]], Awaitable[Sequence[Row]]]

# Booleans come back as booleans, as from any other database.
sqlite3.register_converter("BOOLEAN", lambda stored: stored != b"0")

_compiled = Compiler(dialect.dialect(paramstyle="qmark"))


class SqliteDatabase(ReadAndWrite[SqlTransaction]):
    """A SQLite file. ``box`` encrypts the secrets that are kept in it."""

    def __init__(self, path: Path, box: SecretBox) -> None:
        self._path = path
        self._box = box
        self._quick = QuickReader(lambda: _set_up(sqlite3.connect(path, **_OPTIONS)))
        self._readers: deque[aiosqlite.Connection] = deque()
        self._reader_free = asyncio.Semaphore(READERS)
        self._writer: aiosqlite.Connection | None = None
        self._one_writer = asyncio.Lock()

    @property
    def url(self) -> str:
        """The address by which SQLAlchemy knows it, for migrations."""
        return f"sqlite+aiosqlite:///{self._path}"

    async def open(self) -> None:
        """Open the connections. The schema must be there already."""
        try:
            self._writer = await _connect(self._path)
            await self._quick.open()
            for _ in range(READERS):
                self._readers.append(await _connect(self._path))
        except sqlite3.Error as error:
            await self.close()
            raise _unavailable(error) from error

    async def close(self) -> None:
        """Close the connections; to be called when nothing uses them any more."""
        writer, self._writer = self._writer, None
        await self._quick.close()
        for connection in (writer, *self._readers):
            if connection is not None:
                await connection.close()
        self._readers.clear()

    async def schema_version(self) -> str | None:
        """The step of the schema's history that it stands at, or None. Raises
        ``Unavailable``."""
        return await version_at(_ReadConnection(self))

    @asynccontextmanager
    async def read(self) -> AsyncIterator[SqlTransaction]:
        yield SqlTransaction(_ReadConnection(self), self._box)

    async def quick_rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
        """The rows of a question for few of them."""
        self._require_open()
        return await self._quick.ask(sql, parameters)

    async def long_rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
        """The rows of a question that may take its time."""
        self._require_open()
        async with self._reader_free:
            connection = self._readers.pop()
            try:
                return list(await connection.execute_fetchall(sql, parameters))
            finally:
                # A query that was cancelled may still run in the connection's thread;
                # whatever comes next waits behind it there.
                self._readers.append(connection)

    def _require_open(self) -> aiosqlite.Connection:
        if self._writer is None:
            raise Unavailable("The database is not open.")
        return self._writer

    @asynccontextmanager
    async def write(self) -> AsyncIterator[SqlTransaction]:
        writer = self._require_open()
        async with self._one_writer:
            connection = _WriteConnection(writer)
            try:
                await connection.command("BEGIN IMMEDIATE")
                yield SqlTransaction(connection, self._box)
                await connection.command("COMMIT")
            finally:
                if writer.in_transaction:
                    await connection.command("ROLLBACK")


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
            return await ask(compiled.sql, compiled.parameters(values))
        except (sqlite3.Error, ValueError) as error:
            raise _unavailable(error) from error


class _WriteConnection(Connection):
    writing = True
    insert = staticmethod(dialect.insert)

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        compiled = _compiled(statement)
        return await self._run(compiled.sql, compiled.parameters(values))

    async def row(self, statement: Statement, **values: Any) -> Row | None:
        rows = await self.rows(statement, **values)
        return rows[0] if rows else None

    async def one_at_a_time(self, what: str) -> None:
        """Nothing to do: there is one writing transaction at a time."""

    async def command(self, sql: str) -> None:
        """Run a command without parameters."""
        await self._run(sql, ())

    async def _run(self, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
        try:
            rows = await to_its_end(self._connection.execute_fetchall(sql, parameters))
        except sqlite3.IntegrityError as error:
            raise _violation(error) from error
        except (sqlite3.Error, ValueError) as error:
            raise _unavailable(error) from error
        return list(rows)


async def _connect(path: Path) -> aiosqlite.Connection:
    return await aiosqlite.Connection(
        lambda: _set_up(sqlite3.connect(path, **_OPTIONS)), iter_chunk_size=64
    )


def _set_up(connection: sqlite3.Connection) -> sqlite3.Connection:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    if connection.execute("PRAGMA foreign_keys").fetchone() != (1,):
        raise sqlite3.OperationalError("foreign keys are not supported by this SQLite")
    return connection


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
