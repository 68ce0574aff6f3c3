"""Checkpoints of the embedded database run in parallel to commits."""

import logging
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from phoneprov_adapters.sql.engines import sqlite_writing
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from support.phone_records import a_phone
from support.polling import until
from support.stores import DATABASES


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    async with DATABASES["sqlite"](tmp_path) as opened:
        assert isinstance(opened, SqliteDatabase)
        yield opened


async def write(database: SqliteDatabase, numbers: range) -> None:
    for number in numbers:
        async with database.write() as tx:
            await tx.phones.add(a_phone(number))


def log_pages(database: SqliteDatabase) -> int:
    """The size of the log in pages."""
    return database.path.with_name(f"{database.path.name}-wal").stat().st_size // 4096


async def test_commit_leaves_the_database_file_to_the_checkpoint(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writing, "COMMITS", 1_000_000)
    before = database.path.read_bytes()

    # The library's default is 1,000 pages.
    for start in range(0, 10_000, 100):
        async with database.write() as tx:
            for number in range(start, start + 100):
                await tx.phones.add(a_phone(number))
        if log_pages(database) > 1_200:
            break

    assert log_pages(database) > 1_200
    assert database.path.read_bytes() == before


async def test_checkpoint_follows_the_commits(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_writing, "COMMITS", 3)
    before = database.path.read_bytes()

    await write(database, range(1, 4))

    await until(lambda: database.path.read_bytes() != before)


async def test_failed_checkpoint_is_logged_and_changes_nothing(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse() -> sqlite3.Connection:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(sqlite_writing, "COMMITS", 1)
    monkeypatch.setattr(database._checkpoints, "_connect", refuse)
    with caplog.at_level(logging.WARNING):
        await write(database, range(1, 3))
        await database._checkpoints.close()

    assert "A checkpoint of the database failed: disk I/O error" in caplog.messages
    async with database.read() as tx:
        assert len(await tx.phones.rows(10)) == 2
