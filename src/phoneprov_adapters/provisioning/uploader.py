"""An uploader that stores files in the database, from which ``phoneprov provision`` serves them."""

import hashlib
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from phoneprov_core.devices.errors import RefusedMidway
from phoneprov_core.devices.names import check_segments
from phoneprov_core.devices.ports import (
    REPLACED_ANOTHER,
    ConfigUploader,
    FilesOnServer,
    LeaseCheck,
    ReadsFiles,
    Upload,
    Uploaded,
)
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import Refused, Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.provisioning.model import ServedFile
from phoneprov_core.provisioning.ports import ServedFileStore

PLACE = "served"
"""Prefix of the places of uploaded files."""


class ServedFilesTransaction(Protocol):
    """The one store that the uploader writes, and the leases that it looks at."""

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

    async def read(self, name: str, limit: int) -> bytes | None:
        try:
            async with self._open.read() as tx:
                file = await tx.served_files.find(name)
        except Unavailable as error:
            raise Refused(f"Reading the file failed: {error.message}") from None
        return None if file is None else file.content[:limit]
