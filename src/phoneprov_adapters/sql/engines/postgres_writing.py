"""Writing transactions on PostgreSQL, and the messages of its errors."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import Any, TypeAlias, TypeVar

import asyncpg
from sqlalchemy import PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql import asyncpg as dialect

from phoneprov_adapters.sql.engines.connection import (
    Compiler,
    Connection,
    Context,
    Row,
    first,
    foreign_key_violation,
    not_utf8,
    unique_violation,
)
from phoneprov_adapters.sql.engines.revisions import REQUIRE_REVISION, UNFIT, revision_table
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.people.audit import ADD_ENTRY
from phoneprov_adapters.sql.tables import metadata
from phoneprov_core.kernel.errors import Contended, DiskFull, NotWritable, Unavailable

FAILURES = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""The base of the driver's errors; ``OSError`` includes ``TimeoutError``."""

_BUSY = "The database is busy; try again."
_FULL = "The database is full; nothing was changed."
_READ_ONLY = "The database is read-only at the moment; try again later."
_LOST = "The connection to the database was lost; try again."
_PGBOUNCER = (
    "The database seems to be reached through pgbouncer: "
    "add ?pgbouncer=true to PHONEPROV_DATABASE_URL."
)

_STATEMENT_MODE = (
    "The pgbouncer of PHONEPROV_DATABASE_URL is in statement mode, which has no transactions: "
    "set its pool_mode to transaction or session."
)

# By SQLSTATE, or by its class, the first two characters.
# https://www.postgresql.org/docs/current/errcodes-appendix.html
_SENTENCES = {
    "08": _LOST,
    "25006": _READ_ONLY,
    "25P03": _LOST,
    "26000": _PGBOUNCER,
    "28": "The database refuses the user name or the password of PHONEPROV_DATABASE_URL.",
    "3D000": "The database server has no database of that name; create it first.",
    "3F000": UNFIT,
    "40": _BUSY,
    "42": UNFIT,
    "42501": "The database user lacks permissions; grant it the rights on the tables.",
    "42P05": _PGBOUNCER,
    "53": "The database server is short of memory or disk space; try again later.",
    "53100": _FULL,
    "53300": "The database server has no free connection; try again.",
    "55P03": _BUSY,
    "57": "The database is starting or stopping; try again.",
    "57P01": "The database server ended the connection; try again.",
    "57P04": "The database was dropped while it was used.",
    "57P05": "The database server ended the connection; try again.",
    "57014": "The database took too long to answer; nothing was changed.",
}

_KINDS = {_FULL: DiskFull, _READ_ONLY: NotWritable, _BUSY: Contended}

_preparer = postgresql.dialect().identifier_preparer  # type: ignore[no-untyped-call]
_LAST_COLUMN = {
    _preparer.format_constraint(constraint): list(constraint.columns)[-1].name
    for table in metadata.tables.values()
    for constraint in table.constraints
    if isinstance(constraint, PrimaryKeyConstraint | UniqueConstraint)
}


def translated(error: Exception) -> Exception:
    """The error of a statement for the stores: ``AlreadyExists``, ``NotFound``, ``Invalid`` or
    ``Unavailable``."""
    if isinstance(error, asyncpg.UniqueViolationError):
        column = _LAST_COLUMN.get(error.constraint_name)
        if column is not None:
            return unique_violation(column)
    # From version 18 a reference that prevents a deletion has its own SQLSTATE.
    if isinstance(error, asyncpg.ForeignKeyViolationError | asyncpg.RestrictViolationError):
        return foreign_key_violation()
    if isinstance(error, asyncpg.NotNullViolationError) and error.table_name == revision_table.name:
        return Unavailable(UNFIT)  # See ``REQUIRE_REVISION``.
    if isinstance(error, asyncpg.DataError) and isinstance(error.__cause__, UnicodeEncodeError):
        return not_utf8()
    return unavailable(error)


def unavailable(error: Exception | None) -> Unavailable:
    """The reason why the database cannot be used, as one sentence."""
    if isinstance(error, asyncpg.PostgresError):
        state = error.sqlstate or ""
        if state == "08P01" and "startup parameter" in str(error):
            return Unavailable(_PGBOUNCER)
        if state == "08P01" and "statement pooling" in str(error):
            return Unavailable(_STATEMENT_MODE)
        sentence = _SENTENCES.get(state) or _SENTENCES.get(state[:2])
        if sentence is not None:
            return _KINDS.get(sentence, Unavailable)(sentence)
        return Unavailable("The database cannot be used right now; try again later.")
    if isinstance(error, ssl.SSLError):
        return Unavailable("The database's TLS certificate is not trusted, or it has none.")
    if isinstance(error, TimeoutError):
        return Unavailable("The database does not answer; try again.")
    if isinstance(error, OSError):
        return Unavailable("The database cannot be reached; try again.")
    if isinstance(error, asyncpg.InterfaceError) and "closed" in str(error):
        return Unavailable(_LOST)
    return Unavailable("The database cannot be reached at PHONEPROV_DATABASE_URL.")


T = TypeVar("T")

compiled_for = Compiler(dialect.dialect(paramstyle="numeric_dollar"))  # type: ignore[no-untyped-call]

_REQUIRED = REQUIRE_REVISION.cte("required")

_literal = REQUIRE_REVISION.compile(
    dialect=postgresql.dialect(),  # type: ignore[no-untyped-call]
    compile_kwargs={"literal_binds": True},
)


def begin_with(settings: Sequence[str] = ()) -> str:
    """The statements that begin a transaction, in one message and so in one round trip. The
    isolation level is named because a server may have another default."""
    return ";".join(["BEGIN ISOLATION LEVEL READ COMMITTED", *settings, str(_literal)])


