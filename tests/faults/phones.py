"""Thousands of phones, each at an address of loopback, that state who they are; requests of each
are recorded with their time."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from ipaddress import IPv4Address

from phoneprov_adapters.simulator.web import PhoneWebServer, WebPhone

LOAD, MODEL = "SCCP45.9-4-2SR3-1S", "CP-7945G"
_FIRST = IPv4Address("127.1.0.0")


def host(number: int) -> str:
    """The address of a phone."""
    return str(_FIRST + number)


class Phones(PhoneWebServer):
    """The web server of all phones, for the address 0.0.0.0: ``states`` is what each states, None
    if it does not answer. Of those every second one is silent; the others end the connection."""

    def __init__(self, states: Callable[[int], WebPhone | None]) -> None:
        super().__init__(WebPhone(mac="", model="", name=""), lambda _: None)
        self.states, self._silent = states, list[asyncio.StreamWriter]()
        self.asked: dict[int, list[float]] = defaultdict(list)

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = int(IPv4Address(writer.get_extra_info("sockname")[0])) - int(_FIRST)
        self.asked[number].append(time.monotonic())
        if phone := self.states(number):
            PhoneWebServer(phone, lambda _: None).connected(reader, writer)
        elif number % 2:
            writer.transport.abort()
        else:
            self._silent.append(writer)

    async def close(self) -> None:
        for writer in self._silent:
            writer.transport.abort()
        await super().close()
