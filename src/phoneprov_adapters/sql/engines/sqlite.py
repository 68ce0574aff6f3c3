"""The embedded database: SQLite, with connections for one writer and a few readers. Each connection
of aiosqlite has its own thread, so the event loop never waits for the disk.

Queries for one row share a connection. Longer queries use other connections, so short queries never
wait for them.

Acknowledged changes survive a crash and a power failure: write-ahead log with ``synchronous=FULL``.
Every writing transaction begins with ``BEGIN IMMEDIATE``, so that it cannot fail with SQLITE_BUSY
later.

Flushing a commit to the disk takes longer than all other work together. Waiting writers are
therefore committed as a group: the first writer keeps its transaction open, each waiting writer
runs in this transaction with its own savepoint, and then the first writer commits all changes.
Until then each writer can be rolled back alone. No writer returns before the commit.
"""

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from os.path import samestat
from pathlib import Path
from typing import Any, TypeAlias

from phoneprov_adapters.runtime.tasks import random_id, to_its_end
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.sql.engines.connection import (
    Compiled,
    Connection,
    Context,
    Row,
    first,
    log_failure,
    revision_at,
)
from phoneprov_adapters.sql.engines.processes import UseLock
from phoneprov_adapters.sql.engines.sqlite_file import (
    connection_to,
    damage_of,
    has_log,
    protect,
    require_content,
    warn_about_folder,
)
from phoneprov_adapters.sql.engines.sqlite_writing import (
    BUSY,
    DAMAGED,
    REPLACED,
    UNUSABLE,
    Checkpoints,
    Drivers,
    WriteConnection,
    compiled_as_json,
    compiled_for,
    unavailable,
)
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_adapters.sql.stores.people.audit import ADD_ENTRY
from phoneprov_core.kernel.actor import Actor, Trail
from phoneprov_core.kernel.errors import DiskFull, NotWritable, Unavailable
from phoneprov_core.kernel.ports import Clock, ReadAndWrite

LOOK_SECONDS = 1.0
"""Seconds between two checks by reads that the opened file is still in place. Each change checks
it."""
_CHECK_EVERY_SECONDS = 10.0
"""Seconds between two checks of the file for damage, and between two trial writes, by the readiness
check."""

Ask: TypeAlias = Callable[[str, Sequence[Any]], Awaitable[Iterable[Any]]]
Group: TypeAlias = "asyncio.Future[Unavailable | None]"
"""The result of transactions that are committed together: None, or the error that rolled them
back."""


class SqliteReadConnection(Connection):
    """``short`` executes queries for one row, ``long`` executes queries that may take long."""

    def __init__(self, context: Context, path: Path, short: Ask, long: Ask) -> None:
        super().__init__(context)
        self._path = path
        self._short = short
        self._long = long

    async def fetch_all(self, statement: Statement, **values: Any) -> Sequence[Row]:
        return await self._fetch(self._long, compiled_as_json(statement), values)

    async def fetch_one(self, statement: Statement, **values: Any) -> Row | None:
        return first(await self._fetch(self._short, compiled_for(statement), values))

    async def _fetch(self, ask: Ask, compiled: Compiled, values: dict[str, Any]) -> Sequence[Row]:
        try:
            rows = await ask(compiled.sql, compiled.parameters(values))
        except (sqlite3.Error, ValueError) as error:
            raise unavailable(error, self._path) from error
        return compiled.typed(list(rows))


