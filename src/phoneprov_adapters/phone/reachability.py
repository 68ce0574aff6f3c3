"""Reachability of server and phone, without changing anything."""

import asyncio
from collections.abc import Awaitable, Callable

from phoneprov_adapters.provisioning.uploader import ServedUploader
from phoneprov_core.deployments.observation import (
    PhoneInformation,
    Reach,
    Reachability,
    ServerFile,
)
from phoneprov_core.devices.errors import AddressNotConfirmed
from phoneprov_core.devices.execute import require_phone
from phoneprov_core.devices.ports import ConfigUploader, FilesOnServer, ReadsFiles
from phoneprov_core.devices.restart import reachable_ip
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.phones.model import Phone

SECONDS = 3.0


class RealReachability(Reachability):
    """Logs in by FTP and reads the MAC of phones over their web servers. The result for another
    uploader is None (unknown)."""

    def __init__(self, uploader: ConfigUploader, information: PhoneInformation) -> None:
        self._uploader = uploader
        self._information = information

    async def server(self, phone_ip: str | None, seconds: float = SECONDS) -> Reach:
        return (await self._session(phone_ip, seconds))[0]

    async def file(
        self, phone_ip: str | None, filename: str, limit: int
    ) -> tuple[Reach, ServerFile | None]:
        async def read(files: FilesOnServer) -> ServerFile:
            content = await files.read(filename, limit)
            if content is not None:
                return ServerFile(content)
            listed = await files.listing({filename})
            return ServerFile(None, None if listed is None else filename in listed)

        return await self._session(phone_ip, SECONDS, read)

    async def _session(
        self,
        phone_ip: str | None,
        seconds: float,
        read: Callable[[FilesOnServer], Awaitable[ServerFile]] | None = None,
    ) -> tuple[Reach, ServerFile | None]:
        uploader = self._uploader
        if not isinstance(uploader, ReadsFiles):
            return Reach(None, "This uploader cannot be checked without an upload.", 0), None
        found: ServerFile | None = None

        async def log_in() -> str:
            nonlocal found
            async with uploader.opened(phone_ip, seconds) as files:
                found = await read(files) if read else None
            if isinstance(uploader, ServedUploader):
                return "This service serves the configuration itself."
            return f"Logged in on {uploader.server_of(phone_ip)}."

        return await timed(log_in()), found

    async def phone(self, phone: Phone) -> Reach:
        return await timed(self._ask(phone))

    async def _ask(self, phone: Phone) -> str:
        found = await self._information.read(reachable_ip(phone), SECONDS)
        if found.mac is None:
            return "A web server answers at the phone's address, but does not report its MAC."
        require_phone(phone.mac, found.mac)
        parts = [text for text in (found.model, found.load) if text]
        return f"The phone answers{': ' if parts else ''}{', '.join(parts)}."


async def timed(work: Awaitable[str]) -> Reach:
    """The result of the check, and its duration."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    reachable: bool | None = False
    try:
        message = await work
        reachable = True
    except AddressNotConfirmed as error:  # not asked
        reachable, message = None, error.message
    except PhoneprovError as error:
        message = error.message
    return Reach(reachable, message, int((loop.time() - began) * 1000))
