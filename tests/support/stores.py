"""Databases for tests that run over each of them."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.transaction import Database
from support import pgbouncer, postgres
from support.data_folder import create_database

KEY = "the-key-of-the-tests-0123456789abcdef"


@asynccontextmanager
async def _memory(folder: Path) -> AsyncIterator[Database]:
    database = MemoryDatabase()
    await database.open()
    yield database
    await database.close()


@asynccontextmanager
async def _sqlite(folder: Path) -> AsyncIterator[Database]:
    database = SqliteDatabase(create_database(folder), SecretBox(SecretKeys.parse(KEY)))
    await database.open()
    try:
        yield database
    finally:
        await database.close()


@asynccontextmanager
async def _postgres(folder: Path) -> AsyncIterator[Database]:
    async with _opened(await postgres.shared_empty_database()) as database:
        yield database


@asynccontextmanager
async def _pgbouncer(folder: Path) -> AsyncIterator[Database]:
    async with _opened(pgbouncer.url(await postgres.shared_empty_database())) as database:
        yield database


@asynccontextmanager
async def _opened(url: str) -> AsyncIterator[Database]:
    database = PostgresDatabase(url, SecretBox(SecretKeys.parse(KEY)), postgres.WIDE)
    await database.open()
    try:
        yield database
    finally:
        await database.close()


DATABASES: dict[str, Callable[[Path], AbstractAsyncContextManager[Database]]] = {
    "memory": _memory,
    "postgres": _postgres,
    "sqlite": _sqlite,
    **({"pgbouncer": _pgbouncer} if pgbouncer.REQUIRED else {}),
}
"""Every adapter of the contract suite: an open, empty database in its own folder."""


async def emptied(database: Database) -> Database:
    """An open database without records: this one, or a new one in memory."""
    if isinstance(database, SqliteDatabase):
        with closing(sqlite3.connect(database.path)) as connection:
            connection.executescript(f"PRAGMA synchronous=OFF; BEGIN; {postgres.EMPTY}; COMMIT")
    elif isinstance(database, PostgresDatabase):
        await postgres.shared_empty_database()
    else:
        return MemoryDatabase()
    return database


def process_of(database: Database) -> str:
    """The process that acquires the leases in this database."""
    assert isinstance(database, MemoryDatabase | SqliteDatabase | PostgresDatabase)
    return database.process
