"""``phoneprov backup`` and ``phoneprov restore``: refusals and results."""

import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from phoneprov_adapters.api import blocking, open_phoneprov, read_settings
from phoneprov_adapters.sql.maintenance import backup as backup_archive
from phoneprov_http.main.cli import main
from support.data_folder import populate
from support.small_disk import NEEDS_ROOT, fill, mounted_disk


class Office:
    """A data folder with an empty database, and a backup of it."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.file = folder / "office.backup"
        populate(self.data)

    def run(self, *arguments: str, data: Path | None = None) -> Result:
        environment = {"PHONEPROV_DATA_DIR": str(data or self.data)}
        return CliRunner(env=environment).invoke(main, arguments)

    def back_up(self, *options: str) -> None:
        done = self.run("backup", *options, str(self.file))
        assert done.exit_code == 0, done.output

    def restore(self, new: Path) -> Result:
        return self.run("restore", str(self.file), data=new)

    def execute(self, statement: str, *values: str) -> None:
        with closing(sqlite3.connect(self.data / "phoneprov.db")) as connection, connection:
            connection.execute(statement, values)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def test_backup_with_keys_restores_everything(office: Office, tmp_path: Path) -> None:
    office.back_up("--with-keys")
    assert office.file.stat().st_mode & 0o777 == 0o600
    assert {file.name for file in tmp_path.iterdir()} == {"data", "office.backup"}

    new = tmp_path / "new" / "data"
    restored = office.restore(new)

    assert restored.exit_code == 0, restored.output
    assert "The secret keys fit the backup." in restored.output
    assert (new / "secret.key").read_bytes() == (office.data / "secret.key").read_bytes()
    assert {(new / name).stat().st_mode & 0o777 for name in ("secret.key", "phoneprov.db")} == {
        0o600
    }
    assert not [file for file in new.iterdir() if "new-" in file.name]
    assert new.stat().st_mode & 0o777 == 0o700


def test_restore_without_keys_names_their_folder_and_creates_none(
    office: Office, tmp_path: Path
) -> None:
    office.back_up()
    new = tmp_path / "new"

    restored = office.restore(new)

    assert restored.exit_code == 0
    assert f"put the key file back as {new / 'secret.key'}" in restored.output
    assert not (new / "secret.key").exists()


@pytest.mark.parametrize("held", ["phoneprov.db", "phoneprov.db-wal"])
def test_restore_into_a_folder_with_data_is_refused(
    office: Office, tmp_path: Path, held: str
) -> None:
    office.back_up()
    new = tmp_path / "new"
    new.mkdir()
    (new / held).write_bytes(b"data")

    refused = office.restore(new)

    assert refused.exit_code == 1
    assert "the folder contains data" in refused.output
    assert (new / held).read_bytes() == b"data"


HOLD = """
import asyncio, os, sys
from phoneprov_adapters.composition.lifecycle import open_phoneprov
from phoneprov_adapters.composition.settings import read_settings

async def hold():
    async with open_phoneprov(read_settings(os.environ)):
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.readline)

