"""The shared database: PostgreSQL, for a service on several hosts."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from operator import attrgetter
from typing import Any

import asyncpg
from msgspec import Struct

from phoneprov_adapters.runtime.tasks import random_id
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.sql.engines.address import PostgresAddress
from phoneprov_adapters.sql.engines.connection import Context, Row, revision_at
from phoneprov_adapters.sql.engines.hosts import Hosts, Opened, log_host_failure
from phoneprov_adapters.sql.engines.postgres_reading import PostgresPool, PostgresReadConnection
from phoneprov_adapters.sql.engines.postgres_writing import (
    BEGIN,
    FAILURES,
    WriteConnection,
    begin_with,
    translated,
    usable_and_lost,
)
from phoneprov_adapters.sql.engines.revisions import (
    REVISION,
    TOUCH_REVISION,
    Timelines,
    revision_table,
)
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_adapters.sql.tables import metadata
from phoneprov_adapters.sql.tables.people import audit
from phoneprov_core.kernel.actor import Actor, Trail
from phoneprov_core.kernel.errors import NotWritable, Unavailable
from phoneprov_core.kernel.ports import Clock, ReadAndWrite

_LOOK_SECONDS = 0.25
_OVERDUE_SECONDS = 1.0
"""Seconds without a response after which the host is checked."""

_UNSAFE = """
    SELECT name FROM pg_settings
    WHERE name IN ('fsync', 'synchronous_commit') AND setting = 'off' ORDER BY name"""

_ALL = "SELECT,INSERT,UPDATE,DELETE"
PRIVILEGES = {
    **dict.fromkeys(metadata.tables, _ALL),
    # Entries need not be changed or removed; ``REQUIRE_REVISION`` updates the revision.
    audit.name: "SELECT,INSERT",
    revision_table.name: "SELECT,UPDATE",
}
"""The privileges that the service needs, by table."""

_MISSING = """
    SELECT current_user, "table", privilege
    FROM unnest($1::text[], $2::text[]) AS needed ("table", privileges),
         unnest(string_to_array(privileges, ',')) AS privilege
    WHERE has_table_privilege(to_regclass(quote_ident("table")), privilege) IS NOT TRUE"""

log = logging.getLogger("phoneprov.database")


class Deadlines(Struct, frozen=True):
    """Deadlines of calls to PostgreSQL, in seconds.

    ``statement`` is the server's timeout for each statement, including waiting for locks; the
    server then reports an error. ``answer`` is the client's timeout for a response: after it the
    network or the server has failed. ``total`` is for a read query, or for a writing transaction
    without its commit; it starts when the connection is free. ``wait`` is for waiting for a free
    connection, which may take long, because writers of one record wait for each other. ``connect``
    is for a new connection, ``rollback`` for a rollback.
    """

    connect: float = 3.0
    wait: float = 10.0
    statement: float = 4.0
    answer: float = 5.0
    total: float = 10.0
    rollback: float = 2.0

    def settings(self) -> dict[str, str]:
        """The timeouts that the server enforces. If the service's host disappears during a
        transaction, the server releases the locks after the longest time of a transaction."""
        return {
            "statement_timeout": f"{self.statement * 1000:.0f}",
            "idle_in_transaction_session_timeout": f"{(self.total + self.answer) * 1000:.0f}",
        }


class PostgresDatabase(ReadAndWrite[SqlTransaction]):
    """A PostgreSQL database, shared by every process of the service. ``box`` encrypts the secrets
    in the database. ``process`` is the holder of the leases that this object acquires, ``clock``
    the clock of the audit trail.

    Reads run without a transaction, one query or several at a time. A write is one transaction at
    READ COMMITTED: single statements, unique constraints, and the locks of ``find`` and
    ``LOCK_REVISION`` exclude races.

    Every call has a deadline, and a connection in an uncertain state is closed: the server then
    rolls back its transaction. The next request opens a new connection, so that the service
    recovers when the database is available again.

    With a pgbouncer in transaction mode (option ``pgbouncer=true``) the deadlines are sent with
    each writing transaction; reads have the client's deadline only, unless the database user has a
    ``statement_timeout``.
    """

    def __init__(
        self,
        url: str,
        box: SecretBox,
        deadlines: Deadlines | None = None,
        timelines: Timelines | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.url = url
        self.process = random_id()
        address = PostgresAddress.parse(url)
        self._hosts = Hosts(address, timelines)
        self._box, self._clock = box, clock
        self._deadlines = deadlines = deadlines or Deadlines()
        self._begin = BEGIN
        if address.pgbouncer:
            # Sent in the message that begins the transaction, without another round trip.
            settings = deadlines.settings().items()
            self._begin = begin_with([f"SET LOCAL {name} = {value}" for name, value in settings])
        self._refused = False
        self._pool: PostgresPool | None = None
        self._watching: asyncio.Task[None] | None = None
        # All readers share one connection object: it holds no state of a single read.
        self._read_connection = PostgresReadConnection(Context(box), self.answered)
        self._reading = nullcontext(SqlTransaction(self._read_connection))

    async def open(self) -> None:
        """Connect, to check that the database works. The schema must exist already. Raises
        ``Unavailable``; the database is open in any case, and works as soon as the server does.
        Raises ``NotPostgres``."""
        pool = self._pool = PostgresPool(self._connect, self._deadlines.wait)
        self._watching = asyncio.create_task(self._watch(pool))
        for (setting,) in await self.answered(_UNSAFE, ()):
            log.warning("The database may lose what it acknowledged: %s is off.", setting)

    async def _connect(self) -> Opened:
        return await self._hosts.connect(
            self._deadlines.connect,
            self._deadlines.answer,
            {"application_name": "phoneprov", **self._deadlines.settings()},
        )

    async def _watch(self, pool: PostgresPool) -> None:
        """Close all connections when their host stops responding and the URL names another one, or
        when a process on this host has seen a newer primary."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            known = [opened for opened in pool.connections if opened.timeline]
            oldest = min(known, key=attrgetter("timeline"), default=None)
            if oldest is not None and await self._hosts.is_replaced(oldest):
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

    async def revision(self) -> str | None:
        """The revision of the schema, or None. Raises ``Unavailable``."""
        try:
            return await revision_at(self._read_connection)
        except Unavailable as error:
            if isinstance(error.__cause__, asyncpg.UndefinedTableError):
                return None
            raise

    async def require_privileges(self) -> None:
        """Raises ``Unavailable`` if the database user lacks a privilege on a table."""
        missing = await self.answered(_MISSING, (list(PRIVILEGES), list(PRIVILEGES.values())))
        if missing:
            user, lacks = missing[0][0], ", ".join(f"{row[2]} on {row[1]}" for row in missing[:5])
            more = f" and {len(missing) - 5} other privileges" if len(missing) > 5 else ""
            raise Unavailable(
                f"The database user {user} lacks {lacks}{more}. Grant it the privileges on all "
                "tables; see docs/how-to/audit.md."
            )

    async def require_writable(self) -> None:
        """Raises ``Unavailable`` if changes cannot be stored: on a read-only server, and after a
        failed change until one succeeds."""
        async with self._lent(Context(self._box)) as connection:
            await connection.fetch_all(TOUCH_REVISION if self._refused else REVISION)
            await connection.commit([])
        self._refused = False

    def read(self) -> AbstractAsyncContextManager[SqlTransaction]:
        return self._reading

    async def answered(self, sql: str, parameters: Sequence[Any]) -> Sequence[Row]:
        """The rows of one query, outside of a transaction, on a free connection."""
        pool, began = self._require_pool(), time.monotonic()
        opened = await pool.borrow()
        left = self._deadlines.total - (time.monotonic() - began)
        timeout = left if left < self._deadlines.answer else None
        usable = False
        try:
            rows: list[Row] = await opened.driver.fetch(sql, *parameters, timeout=timeout)
            usable = True
        except FAILURES as error:
            usable, lost = usable_and_lost(error)
            if lost:
                self._lose(opened, error)
            raise translated(error) from error
        finally:
            pool.give_back(opened, usable=usable)
        return rows

    def _lose(self, opened: Opened, error: Exception) -> None:
        """Handle a failed connection: close the idle connections, and try the other hosts first."""
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
        try:
            async with self._lent(Context(self._box, self.process, Trail(by))) as connection:
                transaction = SqlTransaction(connection)
                yield transaction
                await connection.commit(transaction.audit.of_trail(self._clock))
            self._refused = False
        except NotWritable:
            self._refused = True
            raise

    @asynccontextmanager
    async def _lent(self, context: Context) -> AsyncIterator[WriteConnection]:
        pool = self._require_pool()
        opened = await pool.borrow()
        deadline = asyncio.timeout(self._deadlines.total)
        try:
            async with deadline:
                connection = WriteConnection(context, opened.driver, self._begin, deadline)
                try:
                    yield connection
                finally:
                    try:
                        await connection.end(self._deadlines.rollback)
                    finally:
                        pool.give_back(opened, usable=connection.usable)
                        if connection.lost is not None:
                            self._lose(opened, connection.lost)
        except TimeoutError as error:
            if not deadline.expired():
                raise
            raise translated(error) from error
