"""An uploader that stores files in the database, from which ``phoneprov provision`` serves them."""

import hashlib
from typing import Protocol

from phoneprov_adapters.ftp.names import check_names
from phoneprov_core.devices.ports import ConfigUploader, Upload, Uploaded
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import Refused, Unavailable
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.provisioning.model import ServedFile
from phoneprov_core.provisioning.ports import ServedFileStore

PLACE = "served"
"""Prefix of the places of uploaded files."""


class ServedFilesTransaction(Protocol):
    """The one store that the uploader writes."""

    @property
    def served_files(self) -> ServedFileStore: ...


class ServedUploader(ConfigUploader):
    """Stores the file in one transaction, so that phones get the complete old or new file."""

    def __init__(self, open_: ReadAndWrite[ServedFilesTransaction]) -> None:
        self._open = open_

    async def upload(self, upload: Upload) -> Uploaded:
        check_names(upload)
        file = ServedFile(upload.filename, upload.content, upload.attempt)
        try:
            async with self._open.write(by=SYSTEM_ACTOR) as tx:
                await tx.served_files.put(file)
            async with self._open.read() as tx:
                stored = await tx.served_files.find(upload.filename)
        except Unavailable as error:
            raise Refused(f"Storing the file failed: {error.message}") from None
        if stored is None or stored.content != upload.content:
            raise Refused(
                "Verifying failed: the database returned different content than was stored."
            )
        digest = hashlib.sha256(stored.content).hexdigest()
        return Uploaded(f"{PLACE}/{upload.filename}", len(stored.content), digest)