asyncio.run(hold())
"""
"""A process that uses the database until its input ends."""


@pytest.mark.parametrize("place", ["data/before", "elsewhere", None])
def test_restore_beside_a_process_whose_files_were_moved_is_refused(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str | None
) -> None:
    monkeypatch.setattr("phoneprov_adapters.sql.engines.processes._USERS_SECONDS", 0.0)
    office.back_up()
    environment = {**os.environ, "PHONEPROV_DATA_DIR": str(office.data)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        _clear(office.data, None if place is None else tmp_path / place)
        refused = office.restore(office.data)
        other.stdin.close()
        assert other.wait(30) == 0

    assert refused.exit_code == 1
    assert f"stop process {other.pid} (" in refused.output
    assert not (office.data / "phoneprov.db").exists()
    restored = office.restore(office.data)
    assert restored.exit_code == 0, restored.output


def _clear(data: Path, place: Path | None) -> None:
    """Move the files of the database to another place, or remove them."""
    if place is not None:
        place.mkdir()
    for file in data.glob("phoneprov.db*"):
        if place is not None:
            file.rename(place / file.name)
        elif file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink()


def test_restore_beside_a_process_of_another_database_succeeds(
    office: Office, tmp_path: Path
) -> None:
    office.back_up()
    other = Office(tmp_path / "other")
    settings = read_settings({"PHONEPROV_DATA_DIR": str(other.data)})

    with blocking(open_phoneprov(settings)):
        restored = office.restore(tmp_path / "new")

    assert restored.exit_code == 0, restored.output


def test_backup_existing_file_is_kept(office: Office) -> None:
    office.file.write_bytes(b"another")

    refused = office.run("backup", str(office.file))

    assert (refused.exit_code, office.file.read_bytes()) == (1, b"another")


def test_backup_without_database_creates_nothing(office: Office, tmp_path: Path) -> None:
    (office.data / "phoneprov.db").write_bytes(b"no database" * 500)

    refused = office.run("backup", str(office.file))

    assert refused.exit_code == 1
    assert {file.name for file in tmp_path.iterdir()} == {"data"}


@pytest.mark.parametrize("schema", ["0050", "0950"])
def test_backup_of_another_schema_names_it_and_the_next_step(office: Office, schema: str) -> None:
    office.execute("UPDATE alembic_version SET version_num = ?", schema)

    refused = office.run("backup", str(office.file))

    assert refused.output.startswith(f"phoneprov: The database's schema {schema} is "), refused
    assert "-new-" not in refused.output
    assert not office.file.exists()


def test_backup_removes_leftovers_of_a_crash(office: Office, tmp_path: Path) -> None:
    left = tmp_path / ".office.backup-new-killed"
    left.mkdir()
    (left / "phoneprov.db").write_bytes(b"half")

    office.back_up()

    assert not left.exists()


def test_index_that_disagrees_with_its_table_is_not_backed_up(office: Office) -> None:
    with closing(sqlite3.connect(office.data / "phoneprov.db")) as connection:
        connection.execute("CREATE INDEX wrong ON alembic_version (version_num)")
        connection.execute("PRAGMA writable_schema=ON")
        text = "CREATE INDEX wrong ON alembic_version (length(version_num))"
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'wrong'", (text,))
        connection.commit()

    refused = office.run("backup", str(office.file))

    assert refused.exit_code == 1, refused.output
    assert not office.file.exists()


def test_damaged_database_is_not_backed_up(office: Office) -> None:
    office.back_up()
    office.file.unlink()
    database = office.data / "phoneprov.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(database.read_bytes())
    content[5 * 4096 :] = b"\xa5" * (len(content) - 5 * 4096)
    database.write_bytes(content)

    refused = office.run("backup", str(office.file))

    assert refused.exit_code == 1, refused.output
    assert not office.file.exists()


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def _make_sparse(file: Path) -> None:
    huge = 1 << 40
    _change_manifest(file, "files", {"phoneprov.db": {"size": huge, "sha256": "0" * 64}}, huge=huge)
    assert file.stat().st_size < 100_000


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_cut, "not a complete backup"),
        (_flip, "damaged"),
        (lambda file: file.write_bytes(b""), "not a complete backup"),
        (lambda file: file.write_bytes(b"hello\n"), "not a complete backup"),
        (lambda file: _change_manifest(file, "format", 2), "has the format 2"),
        (lambda file: _change_manifest(file, "schema", "9999"), "is newer than"),
        (lambda file: _change_manifest(file, "created_at", "\x1b[2J2026"), ""),
        (_make_sparse, "is damaged"),
    ],
)
def test_restore_of_a_changed_backup_is_refused_and_leaves_no_database(
    office: Office, tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    office.back_up()
    damage(office.file)

    began = time.monotonic()
    refused = office.restore(tmp_path / "new")

    assert (refused.exit_code, message in refused.output) == (1, True), refused.output
    assert "\x1b" not in refused.output
    assert time.monotonic() - began < 5
    assert not (tmp_path / "new" / "phoneprov.db").exists()


@pytest.mark.parametrize(
    ("foreign", "message"),
    [
        ("CREATE VIEW v AS SELECT * FROM users", "triggers or views"),
        (
            "CREATE TRIGGER t AFTER INSERT ON audit BEGIN DELETE FROM audit; END",
            "triggers or views",
        ),
        ("DROP TABLE audit", "other tables"),
        ("ALTER TABLE audit DROP COLUMN changes", "other tables"),
        ("ALTER TABLE phones ADD COLUMN more", "other tables"),
        ("ALTER TABLE phones ADD COLUMN more AS (mac)", "other tables"),
        ("CREATE TABLE more (x)", "other tables"),
        ("CREATE VIRTUAL TABLE more USING fts5 (x)", "other tables"),
    ],
)
def test_restore_of_a_database_of_another_shape_is_refused_without_its_keys(
    office: Office, tmp_path: Path, foreign: str, message: str
) -> None:
    office.execute(foreign)
    office.back_up("--with-keys")

    refused = office.restore(tmp_path / "new")

    assert (refused.exit_code, message in refused.output) == (1, True), refused.output
    assert not [*(tmp_path / "new").glob("*.db")]
    assert not (tmp_path / "new" / "secret.key").exists()


@pytest.mark.parametrize("size", [-512, -1024, -(2**40)])
def test_restore_of_an_archive_with_a_negative_size_ends(
    office: Office, tmp_path: Path, size: int
) -> None:
    """tarfile reads an entry of -512 bytes again and again."""
    office.back_up()
    header = bytearray(tarfile.TarInfo("more").tobuf(tarfile.GNU_FORMAT))
    header[124:136] = size.to_bytes(12, "big", signed=True)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    with office.file.open("r+b") as file:
        file.seek(_end_of(office.file))
        file.write(header)

    refused = office.restore(tmp_path / "new")

    assert (refused.exit_code, "damaged" in refused.output) == (1, True), refused.output


@pytest.mark.parametrize("malformed", ["text", "size", "sparse"])
def test_restore_of_a_malformed_archive_is_refused_in_one_line(
    office: Office, tmp_path: Path, malformed: str
) -> None:
    entry = tarfile.TarInfo(backup_archive.DATABASE if malformed == "sparse" else "manifest.json")
    content = b'{"format": 1, "version": "\xff"}'
    entry.size = len(content)
    if malformed == "sparse":
        entry.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    with tarfile.open(office.file, "w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(entry, io.BytesIO(content))
    if malformed == "size":
        entry.size = 2**80
        header = entry.tobuf(tarfile.GNU_FORMAT)
        office.file.write_bytes(header + office.file.read_bytes()[len(header) :])

    refused = office.restore(tmp_path / "new")

    assert (refused.exit_code, refused.output.count("\n")) == (1, 1), refused.output
    assert "is not a complete backup" in refused.output


def _end_of(archive: Path) -> int:
    """Where the entries of an archive end."""
    with tarfile.open(archive) as opened:
        opened.getmembers()
        return opened.offset


def test_backup_of_postgres_names_pg_dump(tmp_path: Path) -> None:
    environment = {
        "PHONEPROV_DATABASE_URL": "postgresql+asyncpg://u@db/x",
        "PHONEPROV_SECRET_KEYS": "a key of the tests that is long enough",
    }
    done = CliRunner(env=environment).invoke(main, ["backup", str(tmp_path / "file")])
    assert (done.exit_code, "pg_dump" in done.output) == (2, True)


def test_backup_opens_as_a_sqlite_database(office: Office, tmp_path: Path) -> None:
    office.back_up()
    with tarfile.open(office.file) as archive:
        archive.extract("phoneprov.db", tmp_path, filter="data")
    with closing(sqlite3.connect(tmp_path / "phoneprov.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert backup_archive.check(office.file).files.keys() == {"phoneprov.db"}


def _change_manifest(file: Path, field: str, value: object, *, huge: int = 0) -> None:
    with tarfile.open(file) as archive:
        contents = {
            member.name: content.read()
            for member in archive
            if (content := archive.extractfile(member)) is not None
        }
    contents["manifest.json"] = json.dumps(
        json.loads(contents["manifest.json"]) | {field: value}
    ).encode()
    if huge:
        contents["phoneprov.db"] = b"0\n".ljust(512, b"\0")  # the map of a file of zeros
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as archive:
        for name, text in contents.items():
            entry = tarfile.TarInfo(name)
            if huge and name == "phoneprov.db":
                entry.pax_headers = {
                    "GNU.sparse.major": "1",
                    "GNU.sparse.minor": "0",
                    "GNU.sparse.name": name,
                    "GNU.sparse.realsize": str(huge),
                }
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))


@NEEDS_ROOT
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 1])
def test_restore_onto_a_full_disk_does_not_blame_the_backup(
    office: Office, tmp_path: Path, share: float
) -> None:
    office.back_up("--with-keys")
    leave = int((office.data / "phoneprov.db").stat().st_size * share) + 4096
    with mounted_disk(tmp_path / "disk") as disk:
        filling = fill(disk, leave)
        refused = office.restore(disk / "data")

        assert refused.exit_code == 1, refused.output
        assert len(refused.output.strip().splitlines()) == 1
        assert re.search("No space left|full", refused.output), refused.output
        assert "office.backup" not in refused.output
        assert not (disk / "data" / "phoneprov.db").exists()
        filling.unlink()
        restored = office.restore(disk / "data")
        assert restored.exit_code == 0, restored.output


@NEEDS_ROOT
@pytest.mark.parametrize("leave", [0, 400, 1000])
def test_backup_onto_a_full_disk_says_so(office: Office, tmp_path: Path, leave: int) -> None:
    with mounted_disk(tmp_path / "disk") as disk:
        fill(disk, leave * 1024)
        refused = office.run("backup", str(disk / "office.backup"))

    assert refused.exit_code == 1
    assert refused.output == (
        f"phoneprov: The backup {disk / 'office.backup'} cannot be written: No space left on "
        "device.\n"
    )


@NEEDS_ROOT
def test_export_onto_a_full_disk_says_so_and_not_see_help(office: Office, tmp_path: Path) -> None:
    with mounted_disk(tmp_path / "disk") as disk:
        fill(disk)
        refused = office.run("export", "users", str(disk / "users.csv"))

    assert refused.exit_code == 1
    assert refused.output == (
        f"phoneprov: {disk / 'users.csv'} cannot be written: No space left on device.\n"
    )
