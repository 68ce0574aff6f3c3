"""The memory database: the SQL stores over SQLite in memory, without files and threads."""

import asyncio
import sqlite3
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

from phoneprov_adapters.runtime.tasks import random_id
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.connection import Context, Row
from phoneprov_adapters.sql.engines.sqlite import SqliteReadConnection
from phoneprov_adapters.sql.engines.sqlite_writing import Step, WriteConnection, executed
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_adapters.sql.maintenance.schema import statements_of
from phoneprov_adapters.sql.stores.people.audit import ADD_ENTRY
from phoneprov_core.kernel.actor import Actor, Trail
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.ports import ReadAndWrite

Millis = Callable[[], int]
"""A clock, in milliseconds."""

_PATH = Path(":memory:")
_BOX = SecretBox(SecretKeys.parse("what is in memory is open to all"))


@cache
def _empty() -> bytes:
    """An empty database, as SQLite would write it to a file. Made once: a copy of it takes less
    than a millisecond."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        # Small pages: each transaction copies all pages.
        connection.execute("PRAGMA page_size=512")
        for statement in statements_of("sqlite"):
            connection.execute(statement)
        return connection.serialize()


class _Sqlite:
    """A database in memory, used like a connection of aiosqlite. Each statement runs in the turn of
    the event loop that asks for it, and its result is returned in a later turn: as with a real
    database, other tasks run in between."""

    def __init__(self, clock: Millis) -> None:
        self._clock = clock
        self._connection, _ = self._connect(_empty())
        # The database as it was before the open transaction, and a connection to it.
        self._image = b""
        self._committed: sqlite3.Connection | None = None
        self._close_committed: Callable[[], object] = int
        self.is_open = True

    def _connect(self, image: bytes) -> tuple[sqlite3.Connection, Callable[[], object]]:
        """A connection to a copy of the database, and the function that closes it."""
        clock = self._clock
        # Event loops in several threads may use it, one after the other.
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        close = weakref.finalize(self, connection.close)
        connection.deserialize(image)
        connection.execute("PRAGMA foreign_keys=ON")
        # The function that ``now_ms`` calls.
        connection.create_function(
            "julianday", 1, lambda _: (clock() + 0.5) / 86_400_000 + 2_440_587.5
        )
        return connection, close

    def require_open(self) -> None:
        """Raises ``Unavailable`` if it was closed."""
        if not self.is_open:
            raise Unavailable("The database is not open.")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

    async def execute_steps(self, steps: Sequence[Step]) -> list[Row]:
        """The rows of the last of some statements."""
        if not self.in_transaction:
            self._image = self._connection.serialize()
        try:
            return executed(self._connection, steps)
        finally:
            if not self.in_transaction:
                self._forget_committed()
            await asyncio.sleep(0)

    def abandon(self) -> None:
        """Roll back the open transaction, if any."""
        self._connection.rollback()
        self._forget_committed()

    def _forget_committed(self) -> None:
        self._image = b""
        self._committed = None
        self._close_committed()

    async def committed_rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Any]:
        """The rows of a query that does not see the changes of the open transaction."""
        await asyncio.sleep(0)
        self.require_open()
        if not sql.startswith(("SELECT", "WITH")):
            raise RuntimeError("this transaction was opened for reading")
        if not self.in_transaction:
            return self._connection.execute(sql, parameters).fetchall()
        if self._committed is None:
            self._committed, self._close_committed = self._connect(self._image)
        return self._committed.execute(sql, parameters).fetchall()


class _SqliteOfOne(_Sqlite):
    """A database whose statements are executed at once: no other task runs in between, so that
    none sees an open transaction that awaits nothing else. No copy is made. ``worked`` is called
    with each number of statements of writing transactions; one that reads is a third."""

    worked: Callable[[float], object] = float

    async def execute_steps(self, steps: Sequence[Step]) -> list[Row]:
        self.worked(len(steps))
        return executed(self._connection, steps)

    async def committed_rows(self, sql: str, parameters: Sequence[Any]) -> Sequence[Any]:
        self.worked(1 / 3)
        return self._connection.execute(sql, parameters).fetchall()

    def check_references(self, *, on: bool) -> None:
        """Whether references must have their target."""
        self._connection.execute(f"PRAGMA foreign_keys={'ON' if on else 'OFF'}")


def _now() -> int:
    return time.time_ns() // 1_000_000


class MemoryDatabase(ReadAndWrite[SqlTransaction]):
    """A database that ends with the process, for tests and trials.

    Writing transactions run one after the other; the changes of one are visible to others after it
    was committed, all at once, and never if it raised or was cancelled. ``clock`` is the clock of
    the database, in milliseconds: leases end by it. Event loops may use it one after the other.
    """

    def __init__(
        self,
        clock: Millis = _now,
        *,
        box: SecretBox = _BOX,
        sqlite: Callable[[Millis], _Sqlite] = _Sqlite,
    ) -> None:
        self.process = random_id()
        self._box = box
        self._sqlite = opened = sqlite(clock)
        reading = SqliteReadConnection(
            Context(box), _PATH, opened.committed_rows, opened.committed_rows
        )
        self._reading = nullcontext(SqlTransaction(reading))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._one_writer = asyncio.Lock()

    async def open(self) -> None:
        """Open; a new database is open already."""
        self._sqlite.is_open = True

    async def close(self) -> None:
        """Close; it can be opened again, and keeps its records."""
        self._sqlite.is_open = False

    def read(self) -> AbstractAsyncContextManager[SqlTransaction]:
        self._sqlite.require_open()
        return self._reading

    @asynccontextmanager
    async def write(self, *, by: Actor | None = None) -> AsyncIterator[SqlTransaction]:
        async with self._lock():
            self._sqlite.require_open()
            context = Context(self._box, self.process, Trail(by))
            connection = WriteConnection(context, _PATH, self._sqlite)
            try:
                transaction = SqlTransaction(connection)
                yield transaction
                for entry in transaction.audit.of_trail():
                    await connection.execute(ADD_ENTRY, **entry)
                await connection.commit()
            except BaseException:
                await connection.roll_back()
                raise

    def _lock(self) -> asyncio.Lock:
        """The lock of the running event loop. A transaction that another loop left open is rolled
        back."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._one_writer = loop, asyncio.Lock()
            self._sqlite.abandon()
        return self._one_writer


class TwinDatabase(MemoryDatabase):
    """A copy of some records of another database, whose secrets ``box`` opens. One event loop uses
    it."""

    def __init__(self, clock: Millis, box: SecretBox) -> None:
        self._copy = _SqliteOfOne(clock)
        super().__init__(clock, box=box, sqlite=lambda _: self._copy)

    def count(self, worked: Callable[[float], object]) -> None:
        """From now on call this with each number of statements that are executed; one that reads is
        a third."""
        self._copy.worked = worked

    async def fill(self, rows: Iterable[tuple[str, Sequence[Sequence[Any]]]]) -> None:
        """Write rows of tables. What they refer to may be missing: the other database may have
        changed between two of its queries."""
        self._copy.check_references(on=False)
        async with self.write() as tx:
            for table, records in rows:
                await tx.twin.load(table, records)
        self._copy.check_references(on=True)
