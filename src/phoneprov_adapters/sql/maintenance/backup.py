"""Backups of an embedded database: one file, checked after it was written.

A backup is a tar archive (mode 0600) with ``phoneprov.db``, on request ``secret.key``, and
``manifest.json``: the format, the version and the schema, and size and SHA-256 of each file.
Everything here blocks.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import os
import shutil
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import IO
from urllib.parse import quote

import msgspec
from msgspec import Struct
from sqlalchemy import insert
from sqlalchemy.dialects import sqlite

from phoneprov_adapters.sql.maintenance.schema import newest
from phoneprov_adapters.sql.tables import audit
from phoneprov_core.audit.model import AuditEntry
from phoneprov_core.kernel.errors import Conflict, Refused

FORMAT = 1
DATABASE = "phoneprov.db"
KEYS = "secret.key"
_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 64 * 1024
_LARGEST_KEYS = 64 * 1024
_PIECE = 1024 * 1024
_AUDITED = "0010"
"""The first schema with an audit trail."""


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


def back_up(source: Path, target: Path, created_at: str, *, keys: Path | None = None) -> Manifest:
    """Write a consistent copy of the database, also while a service writes to it, and check it.

    ``target`` exists only once it is complete. Raises ``Conflict`` if it exists already, and
    ``Refused``.
    """
    if target.exists():
        raise Conflict(f"{target} exists already; choose another name.")
    try:
        with _draft_folder(target) as folder:
            copy = folder / DATABASE
            schema = _copied(source, copy)
            files = {DATABASE: copy} | ({} if keys is None else {KEYS: keys})
            manifest = Manifest(
                format=FORMAT,
                version=version("phoneprov"),
                schema=schema,
                created_at=created_at,
                files={name: _described(file) for name, file in files.items()},
            )
            archive = folder / "archive"
            _write_archive(archive, files, manifest)
            check(archive)
            os.link(archive, target)  # unlike a rename, it replaces nothing
            _sync(target.parent)
    except FileExistsError:
        raise Conflict(f"{target} exists already; choose another name.") from None
    except OSError as error:
        raise Refused(f"The backup {target} cannot be written: {error.strerror}.") from None
    return manifest


def check(backup: Path) -> Manifest:
    """The manifest of a backup whose files agree with it. Raises ``Refused``."""
    with _opened(backup) as (archive, manifest):
        for name, described in manifest.files.items():
            _copy(_member(archive, name, backup), None, described, backup)
    return manifest


def extract_database(backup: Path, target: Path, entry: AuditEntry) -> Manifest:
    """Write the database of a backup to an empty file, check it, and add ``entry`` to its audit
    trail. Raises ``Refused``."""
    with _opened(backup) as (archive, manifest):
        with target.open("wb") as file:
            _copy(_member(archive, DATABASE, backup), file, manifest.files[DATABASE], backup)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.closing(sqlite3.connect(target)) as connection:
            if _schema_of(connection, backup) != manifest.schema:
                raise _damaged(backup)
            if manifest.schema >= _AUDITED:
                _add(connection, entry)
    return manifest


def _add(connection: sqlite3.Connection, entry: AuditEntry) -> None:
    row = msgspec.structs.asdict(entry)
    row["changes"] = msgspec.json.encode(entry.changes).decode()
    # Without SQLAlchemy's connection: the file is not yet the database of an installation.
    statement = insert(audit).values(dict.fromkeys(row)).compile(dialect=sqlite.dialect())
    connection.execute(str(statement), [row[name] for name in statement.positiontup or ()])
    connection.commit()


def extract_keys(backup: Path, target: Path) -> bool:
    """Write the key file of a backup, with mode 0600, if it holds one and there is none at
    ``target``; whether it did. Raises ``Refused``."""
    with _opened(backup) as (archive, manifest):
        described = manifest.files.get(KEYS)
        if described is None or target.exists():
            return False
        content = io.BytesIO()
        if described.size > _LARGEST_KEYS:
            raise _damaged(backup)
        _copy(_member(archive, KEYS, backup), content, described, backup)
    descriptor, draft = tempfile.mkstemp(prefix=f"{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.getvalue())
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, target)
    except FileExistsError:
        return False
    finally:
        os.unlink(draft)  # noqa: PTH108 - mkstemp answers text
    _sync(target.parent)
    return True


def _copied(source: Path, copy: Path) -> str:
    """Copy a database; its schema. One step copies all pages: a copy in several steps begins
    again with each change of another process."""
    try:
        with (
            contextlib.closing(
                sqlite3.connect(f"file:{quote(str(source))}?mode=ro", uri=True, timeout=10)
            ) as live,
            contextlib.closing(sqlite3.connect(copy)) as connection,
        ):
            live.backup(connection)
            # Without this, the copy would need a second file beside it.
            connection.execute("PRAGMA journal_mode=DELETE")
            return _schema_of(connection, source)
    except sqlite3.Error as error:
        raise Refused(f"The database {source} cannot be copied: {error}.") from error


def _schema_of(connection: sqlite3.Connection, place: Path) -> str:
    """The schema of a database without damage. Raises ``Refused``."""
    try:
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",):
            raise _damaged(place)
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        row = None
    if row is None:
        raise Refused(f"{place} contains no database of phoneprov.")
    return str(row[0])


def _described(file: Path) -> BackedUpFile:
    with file.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
        return BackedUpFile(content.tell(), digest)


def _write_archive(archive: Path, files: dict[str, Path], manifest: Manifest) -> None:
    with archive.open("xb") as file:
        archive.chmod(0o600)
        with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
            for name, content in files.items():
                with content.open("rb") as opened:
                    tar.addfile(_entry(name, manifest.files[name].size), opened)
            text = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
            tar.addfile(_entry(_MANIFEST, len(text)), io.BytesIO(text))
        file.flush()
        os.fsync(file.fileno())


def _entry(name: str, size: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    return entry


@contextlib.contextmanager
def _opened(backup: Path) -> Iterator[tuple[tarfile.TarFile, Manifest]]:
    try:
        with tarfile.open(backup, mode="r:") as archive:
            entry = archive.getmember(_MANIFEST)
            text = archive.extractfile(entry)
            if text is None or entry.size > _LARGEST_MANIFEST:
                raise _damaged(backup)
            content = text.read()
            declared = msgspec.json.decode(content, type=_Declared).format
            if declared != FORMAT:
                raise Refused(
                    f"{backup} has the format {declared}, which this version does not support. Use "
                    "the version of phoneprov that made it."
                )
            manifest = msgspec.json.decode(content, type=Manifest)
            if manifest.schema > newest():
                raise Refused(
                    f"{backup} was made by version {manifest.version}, whose schema "
                    f"({manifest.schema}) is newer than that of this version ({newest()})."
                )
            if DATABASE not in manifest.files:
                raise _damaged(backup)
            yield archive, manifest
    except OSError as error:
        raise Refused(f"{backup} cannot be read: {error.strerror}.") from None
    except (tarfile.TarError, KeyError, msgspec.MsgspecError, EOFError):
        raise Refused(f"{backup} is not a complete backup of phoneprov.") from None


class _Declared(Struct, frozen=True):
    format: int


def _member(archive: tarfile.TarFile, name: str, backup: Path) -> IO[bytes]:
    member = archive.extractfile(name)
    if member is None:
        raise _damaged(backup)
    return member


def _copy(
    source: IO[bytes], target: IO[bytes] | None, described: BackedUpFile, backup: Path
) -> None:
    """Read a file of a backup. Raises ``Refused`` if it is not what the manifest describes."""
    digest, size = hashlib.sha256(), 0
    while piece := source.read(_PIECE):
        digest.update(piece)
        size += len(piece)
        if target is not None:
            target.write(piece)
    if (size, digest.hexdigest()) != (described.size, described.sha256):
        raise _damaged(backup)


def _damaged(place: Path) -> Refused:
    return Refused(f"{place} is damaged.")


@contextlib.contextmanager
def _draft_folder(target: Path) -> Iterator[Path]:
    """A folder beside the target that is removed at the end. The lock on it ends with the
    process: folders without one are of processes that were killed, and are removed."""
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


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
