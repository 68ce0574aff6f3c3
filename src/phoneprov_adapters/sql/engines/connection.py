"""The connection interface of the stores, for both databases."""

from collections.abc import Sequence
from typing import Any, Protocol

from sqlalchemy import Column, MetaData, String, Table, select

from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_core.kernel.errors import AlreadyExists, NotFound, already_taken
from phoneprov_core.kernel.trail import Trail

Row = Sequence[Any]


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


class Connection(Protocol):
    """One connection, inside a transaction when ``writing``.

    Every method raises ``AlreadyExists`` and ``NotFound`` for broken
    constraints and, if the database cannot be reached, is full or too slow, ``Unavailable``.
    """

    writing: bool
    trail: Trail = Trail()
    """What this transaction changes; a reading connection has one that records nothing."""

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

    async def flush(self) -> None:
        """Run the deferred statements."""

    async def at_once(self, statement: Statement, **values: Any) -> Row | None:
        """Run a statement that may be durable before the transaction ends, even if that is rolled
        back; returns its row, or None."""
        return await self.row(statement, **values)

    async def one_at_a_time(self) -> None:
        """Wait until no other transaction that called this is open, and hold the lock to the end of
        this one. It is the lock of the row with the schema's version, which always exists."""


class ReadConnection(Connection):
    """A connection that runs each query by itself, outside of a transaction."""

    writing = False

    async def flush(self) -> None:
        """Does nothing: no statement is deferred."""

    async def one_at_a_time(self) -> None:
        """Does nothing: there is no transaction."""


VERSION = select(Table("alembic_version", MetaData(), Column("version_num", String(32))))


async def version_at(connection: Connection) -> str | None:
    """The revision of the schema, or None."""
    row = await connection.row(VERSION)
    return None if row is None else str(row[0])
