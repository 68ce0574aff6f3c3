"""The file of the embedded database."""

import asyncio
from pathlib import Path

import pytest

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines import sqlite_file
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.engines.urls import embedded_url
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_adapters.sql.maintenance.schema import bring_up_to_date, newest
from phoneprov_adapters.testing.records import a_user
from phoneprov_core.kernel.errors import Unavailable
from support.stores import KEY


def database_in(file: Path) -> SqliteDatabase:
    return SqliteDatabase(file, SecretBox(SecretKeys.parse(KEY)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "phoneprov.db"


async def test_file_modes_are_0600_also_of_an_older_installation(file: Path) -> None:
    await bring_up_to_date(embedded_url(file))
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)

    database = database_in(file)
    await database.open()
    async with database.write() as tx:
        await tx.users.add(a_user(1))

    files = {f.name: f.stat().st_mode & 0o777 for f in file.parent.iterdir()}
    await database.close()
    assert {"phoneprov.db", "phoneprov.db-wal", "phoneprov.db-shm"} <= set(files)
    assert set(files.values()) == {0o600}


async def test_folder_others_can_read_is_warned_about(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await bring_up_to_date(embedded_url(file))
    for mode, warns in ((0o700, False), (0o755, True)):
        file.parent.chmod(mode)
        database = database_in(file)
        await database.open()
        await database.close()
        assert any("Other users can read" in line for line in caplog.messages) is warns


async def test_new_file_failing_migration_leaves_nothing(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise Unavailable("no")

    monkeypatch.setattr(migrate, "_with_connection", fails)
    with pytest.raises(Unavailable):
        await bring_up_to_date(embedded_url(file))

    assert [f.name for f in file.parent.iterdir()] == ["phoneprov.db-schema"]


async def test_new_file_draft_of_a_killed_process_is_removed(file: Path) -> None:
    left = file.with_name("phoneprov.db-new-abc")
    left.touch()
    await bring_up_to_date(embedded_url(file))
    assert not left.exists()
    assert await migrate.current(embedded_url(file)) == newest()


async def test_empty_file_is_refused(file: Path) -> None:
    file.touch()
    for refused in (bring_up_to_date, migrate.upgrade, migrate.current):
        with pytest.raises(Unavailable, match="empty"):
            await refused(embedded_url(file))
    with pytest.raises(Unavailable, match="empty"):
        await database_in(file).open()
    assert file.stat().st_size == 0


async def test_lock_of_a_hanging_process_times_out(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_file, "_LOCK_SECONDS", 0.0)
    async with sqlite_file.alone(file):
        with pytest.raises(Unavailable, match="migrating"):
            await migrate.upgrade(embedded_url(file))


async def test_damaged_file_fails_readiness_and_is_named_in_the_log(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phoneprov_adapters.sql.engines.sqlite._CHECK_EVERY_SECONDS", 0.0)
    await bring_up_to_date(embedded_url(file))
    database = database_in(file)
    await database.open()
    assert await database.schema_version() == newest()

    content = bytearray(file.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    file.write_bytes(content)

    with pytest.raises(Unavailable, match="damaged"):
        await database.schema_version()
    assert any(str(file) in line and "malformed" in line for line in caplog.messages)
    await database.close()
    with pytest.raises(Unavailable, match="damaged"):
        await database_in(file).open()


async def test_upgrades_at_once_over_an_older_schema_all_succeed(file: Path) -> None:
    await migrate.upgrade(embedded_url(file), "0001")
    await asyncio.gather(*(bring_up_to_date(embedded_url(file)) for _ in range(4)))
    assert await migrate.current(embedded_url(file)) == newest()
