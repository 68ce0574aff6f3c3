"""Backups: the archive, and making and restoring one."""

import contextlib
import errno
import fcntl
import hashlib
import io
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct
from sqlalchemy import insert
from sqlalchemy.dialects import sqlite

from phoneprov_adapters.security.keys import create_key_file, sync_folder
from phoneprov_adapters.sql.engines.revisions import foreign, known, newest, revision_table
from phoneprov_adapters.sql.engines.sqlite_file import read_only
from phoneprov_adapters.sql.tables import metadata
from phoneprov_adapters.sql.tables.people import audit
from phoneprov_core.kernel.errors import Conflict, Refused
from phoneprov_core.people.audit import AuditEntry

FORMAT = 1
DATABASE = "phoneprov.db"
KEYS = "secret.key"
_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 64 * 1024
_PIECE = 1024 * 1024

_MALFORMED = (LookupError, ValueError, TypeError, OverflowError, RecursionError)
"""What tarfile and msgspec raise besides their own errors for some malformed archives."""


class BackedUpFile(Struct, frozen=True):
    """A file of a backup; ``sha256`` in hexadecimal digits."""

    size: int
    sha256: str


class Manifest(Struct, frozen=True):
    """The description of a backup in its archive. ``created_at`` is a shown moment."""

    format: int
    version: str
    schema: str
    created_at: str
    files: dict[str, BackedUpFile]

    @property
    def texts(self) -> tuple[str, ...]:
        """What is shown of it."""
        return self.version, self.schema, self.created_at


def write_archive(
    archive: Path, files: Mapping[str, Path], *, schema: str, created_at: str
) -> Manifest:
    """Write a new archive with these files."""
    described = {}
    with archive.open("xb") as file:
        archive.chmod(0o600)
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for name, path in files.items():
                with path.open("rb") as source:
                    digest = hashlib.file_digest(source, "sha256")
                    entry = _entry(name, source.tell())
                    source.seek(0)
                    tar.addfile(entry, source)
                described[name] = BackedUpFile(entry.size, digest.hexdigest())
            manifest = Manifest(FORMAT, version("phoneprov"), schema, created_at, described)
            text = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
            tar.addfile(_entry(_MANIFEST, len(text)), io.BytesIO(text))
        file.flush()
        os.fsync(file.fileno())
    return manifest


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry


def check(backup: Path) -> Manifest:
    """The manifest of a backup whose files agree with it. Raises ``Refused``."""
    with opened(backup) as (archive, manifest):
        for name in manifest.files:
            copy(backup, archive, manifest, name)
    return manifest


@contextlib.contextmanager
def opened(backup: Path) -> Iterator[tuple[tarfile.TarFile, Manifest]]:
    """An archive and its manifest. Raises ``Refused``."""
    try:
        with tarfile.open(backup, mode="r:") as archive:
            # tarfile reads entries of negative sizes (CVE-2025-8194) again and again.
            if any(entry.size < 0 for entry in archive):
                raise damaged(backup)
            entry = archive.getmember(_MANIFEST)
            if not entry.isreg() or entry.issparse() or entry.size > _LARGEST_MANIFEST:
                raise damaged(backup)
            text = archive.extractfile(entry)
            if text is None:
                raise damaged(backup)
            content = text.read()
            declared = msgspec.json.decode(content, type=_Declared).format
            if declared != FORMAT:
                raise Refused(
                    f"{backup} has the format {declared}, which this version does not support. Use "
                    "the version of phoneprov that made it."
                )
            manifest = msgspec.json.decode(content, type=Manifest)
            if not all(map(str.isprintable, manifest.texts)):
                raise damaged(backup)
            if manifest.schema not in known():
                raise Refused(
                    f"{backup} was made by version {manifest.version}. {foreign(manifest.schema)}"
                )
            if DATABASE not in manifest.files:
                raise damaged(backup)
            yield archive, manifest
    except OSError as error:
        raise Refused(f"{backup} cannot be read: {error.strerror}.") from None
    except (tarfile.TarError, msgspec.MsgspecError, EOFError, *_MALFORMED):
        raise Refused(f"{backup} is not a complete backup of phoneprov.") from None


class _Declared(Struct, frozen=True):
    format: int


def copy(
    backup: Path,
    archive: tarfile.TarFile,
    manifest: Manifest,
    name: str,
    target: IO[bytes] | None = None,
) -> None:
    """Read a file of a backup, and write it to ``target``. Raises ``Refused`` if the file differs
    from the manifest."""
    entry, described = archive.getmember(name), manifest.files[name]
    # A sparse entry of 10 kB can claim a TiB of zeros.
    is_whole = entry.isreg() and not entry.issparse() and entry.size == described.size
    source = archive.extractfile(entry) if is_whole else None
    if source is None or entry.size > backup.stat().st_size:
        raise damaged(backup)
    digest, size = hashlib.sha256(), 0
    while piece := source.read(_PIECE):
        digest.update(piece)
        size += len(piece)
        if target is not None:
            left = memoryview(piece)
            with writing():
                while left:
                    left = left[target.write(left) :]
    if (size, digest.hexdigest()) != (described.size, described.sha256):
        raise damaged(backup)


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """Raises ``Refused`` for a copy that cannot be written: not the backup is at fault."""
    try:
        yield
    except OSError as error:
        raise Refused(f"The data folder cannot be written to: {error.strerror}.") from None


