"""The shared database: PostgreSQL, for a service on several hosts."""

from __future__ import annotations

import asyncio
import hashlib
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
from phoneprov_adapters.sql.engines.postgres_errors import FAILURES, translated
from phoneprov_adapters.sql.engines.postgres_pool import PostgresPool
from phoneprov_adapters.sql.engines.postgres_reading import ReadConnection, compiled_for
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.engines.transaction import Shared, SqlTransaction
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_core.kernel.store import ReadAndWrite

# The isolation is named because a server may have another default.
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED"

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

    def __init__(self, url: str, box: SecretBox, deadlines: Deadlines | None = None) -> None:
        self.url = url
        self._address = PostgresAddress.parse(url)
        self._box = box
        self._deadlines = deadlines = deadlines or Deadlines()
        self._begin = _BEGIN
        if self._address.pgbouncer:
            # In the same message: it costs no round trip.
            settings = (f"SET LOCAL {name} = {v}" for name, v in deadlines.settings().items())
            self._begin = ";".join([_BEGIN, *settings])
        self._pool: PostgresPool | None = None
        # What is read holds nothing: all who read share it.
        self._read_connection = ReadConnection(self.answered, deadlines.wait)
        self._reading = Shared(SqlTransaction(self._read_connection, box))

    async def open(self) -> None:
        """Connect, to see that it works. The schema must be there already. Raises
        ``Unavailable``; but it is open all the same, and works when the server does."""
        pool = self._pool = PostgresPool(self._connect, self._deadlines.wait)
        connection = await pool.borrow()
        usable = False
        try:
            await _look_at_durability(connection)
            usable = True
        except FAILURES as error:
            raise translated(error) from error
        finally:
            pool.give_back(connection, usable=usable)

    async def _connect(self) -> asyncpg.Connection:
        return await self._address.connect(
            self._deadlines.connect,
            self._deadlines.answer,
            {"application_name": "phoneprov", **self._deadlines.settings()},
        )

    async def close(self) -> None:
        """Close the connections; to be called when nothing uses them any more."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def schema_version(self) -> str | None:
        """The step of the schema's history that it stands at, or None. Raises
        ``Unavailable``."""
        return await version_at(self._read_connection)

    def read(self) -> AbstractAsyncContextManager[SqlTransaction]:
        return self._reading

    async def answered(self, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
        """The rows of one question, asked outside of any transaction on whichever connection
        is free."""
        pool, began = self._require_pool(), time.monotonic()
        driver = await pool.borrow()
        left = self._deadlines.total - (time.monotonic() - began)
        timeout = left if left < self._deadlines.answer else None
        usable = lost = False
        try:
            rows: list[Row] = await driver.fetch(sql, *parameters, timeout=timeout)
            usable = True
        except FAILURES as error:
            usable, lost = _usable_and_lost(error)
            raise translated(error) from error
        finally:
            pool.give_back(driver, usable=usable)
            if lost:
                pool.forget_idle()
        return rows

    def _require_pool(self) -> PostgresPool:
        if self._pool is None:
            raise Unavailable("The database is not open.")
        return self._pool

    @asynccontextmanager
    async def write(self) -> AsyncIterator[SqlTransaction]:
        async with self._lent() as connection:
            await connection.begin(self._begin)
            yield SqlTransaction(connection, self._box)
            await connection.commit()

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[_WriteConnection]:
        pool = self._require_pool()
        deadline = asyncio.timeout(self._deadlines.total)
        try:
            async with deadline:
                driver = await pool.borrow()
                connection = _WriteConnection(driver, deadline)
                try:
                    yield connection
                finally:
                    try:
                        await connection.settle(self._deadlines.rollback)
                    finally:
                        pool.give_back(driver, usable=connection.usable)
                        if connection.lost:
                            pool.forget_idle()
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise translated(error) from error


class _WriteConnection(Connection):
    """``usable`` says whether another may have the connection next, ``lost`` that the others
    are not to be trusted either."""

    writing = True
    insert = staticmethod(postgresql.insert)

    def __init__(self, driver: asyncpg.Connection, deadline: asyncio.Timeout) -> None:
        self._driver = driver
        self._deadline = deadline
        self.usable = True
        self.lost = False
        self._begun = False

    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        compiled = compiled_for(statement)
        return await self._run(compiled.sql, compiled.parameters(values))

    async def one_at_a_time(self, what: str) -> None:
        await self._run("SELECT pg_advisory_xact_lock($1::bigint)", [lock_number(what)])

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
        usable, self.lost = _usable_and_lost(error)
        self.usable &= usable


def _usable_and_lost(error: Exception) -> tuple[bool, bool]:
    """An error that the server reports of a statement ends no connection; all others may."""
    if isinstance(error, asyncpg.PostgresError) and error.severity_en == "ERROR":
        # A standby that was the primary: a new connection finds the new one.
        return True, isinstance(error, asyncpg.ReadOnlySQLTransactionError)
    return False, True


def lock_number(what: str) -> int:
    """The advisory lock that stands for ``what``, the same in every process and version."""
    digest = hashlib.blake2b(f"phoneprov {what}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


async def _look_at_durability(connection: asyncpg.Connection) -> None:
    for setting in ("fsync", "synchronous_commit"):
        if await connection.fetchval("SELECT current_setting($1)", setting) == "off":
            log.warning("The database may lose what it acknowledged: %s is off.", setting)