class SqliteDatabase(ReadAndWrite[SqlTransaction]):
    """A SQLite file. ``box`` encrypts the secrets in the file. ``process`` is the holder of the
    leases that this object acquires, ``clock`` the clock of the audit trail."""

    def __init__(self, path: Path, box: SecretBox, clock: Clock | None = None) -> None:
        self.path = path
        self.process = random_id()
        self._box, self._clock = box, clock
        self._is_open = False
        # Opened read-only: the disk has no room for the files that SQLite needs for changes.
        self._is_frozen = False
        self._opened_file: os.stat_result | None = None
        self._looked_at = 0.0
        self._lock: UseLock | None = None
        self._checked_at = self._tried_at = -_CHECK_EVERY_SECONDS
        self._refused: NotWritable | None = None
        self._locked_at = 0.0
        self._damage: str | None = None
        self._drivers = Drivers(self._connect)
        self._checkpoints = Checkpoints(self._connect)
        self._one_writer = asyncio.Lock()
        self._writers_waiting = 0
        self._group: Group | None = None
        # Reads hold no state, so that all readers share it.
        self._read_connection = SqliteReadConnection(
            Context(box), path, self._short_rows, self._long_rows
        )
        self._reading = nullcontext(SqlTransaction(self._read_connection))

    @property
    def url(self) -> str:
        """The URL of the database in SQLAlchemy, for migrations."""
        return f"sqlite+aiosqlite:///{self.path}"

    def _connect(self) -> sqlite3.Connection:
        return connection_to(self.path, frozen=self._is_frozen)

    async def open(self) -> None:
        """Open the connections. The schema must exist already. Raises ``Unavailable``."""
        require_content(self.path)
        protect(self.path)
        warn_about_folder(self.path)
        self._lock = UseLock(self.path)
        try:
            await self._lock.share()
            try:
                await self._open_all()
            except sqlite3.Error as error:
                full = unavailable(error, self.path)
                if not isinstance(full, DiskFull) or has_log(self.path):
                    raise
                self._is_frozen, self._refused = True, full
                await self._open_all()
            self._opened_file = self.path.stat()
            self._is_open = True
        except BaseException as error:
            await self.close()
            if isinstance(error, sqlite3.Error | OSError):
                raise unavailable(error, self.path) from error
            raise

    async def close(self) -> None:
        """Close the connections; to be called when they are no longer in use."""
        self._is_open = self._is_frozen = False
        await self._checkpoints.close()
        await to_its_end(self._drivers.close())
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    async def _open_all(self) -> None:
        await to_its_end(self._drivers.close())
        self._drivers = Drivers(self._connect)
        await self._drivers.open()

    async def _thaw(self) -> None:
        """Reopen a read-only file for reading and changes. Raises ``Unavailable``."""
        async with self._one_writer:
            if not self._is_frozen:
                return
            frozen, self._is_frozen = self._drivers, False
            self._drivers = Drivers(self._connect)
            try:
                await self._drivers.open()
            except BaseException as error:
                await to_its_end(self._drivers.close())
                self._drivers, self._is_frozen = frozen, True
                if isinstance(error, sqlite3.Error):
                    raise unavailable(error, self.path) from error
                raise
        await to_its_end(frozen.close())

    async def revision(self) -> str | None:
        """The revision of the schema, or None. Raises ``Unavailable``, also for a damaged file."""
        self._require_same_file()
        now = time.monotonic()
        if now - self._checked_at > _CHECK_EVERY_SECONDS:
            self._checked_at = now
            self._damage = await asyncio.to_thread(damage_of, self.path)
        if self._damage is not None:
            log_failure(f"file {self.path}", self._damage)
            raise Unavailable(DAMAGED)
        return await revision_at(self._read_connection)

    async def require_privileges(self) -> None:
        """A file has no users: does nothing."""

    async def require_writable(self) -> None:
        """Raises ``Unavailable`` if changes cannot be stored. Makes a trial write every ten
        seconds, and at each call while changes fail."""
        now = time.monotonic()
        if self._refused is None and now - self._tried_at < _CHECK_EVERY_SECONDS:
            return
        self._require_open()
        if self._is_frozen:
            await self._thaw()
        async with self._writing():
            if self._group is not None:
                return  # the commit of the group sets ``_refused``
            connection = WriteConnection(Context(self._box), self.path, self._drivers.writer)
            try:
                await connection.touch()
                await self._commit(connection)
            except BaseException as error:
                await connection.roll_back()
                self._note(error)
                raise
            self._tried_at = now

    def _note(self, error: BaseException) -> None:
        """Remember a failed change for the readiness check and for waiting writers."""
        if isinstance(error, NotWritable):
            self._refused = error
        if isinstance(error, Unavailable) and error.message == BUSY:
            self._locked_at = time.monotonic()

    def read(self) -> AbstractAsyncContextManager[SqlTransaction]:
        return self._reading

    async def _short_rows(self, sql: str, parameters: Sequence[Any]) -> Iterable[Any]:
        self._require_open()
        return await self._drivers.short.execute_fetchall(sql, parameters)

    async def _long_rows(self, sql: str, parameters: Sequence[Any]) -> Iterable[Any]:
        self._require_open()
        return await self._drivers.rows(sql, parameters)

    def _require_open(self) -> None:
        if not self._is_open:
            raise Unavailable("The database is not open.")
        if time.monotonic() - self._looked_at > LOOK_SECONDS:
            self._require_same_file()

    def _require_same_file(self) -> None:
        """Raises ``Unavailable`` if the file was moved, replaced or removed: the open connections
        would still use the old file."""
        opened = self._opened_file
        try:
            is_same = opened is None or samestat(self.path.stat(), opened)
        except OSError:
            is_same = False
        if not is_same:
            log_failure(f"file {self.path}", REPLACED)
            raise Unavailable(REPLACED)
        self._looked_at = time.monotonic()

    @asynccontextmanager
    async def write(self, *, by: Actor | None = None) -> AsyncIterator[SqlTransaction]:
        self._require_open()
        if self._is_frozen:
            await self._thaw()
        leads, asked = False, time.monotonic()
        async with self._writing():
            group = self._group
            if group is None and asked < self._locked_at:
                # Another process held the lock while this writer waited, and an earlier writer
                # timed out: this writer does not wait for a second timeout.
                raise Unavailable(BUSY)
            context = Context(self._box, self.process, Trail(by))
            within = group is not None
            connection = WriteConnection(context, self.path, self._drivers.writer, within=within)
            try:
                transaction = SqlTransaction(connection)
                yield transaction
                for entry in transaction.audit.of_trail(self._clock):
                    await connection.execute(ADD_ENTRY, **entry)
                leads = group is None and self._writers_waiting > 0 and connection.begun
                if leads:
                    await connection.flush()
                    group = self._group = asyncio.get_running_loop().create_future()
                else:
                    await self._commit(connection)
            except BaseException as error:
                self._note(error)
                if not await connection.roll_back() and group is not None:
                    self._end(group, error)
                raise
        if group is not None and connection.begun:
            await to_its_end(self._commit_all(group, connection) if leads else _committed(group))

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
        """Hold the writing lock of this process; writers get it in the order of their requests."""
        self._writers_waiting += 1
        try:
            await self._one_writer.acquire()
        finally:
            self._writers_waiting -= 1
        try:
            yield
        finally:
            self._one_writer.release()

    async def _commit(self, connection: WriteConnection) -> None:
        self._require_same_file()
        await connection.commit()
        if self._group is None:
            self._refused = None
            self._checkpoints.committed()

    async def _commit_all(self, group: Group, connection: WriteConnection) -> None:
        """Commit the changes of all writers of the group."""
        async with self._writing():
            if group is self._group:
                try:
                    self._require_same_file()
                    await connection.commit()
                    self._refused = None
                    self._checkpoints.committed()
                except BaseException as error:
                    self._note(error)
                    await connection.roll_back()
                    self._end(group, error)
                    raise
                self._end(group)
        await _committed(group)

    def _end(self, group: Group, error: BaseException | None = None) -> None:
        self._group = None
        if error is not None and not isinstance(error, Unavailable):
            error = Unavailable(UNUSABLE)
        group.set_result(error)


async def _committed(group: Group) -> None:
    """Wait for the commit. Raises ``Unavailable`` if the changes were rolled back."""
    failure = await asyncio.shield(group)
    if failure is not None:
        raise type(failure)(failure.message, code=failure.code)
