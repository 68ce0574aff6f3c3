"""Classification of PostgreSQL's errors: broken constraints, and messages for the others."""

import ssl

import asyncpg
from sqlalchemy import PrimaryKeyConstraint, UniqueConstraint
from sqlalchemy.dialects import postgresql

from phoneprov_adapters.sql.engines.connection import (
    foreign_key_violation,
    not_utf8,
    unique_violation,
)
from phoneprov_adapters.sql.engines.revisions import UNFIT, revision_table
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