def damaged(place: Path) -> Refused:
    """The error of a file with damage."""
    return Refused(f"{place} is damaged.")


_LARGEST_KEYS = 64 * 1024
_FOREIGN = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"
_TABLES = """SELECT tables.name, columns.name
    FROM sqlite_master tables, pragma_table_xinfo(tables.name) columns
    WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite!_%' ESCAPE '!'"""
_OWN = {
    (table.name, column.name)
    for table in (*metadata.tables.values(), revision_table)
    for column in table.columns
}


def back_up(source: Path, target: Path, created_at: str, *, keys: Path | None = None) -> Manifest:
    """Write a consistent copy of the database, also while a service writes to it, and check it.

    ``target`` exists only once it is complete. Raises ``Conflict`` if it exists already, and
    ``Refused``.
    """
    if target.exists():
        raise Conflict(f"{target} exists already; choose another name.")
    try:
        with _draft_folder(target) as folder:
            copied = folder / DATABASE
            schema = _copied(source, copied)
            if schema not in known():
                raise Refused(foreign(schema))
            files = {DATABASE: copied} | ({} if keys is None else {KEYS: keys})
            archive = folder / "archive"
            manifest = write_archive(archive, files, schema=schema, created_at=created_at)
            check(archive)
            os.link(archive, target)  # unlike a rename, it replaces nothing
            sync_folder(target.parent)
    except FileExistsError:
        raise Conflict(f"{target} exists already; choose another name.") from None
    except OSError as error:
        raise Refused(f"The backup {target} cannot be written: {error.strerror}.") from None
    return manifest


def extract_database(backup: Path, target: Path, entry: AuditEntry) -> Manifest:
    """Write the database of a backup to an empty file, check it, and add ``entry`` to its audit
    trail. Raises ``Refused``."""
    with opened(backup) as (archive, manifest):
        # Without a buffer: what is left in one would fail when the file is closed.
        with target.open("wb", buffering=0) as file:
            copy(backup, archive, manifest, DATABASE, file)
            with writing():
                os.fsync(file.fileno())
        with contextlib.closing(sqlite3.connect(target)) as connection:
            if _schema_of(connection, backup) != manifest.schema:
                raise damaged(backup)
            if connection.execute(_FOREIGN).fetchone() is not None:
                raise Refused(f"{backup} contains triggers or views; phoneprov has none.")
            if manifest.schema == newest() and {*connection.execute(_TABLES)} != _OWN:
                raise Refused(f"{backup} has other tables or columns than phoneprov.")
            _add(connection, entry)
    return manifest


def _add(connection: sqlite3.Connection, entry: AuditEntry) -> None:
    row = msgspec.structs.asdict(entry)
    row["changes"] = msgspec.json.encode(entry.changes).decode()
    # Without SQLAlchemy's connection: the file is not yet the database of an installation.
    statement = insert(audit).values(dict.fromkeys(row)).compile(dialect=sqlite.dialect())
    try:
        connection.execute(str(statement), [row[name] for name in statement.positiontup or ()])
        connection.commit()
    except sqlite3.OperationalError as error:
        raise Refused(f"The data folder cannot be written to: {error}.") from None


def extract_keys(backup: Path, target: Path) -> bool:
    """Write the key file of a backup, with mode 0600, if it holds one and there is none at
    ``target``; whether it did. Raises ``Refused``."""
    with opened(backup) as (archive, manifest):
        described = manifest.files.get(KEYS)
        if described is None or target.exists():
            return False
        content = io.BytesIO()
        if described.size > _LARGEST_KEYS:
            raise damaged(backup)
        copy(backup, archive, manifest, KEYS, content)
    with writing():
        return create_key_file(target, content.getvalue())


def _copied(source: Path, copy: Path) -> str:
    """Copy a database; its schema. One step copies all pages: a copy in several steps begins
    again with each change of another process."""
    try:
        with (
            read_only(source, timeout=10) as live,
            contextlib.closing(sqlite3.connect(copy)) as connection,
        ):
            _fill(connection, live)
            # Without this, the copy would need a second file beside it.
            connection.execute("PRAGMA journal_mode=DELETE")
            return _schema_of(connection, source)
    except sqlite3.Error as error:
        raise Refused(f"The database {source} cannot be copied: {error}.") from error


def _fill(connection: sqlite3.Connection, live: sqlite3.Connection) -> None:
    try:
        live.backup(connection)
    except sqlite3.Error as error:
        if error.sqlite_errorname == "SQLITE_FULL":  # of the copy
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        raise


def _schema_of(connection: sqlite3.Connection, place: Path) -> str:
    """The schema of a database without damage. Raises ``Refused``."""
    try:
        connection.execute("PRAGMA cache_size=-262144")  # 256 MiB: pages are read in any order
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise damaged(place)
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        row = None
    if row is None:
        raise Refused(f"{place} contains no database of phoneprov.")
    return str(row[0])


@contextlib.contextmanager
def _draft_folder(target: Path) -> Iterator[Path]:
    """A folder beside the target that is removed at the end. The lock on the folder ends with the
    process. Folders without a lock belong to killed processes and are removed."""
    prefix = f".{target.name}-new-"
    for left in target.parent.glob(f"{prefix}*"):
        with contextlib.suppress(OSError), _locked(left):
            shutil.rmtree(left)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=target.parent))
    try:
        with _locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
