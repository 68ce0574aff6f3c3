"""The embedded database: SQLite, one writer and a few readers over one file.

Set up so that what was acknowledged survives a crash and a power failure: write-ahead log
with ``synchronous=FULL``; every writing transaction begins with ``BEGIN IMMEDIATE``, so that
it never meets a busy database half-way.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
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
from phoneprov_adapters.sql.statements import Compiler, Statement
from phoneprov_adapters.sql.transaction import SqlTransaction
from phoneprov_adapters.sql.waiting import to_its_end
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.store import ReadAndWrite

READERS = 4
BUSY_SECONDS = 10

# Booleans come back as booleans, as from any other database.
sqlite3.register_converter("BOOLEAN", lambda stored: stored != b"0")

_compiled = Compiler(dialect.dialect(paramstyle="qmark"))


class SqliteDatabase(ReadAndWrite[SqlTransaction]):
    """A SQLite file. ``box`` encrypts the secrets that are kept in it."""

    def __init__(self, path: Path, box: SecretBox) -> None:
        self._path = path
        self._box = box
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
            for _ in range(READERS):
                self._readers.append(await _connect(self._path))
        except sqlite3.Error as error:
            await self.close()
            raise _unavailable(error) from error

    async def close(self) -> None:
        """Close the connections; to be called when nothing uses them any more."""
        writer, self._writer = self._writer, None
        for connection in (writer, *self._readers):
            if connection is not None:
                await connection.close()
        self._readers.clear()

    async def schema_version(self) -> str | None:
        """The step of the schema's history that it stands at, or None. Raises
        ``Unavailable``."""
        async with self._reader() as connection:
            return await version_at(_SqliteConnection(connection, writing=False))

    @asynccontextmanager
    async def read(self) -> AsyncIterator[SqlTransaction]:
        async with self._reader() as connection:
            yield SqlTransaction(_SqliteConnection(connection, writing=False), self._box)

    @asynccontextmanager
    async def _reader(self) -> AsyncIterator[aiosqlite.Connection]:
        if self._writer is None:
            raise Unavailable("The database is not open.")
        async with self._reader_free:
            connection = self._readers.pop()
            try:
                yield connection
            finally:
                # A query that was cancelled may still run in the connection's thread;
                # whatever comes next waits behind it there.
                self._readers.append(connection)

    @asynccontextmanager
    async def write(self) -> AsyncIterator[SqlTransaction]:
        if self._writer is None:
            raise Unavailable("The database is not open.")
        writer = self._writer
        async with self._one_writer:
            connection = _SqliteConnection(writer, writing=True)
            try:
                await connection.command("BEGIN IMMEDIATE")
                yield SqlTransaction(connection, self._box)
                await connection.command("COMMIT")
            finally:
                if writer.in_transaction:
                    await connection.command("ROLLBACK")


class _SqliteConnection(Connection):
    insert = staticmethod(dialect.insert)

    def __init__(self, connection: aiosqlite.Connection, *, writing: bool) -> None:
        self._connection = connection
        self.writing = writing

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

    async def _run(self, sql: str, parameters: Iterable[Any]) -> Sequence[Row]:
        work = self._connection.execute_fetchall(sql, parameters)
        try:
            rows = await (to_its_end(work) if self.writing else work)
        except sqlite3.IntegrityError as error:
            raise _violation(error) from error
        except (sqlite3.Error, ValueError) as error:
            raise _unavailable(error) from error
        return list(rows)


async def _connect(path: Path) -> aiosqlite.Connection:
    connection = await aiosqlite.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        detect_types=sqlite3.PARSE_DECLTYPES,
        cached_statements=256,
    )
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        await connection.execute_fetchall(f"PRAGMA {pragma}")
    (enforced,) = next(iter(await connection.execute_fetchall("PRAGMA foreign_keys")))
    if not enforced:
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
