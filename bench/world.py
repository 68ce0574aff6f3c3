"""The database of all measurements: people, sessions, and more rows."""

import asyncio
import contextlib
import os
import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import argon2
import asyncpg

from bench.process import descendants
from phoneprov_adapters.security.credentials import PARAMETERS
from phoneprov_adapters.security.crypto import JwtTokens
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql import tables
from phoneprov_adapters.sql.engines.address import PostgresAddress
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.kernel.values import caseless
from phoneprov_core.people.auth.model import Claims, TokenKind

KEY = "a key that only ever signs benchmarks: 0123456789"
PASSWORD = "analytical engine 1843"
SESSIONS = 512
"""Number of the first people who are logged in and hold level 0."""
_PERMISSION = "00000000-0000-4000-9000-000000000000"
_DAY = 24 * 3600 * 1000


def person(number: int) -> str:
    """The identifier of one of the people."""
    return f"{number * 2654435761 % 2**32:08x}-0000-4000-8000-{number:012x}"


def _session(number: int) -> str:
    return f"{number:08x}-0000-4000-a000-000000000000"


def _refresh_id(number: int) -> str:
    return f"{number:08x}-0000-4000-b000-000000000000"


class World(ABC):
    """A migrated database with records. ``url`` is its address as the service accepts it."""

    name: str

    def __init__(self, url: str) -> None:
        self.url = url
        self.people = 0
        self._tokens = JwtTokens(SecretKeys.parse(KEY))
        self._hash = argon2.PasswordHasher.from_parameters(PARAMETERS).hash(PASSWORD)
        asyncio.run(migrate.upgrade(url))

    def fill(self, people: int) -> None:
        """Fill it with people; the first of them can log in."""
        first = self.people == 0
        self.insert("users", _people(self.people, people))
        if first:
            self.insert("passwords", ((person(n), self._hash) for n in range(people)))
            self.insert("permissions", [(_PERMISSION, 0, "superadmin", None, _moment(0))])
            assigned = ((_session(n), person(n), _PERMISSION, _moment(n)) for n in range(SESSIONS))
            self.insert("assignments", assigned)
            self.log_in_again()
        self.people = people
        self.run("ANALYZE")

    def log_in_again(self) -> None:
        """Open the sessions again, so that their first refresh tokens can be exchanged."""
        now = _now()
        self.run("DELETE FROM sessions")
        ends = now + 90 * _DAY
        rows = (
            (_session(n), person(n), _refresh_id(n), now, now + 14 * _DAY, ends, None, now)
            for n in range(SESSIONS)
        )
        self.insert("sessions", rows)

    def tokens(self, kind: TokenKind = TokenKind.ACCESS) -> list[str]:
        """A token for each session."""
        now = _now()
        return [
            self._tokens.issue(
                kind, Claims(person(n), _session(n), _refresh_id(n), now, now + _DAY)
            )
            for n in range(SESSIONS)
        ]

    def fresh_refresh_tokens(self) -> list[str]:
        """An unused refresh token for each session."""
        self.log_in_again()
        return self.tokens(TokenKind.REFRESH)

    @abstractmethod
    def pin(self, processors: set[int]) -> None:
        """Run the processes of the database on these processors alone."""

    @abstractmethod
    def insert(self, table: str, rows: Iterator[Sequence[Any]] | list[Any]) -> None:
        """Add rows to a table, in bulk."""

    @abstractmethod
    def load(self, table: str, rows: Iterator[Sequence[Any]]) -> None:
        """Add millions of rows to a table that no other connection uses."""

    @abstractmethod
    def run(self, sql: str) -> None:
        """Run one statement."""

    @abstractmethod
    def count(self, table: str) -> int:
        """Number of rows of a table."""


