"""The connections of the stores to SQLite: queries outside of a transaction, writing transactions,
and groups of these that are committed together."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy.dialects import sqlite as dialect

from phoneprov_adapters.runtime.tasks import to_its_end
from phoneprov_adapters.sql.engines.connection import (
    Connection,
    Row,
    first,
    foreign_key_violation,
    log_failure,
    unique_violation,
)
from phoneprov_adapters.sql.engines.sqlite_file import damages
from phoneprov_adapters.sql.engines.sqlite_thread import SqliteThread, Step
from phoneprov_adapters.sql.engines.statements import Compiled, Compiler, Statement
from phoneprov_core.kernel.errors import DiskFull, Unavailable
from phoneprov_core.kernel.trail import Trail

DAMAGED = "The database file is damaged; restore a backup."
_UNUSABLE = "The database cannot be used right now; try again later."

_BEGIN: Step = ("BEGIN IMMEDIATE", ())
_BEGIN_WITHIN: Step = ("SAVEPOINT within", ())
_RELEASE: Step = ("RELEASE within", ())
_TAKE_BACK: Step = ("ROLLBACK TO within", ())

Ask = Callable[[str, Sequence[Any]], Awaitable[Sequence[Row]]]

compiled_for = Compiler(dialect.dialect(paramstyle="qmark"))


class SqliteReadConnection(Connection):
    """``quick`` executes a short query, ``long`` one that may take long."""

    def __init__(self, path: Path, quick: Ask, long: Ask) -> None:
        self._path = path
        self._quick = quick
        self._long = long

    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        return await self._asked(self._long, statement, values)

    async def few(self, statement: Statement, **values: Any) -> Sequence[Row]:
        return await self._asked(self._quick, statement, values)

    async def row(self, statement: Statement, **values: Any) -> Row | None:
        return first(await self.few(statement, **values))

    async def _asked(self, ask: Ask, statement: Statement, values: dict[str, Any]) -> Sequence[Row]:
        compiled = compiled_for(statement)
        try:
            rows = await ask(compiled.sql, compiled.parameters(values))
        except (sqlite3.Error, ValueError) as error:
            raise unavailable(error, self._path) from error
        return typed(rows, compiled)


class Group:
    """Transactions that are committed together."""

    def __init__(self) -> None:
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._failure: Unavailable | None = None

    def succeed(self) -> None:
        """The changes are durable."""
        self._ended.set_result(None)

    def fail(self, error: BaseException) -> None:
        """The changes were rolled back."""
        self._failure = error if isinstance(error, Unavailable) else Unavailable(_UNUSABLE)
        self._ended.set_result(None)

    async def committed(self) -> None:
        """Wait for the commit. Raises ``Unavailable`` if the changes were rolled back."""
        await asyncio.shield(self._ended)
        if self._failure is not None:
            raise Unavailable(self._failure.message, code=self._failure.code)


class WriteConnection(Connection):
    """The transaction begins with its first statement, in the same turn of the thread; inside the
    open transaction ``within`` it begins with a savepoint. ``begun`` is whether it has begun.
    Deferred statements are sent to the thread with the next ones."""

    writing = True

    def __init__(
        self,
        writer: SqliteThread,
        trail: Trail | None = None,
        *,
        within: bool = False,
        begun: bool = False,
    ) -> None:
        self.trail = trail or Trail()
        self._writer = writer
        self._within = within
        self._put_off: list[Step] = []
        self.begun = begun

    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        compiled = compiled_for(statement)
        return typed(await self._run((compiled.sql, compiled.parameters(values))), compiled)

    async def soon(self, statement: Statement, **values: Any) -> None:
        compiled = compiled_for(statement)
        self._put_off.append((compiled.sql, compiled.parameters(values)))

    async def commit(self) -> None:
        """Commit."""
        if self.begun or self._put_off:
            await self._run(("COMMIT", ()))

    async def release(self) -> bool:
        """Leave the changes inside another transaction to its commit; returns whether there are
        any."""
        if self.begun or self._put_off:
            await self._run(_RELEASE)
        return self.begun

    async def flush(self) -> None:
        if self._put_off:
            await self._run()

    async def caught_up(self) -> bool:
        """Execute the deferred statements; returns whether the transaction has changes."""
        await self.flush()
        return self.begun

    async def settle(self) -> None:
        """Roll back the transaction, if it has begun."""
        self._put_off.clear()
        if not self._writer.in_transaction or not self.begun:
            return
        if self._within:
            await self._run(_TAKE_BACK, _RELEASE)
        else:
            await self._run(("ROLLBACK", ()))

    async def _run(self, *steps: Step) -> Sequence[Row]:
        """Begin, if needed, and execute the deferred statements and these."""
        steps = (*self._put_off, *steps)
        self._put_off.clear()
        if not self.begun:
            self.begun = True
            steps = (_BEGIN_WITHIN if self._within else _BEGIN, *steps)
        try:
            return await to_its_end(self._writer.ask(*steps))
        except sqlite3.IntegrityError as error:
            raise _violation(error) from error
        except (sqlite3.Error, ValueError) as error:
            raise unavailable(error, self._writer.path) from error


def typed(rows: Sequence[Row], compiled: Compiled) -> Sequence[Row]:
    """SQLite stores truth values as numbers. Its driver could convert them, but would look up the
    type of each column for each query, which takes longer than the query."""
    if not compiled.booleans:
        return rows
    typed = [list(row) for row in rows]
    for row in typed:
        for place in compiled.booleans:
            if row[place] is not None:
                row[place] = row[place] != 0
    return typed


def _violation(error: sqlite3.IntegrityError) -> Exception:
    if error.sqlite_errorname in {"SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY"}:
        # The message ends with the columns, each with the prefix of its table and a dot.
        return unique_violation(str(error).rsplit(".", 1)[-1])
    if error.sqlite_errorname in {"SQLITE_CONSTRAINT_FOREIGNKEY", "SQLITE_CONSTRAINT_TRIGGER"}:
        return foreign_key_violation()
    return error


def unavailable(error: Exception, path: Path) -> Unavailable:
    """The reason why the file cannot be used, as one sentence; the cause is logged."""
    name = getattr(error, "sqlite_errorname", "")
    if name in {"SQLITE_FULL", "SQLITE_IOERR_WRITE"}:
        failure: Unavailable = DiskFull()
    elif name.startswith("SQLITE_BUSY"):
        failure = Unavailable("The database is busy; try again.")
    elif isinstance(error, sqlite3.Error) and damages(error):
        failure = Unavailable(DAMAGED)
    else:
        failure = Unavailable(_UNUSABLE)
    log_failure(f"file {path}", f"{name or type(error).__name__} {error}")
    return failure