BEGIN = begin_with()

_Step: TypeAlias = tuple[Statement, dict[str, Any]]


class WriteConnection(Connection):
    """A transaction, which begins with its first statement. A deferred statement is sent before the
    next statement, and the last deferred statement together with the audit entry. If the last is
    also the first, this one statement is the whole transaction: one round trip instead of four
    (``docs/decisions/database.md``).

    ``usable``: the connection can be used again. ``lost``: an error after which the other
    connections may have failed, too.
    """

    writing = True

    def __init__(
        self,
        context: Context,
        driver: asyncpg.Connection,
        begin: str,
        deadline: asyncio.Timeout,
    ) -> None:
        super().__init__(context)
        self._driver = driver
        self._begin = begin
        self._deadline = deadline
        self._deferred: _Step | None = None
        self.usable = True
        self.lost: Exception | None = None
        self._begun = False

    async def fetch_all(self, statement: Statement, **values: Any) -> Sequence[Row]:
        await self.flush()
        return await self._run((statement, values))

    async def fetch_alone(self, statement: Statement, **values: Any) -> Row | None:
        if self._begun or self._deferred is not None or self._begin is not BEGIN:
            return await self.fetch_one(statement, **values)
        return first(await self._alone((statement, values)))

    async def execute(self, statement: Statement, **values: Any) -> None:
        await self.flush()
        self._deferred = statement, values

    async def flush(self) -> None:
        if self._deferred is not None:
            step, self._deferred = self._deferred, None
            await self._run(step)

    async def _run(self, step: _Step) -> Sequence[Row]:
        return await self._within(lambda: self._fetch(step))

    async def _within(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of ``work``; begins the transaction before it if necessary."""
        try:
            if not self._begun:
                self._begun = True
                await self._driver.execute(self._begin)
            return await work()
        except FAILURES as error:
            self._doubt(error)
            raise translated(error) from error

    async def _fetch(self, step: _Step) -> Sequence[Row]:
        compiled = compiled_for(step[0])
        rows: list[Row] = await self._driver.fetch(compiled.sql, *compiled.parameters(step[1]))
        return rows

    async def _alone(self, step: _Step) -> Sequence[Row]:
        """Run a statement that is a transaction by itself."""
        ends_at = self._deadline.when()
        self._deadline.reschedule(None)
        self._begun = True  # When cancelled, ``end`` waits for the end of the statement.
        try:
            rows = await self._fetch((_requiring(step[0]), step[1]))
        except FAILURES as error:
            self._begun = False
            raise self._not_committed(error) from error
        self._begun = False
        self._deadline.reschedule(ends_at)
        return rows

    async def commit(self, entries: Sequence[dict[str, Any]]) -> None:
        """Add the audit entries and commit. The response has a deadline of its own: a slow
        transaction must not hide whether the change was stored."""
        steps: list[_Step] = [(ADD_ENTRY, entry) for entry in entries]
        if self._deferred is not None:
            statement, values = self._deferred
            if len(entries) == 1:
                steps = [(_with_entry(statement), {**values, **entries[0]})]
            elif entries:
                await self.flush()
            else:
                steps = [self._deferred]
        if len(steps) == 1 and not self._begun and self._begin is BEGIN:
            await self._alone(steps[0])
            return
        if len(steps) > 1:
            # ``executemany`` sends all entries in one round trip.
            added = compiled_for(ADD_ENTRY)
            rows = [added.parameters(entry) for entry in entries]
            await self._within(lambda: self._driver.executemany(added.sql, rows))
        elif steps:
            await self._run(steps[0])
        if not self._begun:
            return
        self._deadline.reschedule(None)
        try:
            ended = await self._driver.execute("COMMIT")
        except FAILURES as error:
            raise self._not_committed(error) from error
        self._begun = False
        if ended != "COMMIT":
            # The caller ignored the error of an earlier statement.
            raise Unavailable("The database rolled the change back; nothing was changed.")

    def _not_committed(self, error: Exception) -> Exception:
        self._doubt(error)
        if self.usable:
            return translated(error)
        return Unavailable(
            "The connection to the database was lost during a commit: the outcome is"
            " unknown; check the record before trying again."
        )

    async def end(self, seconds: float) -> None:
        """Roll back the open transaction."""
        if not self._begun or not self.usable:
            return
        self.usable = False
        try:
            # Waits first until a cancelled statement has stopped.
            async with asyncio.timeout(seconds):
                await self._driver.execute("ROLLBACK")
            self.usable = True
        except FAILURES as error:
            self._doubt(error)

    def _doubt(self, error: Exception) -> None:
        usable, lost = usable_and_lost(error)
        self.usable &= usable
        if lost:
            self.lost = error


@cache
def _requiring(statement: Statement) -> Statement:
    """The statement that fails if the database has another schema."""
    return statement.add_cte(_REQUIRED)


@cache
def _with_entry(statement: Statement) -> Statement:
    """The statement that adds an audit entry as well."""
    return statement.add_cte(ADD_ENTRY.cte("entry"))


def usable_and_lost(error: Exception) -> tuple[bool, bool]:
    """Whether the connection is still usable after this error, and whether the other connections
    may have failed, too. An error that the server reports for a statement keeps the connection."""
    if isinstance(error, asyncpg.PostgresError) and error.severity_en == "ERROR":
        # The host was the primary and is now a standby: a new connection finds the new primary.
        return True, isinstance(error, asyncpg.ReadOnlySQLTransactionError)
    return False, True
