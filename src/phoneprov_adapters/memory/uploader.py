"""A ``ConfigUploader`` that stores files in memory."""

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager

from phoneprov_adapters.ftp.names import check_names, file_of_leftover, hidden_names
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.devices.errors import NoAddress
from phoneprov_core.devices.ports import (
    REPLACED_ANOTHER,
    ConfigUploader,
    FilesOnServer,
    ReadsFiles,
    Upload,
    Uploaded,
)


class MemoryUploader(ConfigUploader, ReadsFiles):
    """Servers in a dict: ``files["host:21"][filename]`` is a file's content.

    It satisfies the port's contract like the real uploader. ``uploads`` are the uploads that
    succeeded, in order; ``fail_next`` plans a failure of an upload or of a session.
    """

    def __init__(self, networks: PhoneNetworks, *, host: str | None = None) -> None:
        self.files: dict[str, dict[str, bytes]] = {}
        self.uploads: list[Upload] = []
        self._networks = networks
        self._host = host
        self._planned: deque[Exception] = deque()

    def fail_next(self, error: Exception) -> None:
        """Make the next upload or session raise this and change nothing; call it again for further
        failures."""
        self._planned.append(error)

    async def upload(self, upload: Upload) -> Uploaded:
        check_names(upload)
        server = self.server_of(upload.phone_ip)
        folder = self.files.setdefault(server, {})
        old = folder.get(upload.filename)
        temporary = hidden_names(upload).temporary
        folder[temporary] = upload.content
        try:
            await asyncio.sleep(0)
            if self._planned:
                raise self._planned.popleft()
            folder[upload.filename] = upload.content
        finally:
            folder.pop(temporary, None)
        for name in [name for name in folder if file_of_leftover(name) == upload.filename]:
            del folder[name]
        self.uploads.append(upload)
        digest = hashlib.sha256(upload.content).hexdigest()
        wanted = upload.replaces
        is_another = wanted is not None and hashlib.sha256(old or b"").hexdigest() != wanted.sha256
        notes = (REPLACED_ANOTHER,) if is_another else ()
        return Uploaded(f"{server}/{upload.filename}", len(upload.content), digest, notes)

    def server_of(self, phone_ip: str | None) -> str:
        if self._host is not None:
            return f"{self._host}:21"
        if phone_ip is None:
            raise NoAddress
        return f"{self._networks.allowed(phone_ip)}:21"

    @asynccontextmanager
    async def opened(
        self,
        phone_ip: str | None,
        seconds: float | None = None,  # noqa: ARG002 - nothing takes time
    ) -> AsyncIterator[FilesOnServer]:
        server = self.server_of(phone_ip)
        await asyncio.sleep(0)
        if self._planned:
            raise self._planned.popleft()
        yield MemoryFiles(self.files.setdefault(server, {}))


class MemoryFiles(FilesOnServer):
    """The files of a server; a listing shows their sizes."""

    def __init__(self, folder: dict[str, bytes]) -> None:
        self._folder = folder

    async def listing(self, names: Collection[str]) -> Mapping[str, str] | None:
        await asyncio.sleep(0)
        return {name: str(len(self._folder[name])) for name in names if name in self._folder}

    async def read(self, name: str, limit: int) -> bytes | None:
        await asyncio.sleep(0)
        content = self._folder.get(name)
        return None if content is None else content[:limit]
