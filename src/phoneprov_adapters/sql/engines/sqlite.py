"""The embedded database: SQLite, one writer and a few readers over one file.

Queries for one row run on a reader that executes many at a time; longer ones have their own
connections, so that they do not delay others.

Acknowledged changes survive a crash and a power failure: write-ahead log with ``synchronous=FULL``.
Every writing transaction begins with ``BEGIN IMMEDIATE``, so that it cannot fail with SQLITE_BUSY
later.

The flush of a commit takes longer than all other work together. Waiting writers are therefore
committed together: the first keeps its transaction open, the waiting ones run in it, each with its
own savepoint, and then the first commits for all. No writer returns before that commit, and each
can be rolled back alone until then.
"""

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any

from phoneprov_adapters.runtime.tasks import to_its_end
from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.connection import Row, log_failure, version_at
from phoneprov_adapters.sql.engines.sqlite_connections import (
    DAMAGED,
    Group,
    SqliteReadConnection,
    WriteConnection,
    unavailable,
)
from phoneprov_adapters.sql.engines.sqlite_file import (
    PAGES,
    Checkpoints,
    damage_of,
    protect,
    require_content,
    warn_about_folder,
)
from phoneprov_adapters.sql.engines.sqlite_thread import SqliteThread
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_adapters.sql.stores.audit import ADD_ENTRY
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.trail import Trail

READERS = 4
BUSY_SECONDS = 10
_CHECK_EVERY_SECONDS = 10.0
"""How often the readiness check reads the file for damage."""

_OPTIONS: Any = {
    "timeout": BUSY_SECONDS,
    "isolation_level": None,
    "cached_statements": 256,
    # The connection is made and used in one thread, and closed there.
    "check_same_thread": True,
}


class SqliteDatabase(ReadAndWrite[SqlTransaction]):
    """A SQLite file. ``box`` encrypts the secrets in it."""

    def __init__(self, path: Path, box: SecretBox) -> None:
        self.path = path
        self._box = box
        self._is_open = False
        self._checked_at = -_CHECK_EVERY_SECONDS
        self._damage: str | None = None
        self._quick = SqliteThread(path, self._connect)
        self._writer = SqliteThread(path, self._connect)
        self._checkpoints = Checkpoints(self._connect)
        self._one_writer = asyncio.Lock()
        self._writers_waiting = 0
        self._group: Group | None = None
        self._readers: deque[SqliteThread] = deque()
        self._reader_free = asyncio.Semaphore(READERS)
        # Reads hold no state, so that all readers share it.
        self._read_connection = SqliteReadConnection(path, self.quick_rows, self.long_rows)
        self._reading = nullcontext(SqlTransaction(self._read_connection, box))

    @property
    def url(self) -> str:
        """The URL of the database in SQLAlchemy, for migrations."""
        return f"sqlite+aiosqlite:///{self.path}"

    def _connect(self) -> sqlite3.Connection:
        connection: sqlite3.Connection = sqlite3.connect(self.path, **_OPTIONS)
        for pragma in (
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
            f"wal_autocheckpoint={PAGES}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        if connection.execute("PRAGMA foreign_keys").fetchone() != (1,):
            raise sqlite3.OperationalError("foreign keys are not supported by this SQLite")
        return connection

    async def open(self) -> None:
        """Open the connections. The schema must exist already. Raises ``Unavailable``."""
        require_content(self.path)
        protect(self.path)
        warn_about_folder(self.path)
        try:
            await self._writer.open()
            await self._quick.open()
            for _ in range(READERS):
                reader = SqliteThread(self.path, self._connect)
                await reader.open()
                self._readers.append(reader)
            self._is_open = True
        except sqlite3.Error as error:
            await self.close()
            raise unavailable(error, self.path) from error

    async def close(self) -> None:
        """Close the connections; to be called when they are no longer in use."""
        self._is_open = False
        await self._checkpoints.close()
        for connection in (self._writer, self._quick, *self._readers):
            await connection.close()
        self._readers.clear()

    async def schema_version(self) -> str | None:
        """The revision of the schema, or None. Raises ``Unavailable``, for a damaged file
        too."""
        now = time.monotonic()
        if now - self._checked_at > _CHECK_EVERY_SECONDS:
            self._checked_at = now
            self._damage = await asyncio.to_thread(damage_of, self.path)
        if self._damage is not None:
            log_failure(f"file {self.path}", self._damage)
            raise Unavailable(DAMAGED)
        return await version_at(self._read_connection)

    def read(self) -> AbstractAsyncContextManager[SqlTransaction]:
        return self._reading

    async def quick_rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
        """The rows of a short query."""
        self._require_open()
        return await self._quick.ask((sql, parameters))

    async def long_rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
        """The rows of a query that may take long."""
        self._require_open()
        async with self._reader_free:
            reader = self._readers.pop()
            try:
                return await reader.ask((sql, parameters))
            finally:
                # A cancelled query may still run in the thread; the next one waits for it there.
                self._readers.append(reader)

    def _require_open(self) -> None:
        if not self._is_open:
            raise Unavailable("The database is not open.")

    @asynccontextmanager
    async def write(self, *, by: Actor | None = None) -> AsyncIterator[SqlTransaction]:
        self._require_open()
        joined, leads = False, False
        async with self._turn():
            group = self._group
            connection = WriteConnection(self._writer, Trail(by), within=group is not None)
            try:
                transaction = SqlTransaction(connection, self._box)
                yield transaction
                for entry in transaction.audit.of_trail():
                    await connection.soon(ADD_ENTRY, **entry)
                if group is not None:
                    joined = await connection.release()
                elif self._writers_waiting and await connection.caught_up():
                    group = self._group = Group()
                    leads = True
                else:
                    await connection.commit()
                    self._checkpoints.committed()
            except BaseException as error:
                await connection.settle()
                if group is not None and not self._writer.in_transaction:
                    # Some errors roll back the whole transaction, and not only this part.
                    self._group = None
                    group.fail(error)
                raise
        if group is not None and leads:
            await to_its_end(self._commit(group))
        elif group is not None and joined:
            await to_its_end(group.committed())

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """The writing lock of this process; turns come in the order of the requests."""
        self._writers_waiting += 1
        try:
            await self._one_writer.acquire()
        finally:
            self._writers_waiting -= 1
        try:
            yield
        finally:
            self._one_writer.release()

    async def _commit(self, group: Group) -> None:
        """Commit for all writers that waited when this was called."""
        async with self._turn():
            if group is not self._group:
                await group.committed()
                return
            self._group = None
            connection = WriteConnection(self._writer, begun=True)
            try:
                await connection.commit()
                self._checkpoints.committed()
            except BaseException as error:
                await connection.settle()
                group.fail(error)
                raise
            group.succeed()
