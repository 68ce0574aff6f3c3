"""A ``ConfigUploader`` that stores files in memory."""

import asyncio
import hashlib
from collections import deque

from phoneprov_adapters.ftp.names import check_names, file_of_leftover, hidden_names
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.devices.errors import NoAddress
from phoneprov_core.devices.ports import ConfigUploader, Upload, Uploaded


class MemoryUploader(ConfigUploader):
    """Servers in a dict: ``files["host:21"][filename]`` is a file's content.

    It satisfies the port's contract like the real uploader. ``uploads`` are the uploads that
    succeeded, in order; ``fail_next`` plans a failure.
    """

    def __init__(self, networks: PhoneNetworks, *, host: str | None = None) -> None:
        self.files: dict[str, dict[str, bytes]] = {}
        self.uploads: list[Upload] = []
        self._networks = networks
        self._host = host
        self._planned: deque[Exception] = deque()

    def fail_next(self, error: Exception) -> None:
        """Make the next upload raise this and change nothing; call it again for further
        failures."""
        self._planned.append(error)

    async def upload(self, upload: Upload) -> Uploaded:
        check_names(upload)
        server = f"{self._address(upload)}:21"
        folder = self.files.setdefault(server, {})
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
        return Uploaded(f"{server}/{upload.filename}", len(upload.content), digest)

    def _address(self, upload: Upload) -> str:
        if self._host is not None:
            return self._host
        if upload.phone_ip is None:
            raise NoAddress
        return self._networks.allowed(upload.phone_ip)
