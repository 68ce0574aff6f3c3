"""The archive of a backup: a tar file (mode 0600) with ``phoneprov.db``, on request ``secret.key``,
and ``manifest.json``: the format, the version and the schema, and size and SHA-256 of each file.
Everything here blocks.
"""

import contextlib
import hashlib
import io
import os
import tarfile
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from phoneprov_adapters.sql.engines.revisions import foreign, known
from phoneprov_core.kernel.errors import Refused

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
    """Read a file of a backup, and write it to ``target``. Raises ``Refused`` if it is not what the
    manifest describes."""
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
