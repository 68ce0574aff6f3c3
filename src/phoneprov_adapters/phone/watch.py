"""Whether phones and servers can be reached, and whether a phone comes back."""

import asyncio
from collections.abc import Awaitable, Callable

from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.serving.uploader import ServedUploader
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.switching.deployments.observation import (
    PhoneInformation,
    PhoneWatch,
    Reach,
    Reachability,
    ServerFile,
    Watching,
)
from phoneprov_core.switching.devices.commands import reachable_ip, require_phone
from phoneprov_core.switching.devices.ports import ConfigUploader, FilesOnServer, ReadsFiles
from phoneprov_core.switching.errors import AddressNotConfirmed

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


FIRST_PAUSE = 0.5
LATER_PAUSE = 2.0
FIRST_PAUSE_UNTIL = 10.0
"""Seconds between two requests: 0.5 during the first 10 s, then 2. A simulated phone is absent for
two seconds, a real one for dozens."""

REQUEST_SECONDS = 2.0
"""Timeout of a request, in seconds."""

FIRST_REQUEST_SECONDS = 1.0
"""Timeout of the first request, in seconds. A phone has one request in flight, so that clearing its
services waits for this one; a switch has a deadline."""

MOST_REQUESTS = 32
"""Maximum number of requests in flight, to all phones together."""


class WebWatch(PhoneWatch):
    """Polls a phone's MAC until the phone was absent and answers again.

    A phone that was absent and answers again with its own MAC was interrupted after the command, or
    its network was; which configuration it read is not known.
    """

    def __init__(self, information: PhoneInformation, networks: PhoneNetworks) -> None:
        self._information = information
        self._networks = networks
        self._places = asyncio.Semaphore(MOST_REQUESTS)

    async def begin(self, phone: Phone, *, is_restarting: bool = False) -> Watching:
        address = self._networks.allowed(reachable_ip(phone))
        watched = _WatchedPhone(self._information, self._places, phone, address)
        if is_restarting:
            return watched
        found = await self._information.read(address, FIRST_REQUEST_SECONDS)
        if found.mac is None:
            raise Refused("The web server at the phone's address does not report its MAC.")
        require_phone(phone.mac, found.mac)
        return watched


class _WatchedPhone(Watching):
    def __init__(
        self, information: PhoneInformation, places: asyncio.Semaphore, phone: Phone, address: str
    ) -> None:
        self._information = information
        self._places = places
        self._mac = phone.mac
        self._address = address
        self._away_since: float | None = None

    async def returned(self, seconds: float) -> str:
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(seconds):
                while not (text := await self._poll()):
                    passed = asyncio.get_running_loop().time() - began
                    await asyncio.sleep(FIRST_PAUSE if passed < FIRST_PAUSE_UNTIL else LATER_PAUSE)
                return text
        except TimeoutError:
            raise TimedOut(self._observation(seconds)) from None

    async def close(self) -> None:
        """Does nothing: no connection is kept."""

    async def _poll(self) -> str:
        """The observation if the phone is back, else an empty text."""
        now = asyncio.get_running_loop().time()
        try:
            async with self._places:
                found = await self._information.read(self._address, REQUEST_SECONDS)
        except (Refused, TimedOut):
            if self._away_since is None:
                self._away_since = now
            return ""
        require_phone(self._mac, found.mac)
        if found.mac is None or self._away_since is None:
            return ""
        away = now - self._away_since
        firmware = f", with the firmware {found.load}" if found.load else ""
        return f"The phone was away for {away:.0f} s and answers again{firmware}."

    def _observation(self, seconds: float) -> str:
        if self._away_since is None:
            return f"The phone did not restart: it answered without a pause for {seconds:.0f} s."
        return f"The phone stopped answering and did not answer again within {seconds:.0f} s."
