"""The shared database: PostgreSQL, for a service on several hosts."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import asyncpg
from sqlalchemy.dialects import postgresql

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.address import PostgresAddress
from phoneprov_adapters.sql.engines.connection import Connection, Row, version_at
from phoneprov_adapters.sql.engines.deadlines import Deadlines
from phoneprov_adapters.sql.engines.hosts import Hosts, Opened, log_host_failure
from phoneprov_adapters.sql.engines.postgres_errors import FAILURES, translated
from phoneprov_adapters.sql.engines.postgres_pool import PostgresPool
from phoneprov_adapters.sql.engines.postgres_reading import ReadConnection, compiled_for
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.engines.timelines import Timelines
from phoneprov_adapters.sql.engines.transaction import Shared, SqlTransaction
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.trail import Trail

# The isolation is named because a server may have another default.
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"

_LOOK_SECONDS = 0.25
_OVERDUE_SECONDS = 1.0
"""After this time without a response it is checked whether the host answers at all."""

log = logging.getLogger("phoneprov.database")


class PostgresDatabase(ReadAndWrite[SqlTransaction]):
    """A PostgreSQL database, shared by every process that serves. ``box`` encrypts the
    secrets that are kept in it.

    Reading goes without a transaction, question by question or several at a time. Writing is
    one transaction at READ COMMITTED: what must not be lost to a race rests on single
    statements, unique constraints, and the locks that ``find`` and ``one_at_a_time`` take.

    Everything has a deadline, and a connection that anything is in doubt about is closed: the
    server then takes back what it had begun. The next request makes a new one, so that
    service goes on by itself when the database is back.

    Behind a pgbouncer in transaction mode (option ``pgbouncer=true``) the deadlines travel
    with each writing transaction; what is read there is bound by our own deadline only, unless
    the database's user is given a ``statement_timeout``.
    """

    def __init__(
        self,
        url: str,
        box: SecretBox,
        deadlines: Deadlines | None = None,
        timelines: Timelines | None = None,
    ) -> None:
        self.url = url
        address = PostgresAddress.parse(url)
        self._hosts = Hosts(address, timelines)
        self._box = box
        self._deadlines = deadlines = deadlines or Deadlines()
        self._begin = _BEGIN
        if address.pgbouncer:
            # In the same message: it costs no round trip.
            settings = (f"SET LOCAL {name} = {v}" for name, v in deadlines.settings().items())
            self._begin = ";".join([_BEGIN, *settings])
        self._pool: PostgresPool | None = None
        self._watching: asyncio.Task[None] | None = None
        # What is read holds nothing: all who read share it.
        self._read_connection = ReadConnection(self.answered, deadlines.wait)
        self._reading = Shared(SqlTransaction(self._read_connection, box))

    async def open(self) -> None:
        """Connect, to see that it works. The schema must exist already. Raises
        ``Unavailable``; the database is open all the same, and works when the server does.
        Raises ``NotPostgres``."""
        pool = self._pool = PostgresPool(self._connect, self._deadlines.wait)
        self._watching = asyncio.create_task(self._watch(pool))
        opened = await pool.borrow()
        usable = False
        try:
            await _check_durability(opened.driver)
            usable = True
        except FAILURES as error:
            raise translated(error) from error
        finally:
            pool.give_back(opened, usable=usable)

    async def _connect(self) -> Opened:
        return await self._hosts.connect(
            self._deadlines.connect,
            self._deadlines.answer,
            {"application_name": "phoneprov", **self._deadlines.settings()},
        )

    async def _watch(self, pool: PostgresPool) -> None:
        """Close all connections when their host falls silent, if there is another, or when a
        newer primary was seen by this process or another one on this host."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            replaced = [opened for opened in pool.connections if opened.timeline]
            if replaced and await self._hosts.is_replaced(min(replaced, key=_timeline)):
                pool.forget_all()
            lent = pool.longest_lent()
            if self._hosts.several and lent is not None and lent[1] > _OVERDUE_SECONDS:
                host = lent[0].host
                if not await self._hosts.answers(host):
                    self._hosts.put_last(host)
                    pool.forget_all()

    async def close(self) -> None:
        """Close the connections; to be called when they are no longer in use."""
        pool, self._pool = self._pool, None
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
            await asyncio.wait([watching])
        if pool is not None:
            await pool.close()

    async def schema_version(self) -> str | None:
        """The step of the schema's history that it stands at, or None. Raises
        ``Unavailable``."""
        return await version_at(self._read_connection)

    def read(self) -> AbstractAsyncContextManager[SqlTransaction]:
        return self._reading

    async def answered(self, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
        """The rows of one query, outside of any transaction, on a connection that is free."""
        pool, began = self._require_pool(), time.monotonic()
        opened = await pool.borrow()
        left = self._deadlines.total - (time.monotonic() - began)
        timeout = left if left < self._deadlines.answer else None
        usable = False
        try:
            rows: list[Row] = await opened.driver.fetch(sql, *parameters, timeout=timeout)
            usable = True
        except FAILURES as error:
            usable, lost = _usable_and_lost(error)
            if lost:
                self._lose(opened, error)
            raise translated(error) from error
        finally:
            pool.give_back(opened, usable=usable)
        return rows

    def _lose(self, opened: Opened, error: Exception) -> None:
        """A connection failed: close the idle ones, and try the other hosts first."""
        log_host_failure(opened.host, error)
        if self._pool is not None:
            self._pool.forget_idle()
        if isinstance(error, asyncpg.ReadOnlySQLTransactionError | OSError):
            self._hosts.put_last(opened.host)

    def _require_pool(self) -> PostgresPool:
        if self._pool is None:
            raise Unavailable("The database is not open.")
        return self._pool

    @asynccontextmanager
    async def write(self, *, by: Actor | None = None) -> AsyncIterator[SqlTransaction]:
        async with self._lent() as connection:
            connection.trail = Trail(by)
            await connection.begin(self._begin)
            transaction = SqlTransaction(connection, self._box)
            yield transaction
            await transaction.audit.add_trail()
            await connection.commit()

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[_WriteConnection]:
        pool = self._require_pool()
        deadline = asyncio.timeout(self._deadlines.total)
        try:
            async with deadline:
                opened = await pool.borrow()
                connection = _WriteConnection(opened.driver, deadline)
                try:
                    yield connection
                finally:
                    try:
                        await connection.settle(self._deadlines.rollback)
                    finally:
                        pool.give_back(opened, usable=connection.usable)
                        if connection.lost is not None:
                            self._lose(opened, connection.lost)
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise translated(error) from error


class _WriteConnection(Connection):
    """``usable`` says whether the connection can be used again; ``lost`` is the error after
    which the other connections are in doubt as well."""

    writing = True
    insert = staticmethod(postgresql.insert)

    def __init__(self, driver: asyncpg.Connection, deadline: asyncio.Timeout) -> None:
        self._driver = driver
        self._deadline = deadline
        self.usable = True
        self.lost: Exception | None = None
        self._begun = False

    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        compiled = compiled_for(statement)
        return await self._run(compiled.sql, compiled.parameters(values))

    async def one_at_a_time(self) -> None:
        await self._run("SELECT version_num FROM alembic_version FOR UPDATE", [])

    async def _run(self, sql: str, parameters: list[Any]) -> Sequence[Row]:
        try:
            rows: list[Row] = await self._driver.fetch(sql, *parameters)
        except FAILURES as error:
            self._doubt(error)
            raise translated(error) from error
        return rows

    async def begin(self, sql: str) -> None:
        """Begin the transaction."""
        self._begun = True
        try:
            await self._driver.execute(sql)
        except FAILURES as error:
            self._doubt(error)
            raise translated(error) from error

    async def commit(self) -> None:
        """Commit. Its answer has a deadline of its own: that the rest took long must not hide
        whether the change was kept."""
        self._deadline.reschedule(None)
        try:
            ended = await self._driver.execute("COMMIT")
        except FAILURES as error:
            self._doubt(error)
            if not self.usable:
                raise Unavailable(
                    "The database was lost while it saved: whether the change was kept is not"
                    " known; look before trying again."
                ) from error
            raise translated(error) from error
        self._begun = False
        if ended != "COMMIT":
            # A statement had failed, and whoever called went on in spite of it.
            raise Unavailable("The database took the change back; nothing was changed.")

    async def settle(self, seconds: float) -> None:
        """Take back what was begun and not committed."""
        if not self._begun or not self.usable:
            return
        self.usable = False
        try:
            # Waits first until a statement that was cancelled has stopped.
            async with asyncio.timeout(seconds):
                await self._driver.execute("ROLLBACK")
            self.usable = True
        except FAILURES as error:
            self._doubt(error)

    def _doubt(self, error: Exception) -> None:
        usable, lost = _usable_and_lost(error)
        self.usable &= usable
        if lost:
            self.lost = error


def _usable_and_lost(error: Exception) -> tuple[bool, bool]:
    """An error that the server reports of a statement ends no connection; all others may."""
    if isinstance(error, asyncpg.PostgresError) and error.severity_en == "ERROR":
        # A standby that was the primary: a new connection finds the new one.
        return True, isinstance(error, asyncpg.ReadOnlySQLTransactionError)
    return False, True


def _timeline(opened: Opened) -> int:
    return opened.timeline


async def _check_durability(connection: asyncpg.Connection) -> None:
    for setting in ("fsync", "synchronous_commit"):
        if await connection.fetchval("SELECT current_setting($1)", setting) == "off":
            log.warning("The database may lose what it acknowledged: %s is off.", setting)