class SqliteWorld(World):
    """A file in a folder."""

    name = "SQLite"

    def __init__(self, folder: Path) -> None:
        self._path = folder / "phoneprov.db"
        super().__init__(f"sqlite+aiosqlite:///{self._path}")

    def pin(self, processors: set[int]) -> None:
        """No effect: the database is part of the service."""

    def insert(self, table: str, rows: Iterator[Sequence[Any]] | list[Any]) -> None:
        columns = tables.metadata.tables[table].columns.keys()
        places = ", ".join("?" * len(columns))
        statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
        connection = sqlite3.connect(self._path, timeout=30)
        with connection:
            connection.executemany(statement, rows)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def load(self, table: str, rows: Iterator[Sequence[Any]]) -> None:
        load_sqlite(self._path, table, tables.metadata.tables[table].columns.keys(), rows)

    def run(self, sql: str) -> None:
        connection = sqlite3.connect(self._path, timeout=30)
        with connection:
            connection.execute(sql)
        connection.close()

    def count(self, table: str) -> int:
        connection = sqlite3.connect(self._path, timeout=30)
        rows = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        connection.close()
        return int(rows[0])


def load_sqlite(
    path: Path, table: str, columns: Sequence[str], rows: Iterator[Sequence[Any]]
) -> None:
    """Add millions of rows to a table of a file that no other connection uses."""
    places = ", ".join("?" * len(columns))
    statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    # No log, and indexes are created last, because the rows are in random order.
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("PRAGMA cache_size=-1000000")
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_master"
        " WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
        [table],
    ).fetchall()
    connection.execute("BEGIN EXCLUSIVE")
    for name, _ in indexes:
        connection.execute(f"DROP INDEX {name}")
    connection.executemany(statement, rows)
    for _, index in indexes:
        connection.execute(index)
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.close()


class PostgresWorld(World):
    """A database of a running server, whose first process is ``pid``."""

    name = "PostgreSQL"

    def __init__(self, url: str, pid: int) -> None:
        super().__init__(url)
        self._pid = pid

    def pin(self, processors: set[int]) -> None:
        for pid in (self._pid, *descendants(self._pid)):
            # The process may have ended meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(pid, processors)

    def load(self, table: str, rows: Iterator[Sequence[Any]]) -> None:
        async def load(connection: asyncpg.Connection) -> None:
            indexes = await connection.fetch(
                "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = $1"
                " AND indexname NOT IN (SELECT conname FROM pg_constraint)",
                table,
            )
            for name, _ in indexes:
                await connection.execute(f"DROP INDEX {name}")
            columns = tables.metadata.tables[table].columns.keys()
            await connection.copy_records_to_table(
                table, records=rows, columns=columns, timeout=1800
            )
            for _, index in indexes:
                await connection.execute(index, timeout=1800)

        asyncio.run(self._on_connection(load))

    def insert(self, table: str, rows: Iterator[Sequence[Any]] | list[Any]) -> None:
        columns = tables.metadata.tables[table].columns.keys()

        async def insert(connection: asyncpg.Connection) -> None:
            await connection.copy_records_to_table(
                table, records=rows, columns=columns, timeout=300
            )

        asyncio.run(self._on_connection(insert))

    def run(self, sql: str) -> None:
        async def run(connection: asyncpg.Connection) -> None:
            await connection.execute(sql, timeout=300)

        asyncio.run(self._on_connection(run))

    def count(self, table: str) -> int:
        found: list[int] = []

        async def run(connection: asyncpg.Connection) -> None:
            found.append(await connection.fetchval(f"SELECT count(*) FROM {table}", timeout=300))

        asyncio.run(self._on_connection(run))
        return found[0]

    async def _on_connection(self, work: Any) -> None:
        connection = await asyncpg.connect(PostgresAddress.parse(self.url).dsn, timeout=10)
        try:
            await work(connection)
        finally:
            await connection.close(timeout=5)


def _now() -> int:
    return int(time.time() * 1000)


def _moment(number: int) -> str:
    moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(milliseconds=number)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _people(first: int, end: int) -> Iterator[tuple[Any, ...]]:
    for number in range(first, end):
        name, moment = f"person{number}", _moment(number)
        email = f"{name}@example.com"
        yield (
            *(person(number), "Ada", "Lovelace", name, email, "+44 20 7946 0000", "en"),
            *("London", "GB", "Europe/London", True, None, "192.0.2.1", None, moment),
            *(moment, moment, None, "192.0.2.1", "192.0.2.1", caseless(name), caseless(email)),
            *(None, "", f"ada lovelace {name} {email}"),
        )
