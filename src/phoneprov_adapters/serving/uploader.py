"""The folder of other files, and the uploader that keeps configurations in the database."""

import asyncio
import hashlib
import stat
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from phoneprov_adapters.serving.contents import DiskFile
from phoneprov_core.features.serving.model import (
    ServedFile,
    ServedFileStore,
    SharedFile,
    SharedFiles,
)
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import Refused, Unavailable
from phoneprov_core.kernel.ports import ReadAndWrite
from phoneprov_core.switching.devices.names import check_segments
from phoneprov_core.switching.devices.ports import (
    REPLACED_ANOTHER,
    ConfigUploader,
    FilesOnServer,
    LeaseCheck,
    ReadsFiles,
    Upload,
    Uploaded,
)
from phoneprov_core.switching.errors import RefusedMidway


class NoFolder(SharedFiles):
    """No folder is configured: there are no other files."""

    async def open(self, name: str) -> SharedFile | None:  # noqa: ARG002 - every name is missing
        return None


class Folder(SharedFiles):
    """Regular files of a folder and its subfolders, upper and lower case ignored.

    Where two names differ in case alone, the exact name comes first, then the first in order.
    Symbolic links are followed as long as they stay inside the folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    async def open(self, name: str) -> SharedFile | None:
        return await asyncio.to_thread(self._open, name)

    def _open(self, name: str) -> DiskFile | None:
        path = self._find(name)
        if path is None:
            return None
        try:
            real, root = path.resolve(strict=True), self._root.resolve(strict=True)
            if not real.is_relative_to(root) or not stat.S_ISREG(real.stat().st_mode):
                return None
            return DiskFile(real)
        except (OSError, RuntimeError):
            return None

    def _find(self, name: str) -> Path | None:
        path = self._root
        for segment in name.split("/"):
            found = _entry(path, segment)
            if found is None:
                return None
            path = path / found
        return path


def _entry(folder: Path, segment: str) -> str | None:
    """The entry of a folder with this name, upper and lower case ignored."""
    if (folder / segment).exists():
        return segment
    try:
        names = [entry for entry in folder.iterdir() if entry.name.lower() == segment.lower()]
    except OSError:
        return None
    return min((entry.name for entry in names), default=None)


PLACE = "served"
"""Prefix of the places of uploaded files."""


class ServedFilesTransaction(Protocol):
    """The store that the uploader writes, and the leases that it checks."""

    @property
    def served_files(self) -> ServedFileStore: ...
    @property
    def leases(self) -> LeaseCheck: ...


class ServedUploader(ConfigUploader, ReadsFiles):
    """Stores the file in one transaction, so that phones get the complete old or new file."""

    def __init__(self, open_: ReadAndWrite[ServedFilesTransaction]) -> None:
        self._open = open_

    async def upload(self, upload: Upload) -> Uploaded:
        check_segments(upload.filename, upload.attempt)
        file = ServedFile(upload.filename, upload.content, upload.attempt)
        notes: tuple[str, ...] = ()
        is_put, lost = False, None
        try:
            async with self._open.write(by=SYSTEM_ACTOR) as tx:
                if upload.replaces is not None:
                    old = await tx.served_files.find(upload.filename)
                    found = hashlib.sha256(old.content if old else b"").hexdigest()
                    notes = (REPLACED_ANOTHER,) if found != upload.replaces.sha256 else ()
                await upload.proceed(tx)
                is_put = True
                await tx.served_files.put(file)
        except Unavailable as error:
            lost = Refused(f"Storing the file failed: {error.message}")
            if not is_put:
                raise lost from None
        try:
            async with self._open.read() as tx:
                stored = await tx.served_files.find(upload.filename)
        except Unavailable:
            # The transaction may have been committed.
            raise RefusedMidway(
                "The database went away while the file was stored. It is not known whether "
                f"{upload.filename} is the new file or the old one."
            ) from None
        if stored is None or stored.content != upload.content:
            raise lost or Refused(
                "Verifying failed: the database returned different content than was stored."
            )
        digest = hashlib.sha256(stored.content).hexdigest()
        return Uploaded(f"{PLACE}/{upload.filename}", len(stored.content), digest, notes)

    def server_of(self, phone_ip: str | None) -> str:  # noqa: ARG002 - one for all
        return PLACE

    @asynccontextmanager
    async def opened(
        self,
        phone_ip: str | None,  # noqa: ARG002 - one for all
        seconds: float | None = None,  # noqa: ARG002 - the database has deadlines
    ) -> AsyncIterator["_ServedFiles"]:
        yield _ServedFiles(self._open)


class _ServedFiles(FilesOnServer):
    """The files that this service serves."""

    def __init__(self, open_: ReadAndWrite[ServedFilesTransaction]) -> None:
        self._open = open_

    async def listing(self, names: Collection[str]) -> Mapping[str, str] | None:
        try:
            async with self._open.read() as tx:
                attempts = await tx.served_files.attempts()
        except Unavailable as error:
            raise Refused(f"Listing the files failed: {error.message}") from None
        return {name: attempts[name.lower()] for name in names if name.lower() in attempts}

    def place(self, name: str) -> str:
        return f"{PLACE}/{name}"

    async def read(self, name: str, limit: int) -> bytes | None:
        try:
            async with self._open.read() as tx:
                file = await tx.served_files.find(name)
        except Unavailable as error:
            raise Refused(f"Reading the file failed: {error.message}") from None
        return None if file is None else file.content[:limit]
