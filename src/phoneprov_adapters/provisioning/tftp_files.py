"""Files for the TFTP server, each request recorded."""

from collections.abc import Callable

from phoneprov_adapters.provisioning.contents import MemoryFile
from phoneprov_adapters.tftp.packets import ErrorCode
from phoneprov_adapters.tftp.server import Denied, OpenFile
from phoneprov_core.provisioning.model import FetchResult, Transport
from phoneprov_core.provisioning.ports import SharedFile
from phoneprov_core.provisioning.use_cases import Ended, FileRequest, Provided, ProvideFile

_DENIED = {
    FetchResult.NOT_FOUND: Denied(ErrorCode.NOT_FOUND, "File not found."),
    FetchResult.REFUSED: Denied(ErrorCode.ACCESS_VIOLATION, "Access denied."),
}


class TftpFiles:
    """Opens files by name for client addresses."""

    def __init__(self, provide: ProvideFile, record: Callable[[Ended], None]) -> None:
        self._provide = provide
        self._record = record

    async def __call__(self, name: str, client_ip: str) -> OpenFile | Denied:
        """The file, or the error for the client, which is recorded too."""
        provided = await self._provide.open(FileRequest(Transport.TFTP, name, client_ip))
        if provided.result is FetchResult.SERVED:
            return _RecordedFile(self._provide, provided, self._record)
        self._record(self._provide.ended(provided, is_complete=False, size=0, duration_ms=0))
        return _DENIED[provided.result]


class _RecordedFile(OpenFile):
    """An open file that records its transfer."""

    def __init__(
        self, provide: ProvideFile, provided: Provided, record: Callable[[Ended], None]
    ) -> None:
        self._provide = provide
        self._record = record
        self._provided = provided
        self._content: SharedFile = provided.file or MemoryFile(provided.content or b"")

    @property
    def size(self) -> int:
        return self._content.size

    def loaded(self, offset: int, size: int) -> bytes | None:
        return self._content.loaded(offset, size)

    async def load(self, offset: int) -> None:
        await self._content.load(offset)

    def finish(self, *, is_complete: bool, size: int, seconds: float) -> None:
        self._content.close()
        ended = self._provide.ended(
            self._provided,
            is_complete=is_complete,
            size=size,
            duration_ms=round(seconds * 1000),
        )
        self._record(ended)
