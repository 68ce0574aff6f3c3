"""Calls as a test sets them."""

from __future__ import annotations

import asyncio

from phoneprov_core.devices.calls import Calls
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.phones.model import Phone


class MemoryCalls(Calls):
    """The phones whose MACs are in ``talking`` are in a call; ``failure`` is raised if set.
    ``asked`` lists the MACs of the queries."""

    def __init__(self) -> None:
        self.talking: set[str] = set()
        self.failure: PhoneprovError | None = None
        self.asked: list[str] = []

    async def in_call(self, phone: Phone) -> bool:
        await asyncio.sleep(0)
        self.asked.append(phone.mac)
        if self.failure is not None:
            raise self.failure
        return phone.mac in self.talking
