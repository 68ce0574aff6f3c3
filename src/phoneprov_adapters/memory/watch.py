"""Watches of phones that a test controls."""

import asyncio
from collections import defaultdict

from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import PhoneprovError, TimedOut
from phoneprov_core.switching.deployments.observation import (
    PhoneWatch,
    Reach,
    Reachability,
    ServerFile,
    Watching,
)


class MemoryWatch(PhoneWatch):
    """``comes_back`` completes all watches of a phone, ``goes_missing`` fails them. ``refuse``
    plans that the next watch cannot begin. ``watched`` lists the MACs under watch, oldest
    first."""

    def __init__(self) -> None:
        self.watched: list[str] = []
        self._refusal: PhoneprovError | None = None
        self._waiting: defaultdict[str, list[asyncio.Future[str]]] = defaultdict(list)

    def refuse(self, error: PhoneprovError) -> None:
        """Plan that the next ``begin`` raises this."""
        self._refusal = error

    def comes_back(self, mac: str, message: str = "The phone was seen.") -> None:
        """Complete all watches of this phone."""
        for waiting in self._waiting[mac]:
            if not waiting.done():
                waiting.set_result(message)

    def goes_missing(self, mac: str, error: PhoneprovError | None = None) -> None:
        """Fail all watches of this phone."""
        for waiting in self._waiting[mac]:
            if not waiting.done():
                waiting.set_exception(error or TimedOut("The phone was not seen."))

    async def begin(self, phone: Phone, *, is_restarting: bool = False) -> Watching:  # noqa: ARG002
        await asyncio.sleep(0)
        if self._refusal is not None:
            error, self._refusal = self._refusal, None
            raise error
        waiting: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting[phone.mac].append(waiting)
        self.watched.append(phone.mac)
        return _Watched(self, phone.mac, waiting)

    def leave(self, mac: str, waiting: asyncio.Future[str]) -> None:
        """End one watch."""
        self._waiting[mac].remove(waiting)
        self.watched.remove(mac)
        waiting.cancel()
        if not waiting.cancelled():
            waiting.exception()  # Retrieved, so that asyncio does not report it: no caller waits.


class _Watched(Watching):
    def __init__(self, watch: MemoryWatch, mac: str, waiting: asyncio.Future[str]) -> None:
        self._watch = watch
        self._mac = mac
        self._waiting = waiting

    async def returned(self, seconds: float) -> str:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(self._waiting)
        except TimeoutError:
            raise TimedOut(f"The phone was not seen within {seconds:g} s.") from None

    async def close(self) -> None:
        self._watch.leave(self._mac, self._waiting)


class MemoryReachability(Reachability):
    """Everything can be reached, unless ``at_server`` or ``at_phone`` says otherwise, and the file
    on the server is ``at_file``.
    ``asked`` lists the addresses and phones of the queries, in order."""

    def __init__(self) -> None:
        self.asked: list[str | Phone | None] = []
        self.at_server = Reach(True, "Logged in.", 0)
        self.at_phone = Reach(True, "The phone answers.", 0)
        self.at_file: ServerFile | None = None

    async def server(self, phone_ip: str | None, seconds: float = 3.0) -> Reach:  # noqa: ARG002
        self.asked.append(phone_ip)
        await asyncio.sleep(0)
        return self.at_server

    async def file(
        self,
        phone_ip: str | None,
        filename: str,  # noqa: ARG002
        limit: int,
    ) -> tuple[Reach, ServerFile | None]:
        found = self.at_file
        if found is not None and found.content is not None:
            found = ServerFile(found.content[:limit])
        return await self.server(phone_ip), found

    async def phone(self, phone: Phone) -> Reach:
        self.asked.append(phone)
        await asyncio.sleep(0)
        return self.at_phone
