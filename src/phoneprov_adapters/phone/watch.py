"""Watches of phones over their own web servers."""

import asyncio

from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.deployments.observation import PhoneInformation, PhoneWatch, Watching
from phoneprov_core.devices.execute import require_phone
from phoneprov_core.devices.restart import reachable_ip
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.phones.model import Phone

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
