"""The file of the embedded database."""

import asyncio
import contextlib
import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from os.path import samestat
from pathlib import Path

import pytest

from phoneprov_adapters.composition.lifecycle import bring_up_to_date
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql.engines import processes, sqlite_file, sqlite_writing
from phoneprov_adapters.sql.engines.address import embedded_url
from phoneprov_adapters.sql.engines.revisions import newest
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_core.kernel.errors import DiskFull, NotWritable, Unavailable
from support.polling import until
from support.records import a_user
from support.small_disk import NEEDS_ROOT, fill, mounted_disk
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

    monkeypatch.setattr(migrate, "with_connection", fails)
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


async def test_upgrade_of_a_file_in_use_is_refused_and_names_the_process(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_USERS_SECONDS", 0.0)
    await bring_up_to_date(embedded_url(file))
    code = (
        "import asyncio, sys; from pathlib import Path\n"
        "from phoneprov_adapters.sql.engines.processes import UseLock\n"
        "asyncio.run(UseLock(Path(sys.argv[1])).share()); print('shared', flush=True); input()"
    )
    other = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, str(file)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert other.stdout is not None
    await other.stdout.readline()
    await migrate.upgrade(embedded_url(file))  # nothing to do
    async with processes.alone(file, lambda: True) as is_needed:
        assert not is_needed
    make_older(file)
    try:
        with pytest.raises(Unavailable, match=rf"stop process {other.pid} \(.*python.*\) first"):
            await migrate.upgrade(embedded_url(file))
    finally:
        await other.communicate(b"\n")
    with pytest.raises(Unavailable, match="cannot be upgraded"):
        await migrate.upgrade(embedded_url(file))


def make_older(file: Path) -> None:
    """Give the database the revision of an earlier version."""
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0015'")
        connection.commit()


async def test_open_database_keeps_others_from_upgrading_and_close_ends_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_USERS_SECONDS", 0.0)
    await bring_up_to_date(embedded_url(file))
    databases = [database_in(file), database_in(file)]
    for database in databases:
        await database.open()
    await databases[0].close()
    with pytest.raises(Unavailable, match="Another process uses the database"):
        async with processes.alone(file):
            pass
    await databases[1].close()
    async with processes.alone(file):
        pass


async def test_open_during_an_upgrade_waits_for_its_end(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bring_up_to_date(embedded_url(file))
    database = database_in(file)
    async with processes.alone(file):
        opening = asyncio.create_task(database.open())
        await asyncio.sleep(0.1)
        assert not opening.done()
    await opening
    await database.close()
    monkeypatch.setattr(processes, "_LOCK_SECONDS", 0.0)
    async with processes.alone(file.with_name("other.db")):
        shutil.copy(file, file.with_name("other.db"))
        other = database_in(file.with_name("other.db"))
        with pytest.raises(Unavailable, match="is upgrading the database; try again later"):
            await other.open()
        monkeypatch.setattr(processes, "_holders_of", lambda _: "process 7 (phoneprov db upgrade)")
        named = r"is upgrading the database \(process 7 \(phoneprov db upgrade\)\); try"
        with pytest.raises(Unavailable, match=named):
            await other.open()


@pytest.mark.parametrize("becomes", ["moved", "removed", "replaced"])
async def test_file_that_is_no_longer_there_refuses_reads_and_changes(
    file: Path, monkeypatch: pytest.MonkeyPatch, becomes: str
) -> None:
    monkeypatch.setattr("phoneprov_adapters.sql.engines.sqlite.LOOK_SECONDS", 0.0)
    await bring_up_to_date(embedded_url(file))
    database, before = database_in(file), file.with_name("before.db")
    await database.open()
    async with database.write() as tx:
        await tx.users.add(a_user(1))

    file.rename(before)
    if becomes == "removed":
        before.unlink()
    if becomes == "replaced":
        shutil.copy(before, file)
    with pytest.raises(Unavailable, match="moved, replaced or removed"):
        async with database.write() as tx:
            await tx.users.add(a_user(2))
    with pytest.raises(Unavailable, match="moved, replaced or removed"):
        async with database.read() as tx:
            await tx.users.rows(10)
    with pytest.raises(Unavailable, match="moved, replaced or removed"):
        await database.revision()
    assert file.exists() == (becomes == "replaced")

    if becomes != "removed":
        before.rename(file)
        async with database.write() as tx:
            await tx.users.add(a_user(3))
        assert [user.uuid for user in await tx.users.rows(10)] == [a_user(1).uuid, a_user(3).uuid]
    await database.close()


async def test_change_before_whose_commit_the_file_was_moved_is_refused(file: Path) -> None:
    await bring_up_to_date(embedded_url(file))
    database = database_in(file)
    await database.open()

    async def one(number: int) -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(number))
            if file.exists():
                file.rename(file.with_name("before.db"))

    ended = await asyncio.gather(*map(one, range(1, 4)), return_exceptions=True)

    assert [type(error) for error in ended] == [Unavailable] * 3
    await database.close()
    with contextlib.closing(sqlite3.connect(file.with_name("before.db"))) as connection:
        assert connection.execute("SELECT count(*) FROM users").fetchone() == (0,)


async def test_reads_look_at_the_file_once_a_second(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bring_up_to_date(embedded_url(file))
    database, looks = database_in(file), []
    await database.open()

    def counted(one: os.stat_result, other: os.stat_result) -> bool:
        looks.append(one)
        return samestat(one, other)

    monkeypatch.setattr("phoneprov_adapters.sql.engines.sqlite.samestat", counted)
    for _ in range(100):
        async with database.read() as tx:
            await tx.users.find(a_user(1).uuid)
    await database.close()

    assert 1 <= len(looks) <= 2


async def test_damaged_file_fails_readiness_and_is_named_in_the_log(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phoneprov_adapters.sql.engines.sqlite._CHECK_EVERY_SECONDS", 0.0)
    await bring_up_to_date(embedded_url(file))
    database = database_in(file)
    await database.open()
    assert await database.revision() == newest()

    content = bytearray(file.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    file.write_bytes(content)

    with pytest.raises(Unavailable, match="damaged"):
        await database.revision()
    assert any(str(file) in line and "malformed" in line for line in caplog.messages)
    await database.close()
    with pytest.raises(Unavailable, match="damaged"):
        await database_in(file).open()


async def test_open_cancelled_leaves_no_thread(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await bring_up_to_date(embedded_url(file))
    database = database_in(file)
    connect, connecting = database._connect, asyncio.Event()
    loop = asyncio.get_running_loop()

    def connect_slowly() -> sqlite3.Connection:
        loop.call_soon_threadsafe(connecting.set)
        time.sleep(0.2)
        return connect()

    monkeypatch.setattr(database, "_connect", connect_slowly)
    before = set(threading.enumerate())
    opening = asyncio.create_task(database.open())
    await connecting.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening

    def left() -> list[threading.Thread]:
        threads = set(threading.enumerate()) - before
        return [thread for thread in threads if "_connection_worker" in thread.name]

    # A thread says that it has closed its connection shortly before it ends.
    await until(lambda: not left(), 2)


def test_open_failing_leaves_no_thread_to_the_event_loop(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(b"\xa5" * 4096)
    failures: list[object] = []
    monkeypatch.setattr(threading, "excepthook", failures.append)

    async def open_damaged() -> None:
        with pytest.raises(Unavailable, match="damaged"):
            await database_in(file).open()

    for _ in range(50):
        asyncio.run(open_damaged())
    time.sleep(0.2)
    assert failures == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted_disk(tmp_path / "disk") as folder:
        yield folder


@NEEDS_ROOT
async def test_open_on_a_full_disk_reads_and_changes_as_soon_as_there_is_room(
    small_disk: Path,
) -> None:
    file = small_disk / "phoneprov.db"
    await bring_up_to_date(embedded_url(file))
    database = database_in(file)
    await database.open()
    async with database.write() as tx:
        await tx.users.add(a_user(1))
    await database.close()
    filling = fill(small_disk)

    await bring_up_to_date(embedded_url(file))  # nothing to do
    await database.open()

    async def names() -> list[str]:
        async with database.read() as tx:
            return [user.uuid for user in await tx.users.rows(10)]

    assert await names() == [a_user(1).uuid]
    assert await database.revision() == newest()
    for _ in range(2):
        with pytest.raises(DiskFull):
            async with database.write() as tx:
                await tx.users.add(a_user(2))
        with pytest.raises(DiskFull):
            await database.require_writable()
        assert await names() == [a_user(1).uuid]
    filling.unlink()
    await database.require_writable()
    async with database.write() as tx:
        await tx.users.add(a_user(2))
    readers = [names() for _ in range(10)]
    assert await asyncio.gather(*readers) == [[a_user(1).uuid, a_user(2).uuid]] * 10

    # With the files that changes need open, a full disk is noticed by the readiness check.
    filling = fill(small_disk)

    async def add_many() -> None:
        async with database.write() as tx:
            for number in range(3, 3000):
                await tx.users.add(a_user(number))

    with pytest.raises(DiskFull):
        await add_many()
    with pytest.raises(DiskFull):
        await database.require_writable()
    await database.close()


@pytest.mark.parametrize(
    ("cause", "kind", "sentence"),
    [
        (errno.ENOSPC, DiskFull, "is full"),
        (errno.EDQUOT, DiskFull, "is full"),
        (errno.EROFS, NotWritable, "is read-only"),
        (errno.EIO, NotWritable, "write error"),
        (None, NotWritable, "write error"),
    ],
)
def test_write_error_is_named_by_its_cause(
    file: Path,
    monkeypatch: pytest.MonkeyPatch,
    cause: int | None,
    kind: type[Unavailable],
    sentence: str,
) -> None:
    monkeypatch.setattr(sqlite_writing, "why_not_writable", lambda _: cause)
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_WRITE"

    named = sqlite_writing.unavailable(error, file)

    assert type(named) is kind
    assert sentence in named.message
    assert ("full" in named.message) == (kind is DiskFull)


@NEEDS_ROOT
def test_reason_why_a_disk_is_not_writable_is_that_of_the_system(small_disk: Path) -> None:
    file = small_disk / "phoneprov.db"
    assert sqlite_file.why_not_writable(file) is None
    filling = fill(small_disk)
    assert sqlite_file.why_not_writable(file) == errno.ENOSPC
    filling.unlink()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert sqlite_file.why_not_writable(file) == errno.EROFS


async def test_file_locked_by_another_process_delays_each_writer_once(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sqlite_file._OPTIONS, "timeout", 0.5)
    await bring_up_to_date(embedded_url(file))
    database = database_in(file)
    await database.open()

    async def change(number: int) -> None:
        async with database.write() as tx:
            await tx.users.add(a_user(number))

    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        ended = await asyncio.gather(*map(change, range(20)), return_exceptions=True)
        seconds = time.monotonic() - began
        other.execute("ROLLBACK")
    await change(21)
    await database.close()

    assert {str(error) for error in ended} == {"The database is busy; try again."}
    assert seconds < 3


@NEEDS_ROOT
async def test_database_on_a_full_disk_is_not_created_and_says_why(small_disk: Path) -> None:
    fill(small_disk)
    file = small_disk / "phoneprov.db"

    with pytest.raises(Unavailable, match=r"full|No space left"):
        await bring_up_to_date(embedded_url(file))

    assert not file.exists()
