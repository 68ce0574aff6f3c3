"""The connection interface of the stores, for both databases, and their failures."""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, MetaData, String, Table, select

from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_core.kernel.errors import AlreadyExists, NotFound, already_taken
from phoneprov_core.kernel.trail import Trail

Row = Sequence[Any]

_SECONDS = 60.0
_logged_at: dict[str, float] = {}

log = logging.getLogger("phoneprov.database")


def log_failure(where: str, cause: str) -> None:
    """Log why the database at ``where``, a host or a file, cannot be used; once a minute."""
    now = time.monotonic()
    if now - _logged_at.get(where, -_SECONDS) < _SECONDS:
        return
    _logged_at[where] = now
    log.warning("The database %s cannot be used: %s", where, cause)


def unique_violation(column: str) -> AlreadyExists:
    """The error of a value that must be unique; ``column`` is the last of the constraint's."""
    field = column.removesuffix("_key")
    return already_taken(field.replace("_", " "), field)


def foreign_key_violation() -> NotFound:
    """The error of a record that refers to one that does not exist, or would lose the record that
    it refers to."""
    return NotFound("A record that this one refers to does not exist.")


def first(rows: Sequence[Row]) -> Row | None:
    """The first of some rows, or None."""
    return rows[0] if rows else None


class Connection(ABC):
    """One connection, inside a transaction when ``writing``; otherwise each query runs by itself.

    Every method raises ``AlreadyExists`` and ``NotFound`` for broken
    constraints and, if the database cannot be reached, is full or too slow, ``Unavailable``.
    """

    writing: bool = False
    trail: Trail = Trail()
    """What this transaction changes; a reading connection has one that records nothing."""

    @abstractmethod
    async def rows(self, statement: Statement, **values: Any) -> Sequence[Row]:
        """Run a statement; returns the rows."""

    async def few(self, statement: Statement, **values: Any) -> Sequence[Row]:
        """Run a query that reads few rows; returns them. Waiting queries may run together."""
        return await self.rows(statement, **values)

    async def row(self, statement: Statement, **values: Any) -> Row | None:
        """Run a statement; returns the first row, or None."""
        return first(await self.rows(statement, **values))

    async def soon(self, statement: Statement, **values: Any) -> None:
        """Run a statement that returns nothing. It may be deferred until the next statement or the
        end of the transaction, which then raises its errors."""
        await self.rows(statement, **values)

    async def flush(self) -> None:  # noqa: B027 - a connection need not defer any
        """Run the deferred statements."""

    async def at_once(self, statement: Statement, **values: Any) -> Row | None:
        """Run a statement that may be durable before the transaction ends, even if that is rolled
        back; returns its row, or None."""
        return await self.row(statement, **values)

    async def one_at_a_time(self) -> None:  # noqa: B027 - SQLite needs no lock
        """Wait until no other transaction that called this is open, and hold the lock to the end of
        this one. Does nothing outside of a transaction, and on SQLite, which has one writing
        transaction at a time."""

    async def claim_import(self, kind: str) -> bool:  # noqa: ARG002 - SQLite needs no claim
        """See ``Stores``."""
        return True


VERSION = select(Table("alembic_version", MetaData(), Column("version_num", String(32))))


async def version_at(connection: Connection) -> str | None:
    """The revision of the schema, or None."""
    row = await connection.row(VERSION)
    return None if row is None else str(row[0])
