"""Seeing phones come back, over their own web servers."""

from __future__ import annotations

import asyncio

from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.deployments.ports import PhoneInformation, PhoneWatch, Watching
from phoneprov_core.devices.restart import reachable_ip
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.phones.model import Phone

AT_FIRST = 0.5
LATER = 2.0
AT_FIRST_FOR = 10.0
"""Seconds between two questions: a simulated phone is away for two seconds, a real one for
dozens, and none is to be pestered for minutes."""

ONE_QUESTION = 2.0
"""Seconds a phone has to answer."""

FIRST_QUESTION = 1.0
"""Seconds for the one at the beginning: a phone is asked one thing at a time, so that a mute one
holds up the clearing of its services for so long, and a switch has to end in time."""

AT_ONCE = 32
"""Questions under way at a time, to all phones together."""


class WebWatch(PhoneWatch):
    """Asks a phone who it is until it has been away and is back.

    That a phone was away and answers again with its own MAC shows that it, or the way to it,
    was interrupted behind the order; what it read meanwhile it does not tell.
    """

    def __init__(self, information: PhoneInformation, networks: PhoneNetworks) -> None:
        self._information = information
        self._networks = networks
        self._turns = asyncio.Semaphore(AT_ONCE)

    async def begin(self, phone: Phone) -> Watching:
        address = self._networks.allowed(reachable_ip(phone))
        # Nobody can see somebody go away who is not there, or does not say who they are.
        found = await self._information.read(address, FIRST_QUESTION)
        if found.mac is None:
            raise Refused("What answers at the phone's address does not tell its MAC.")
        return _Asking(self._information, self._turns, phone, address)


class _Asking(Watching):
    def __init__(
        self, information: PhoneInformation, turns: asyncio.Semaphore, phone: Phone, address: str
    ) -> None:
        self._information = information
        self._turns = turns
        self._mac = phone.mac
        self._address = address
        self._away_since: float | None = None

    async def returned(self, seconds: float) -> str:
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(seconds):
                while not (told := await self._look()):
                    passed = asyncio.get_running_loop().time() - began
                    await asyncio.sleep(AT_FIRST if passed < AT_FIRST_FOR else LATER)
                return told
        except TimeoutError:
            raise TimedOut(self._so_far(seconds)) from None

    async def close(self) -> None:
        """Nothing is held."""

    async def _look(self) -> str:
        """What was seen, when it is what is waited for; empty else."""
        now = asyncio.get_running_loop().time()
        try:
            async with self._turns:
                found = await self._information.read(self._address, ONE_QUESTION)
        except (Refused, TimedOut):
            if self._away_since is None:
                self._away_since = now
            return ""
        if found.mac is not None and found.mac != self._mac:
            raise Refused(f"Another phone, {found.mac}, answers at the phone's address.")
        if found.mac is None or self._away_since is None:
            return ""
        away = now - self._away_since
        firmware = f", with the firmware {found.load}" if found.load else ""
        return f"The phone was away for {away:.0f} s and answers again{firmware}."

    def _so_far(self, seconds: float) -> str:
        if self._away_since is None:
            return f"The phone was not seen to restart: it went on answering for {seconds:.0f} s."
        return f"The phone went away and was not seen to come back within {seconds:.0f} s."
