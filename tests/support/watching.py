"""Ways to watch phones, each with a phone that a test unregisters and registers again."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import msgspec

from phoneprov_adapters.asterisk.connection import ManagerConnection, ManagerSettings
from phoneprov_adapters.asterisk.events import ManagerEvents
from phoneprov_adapters.memory.devices import MemoryWatch
from phoneprov_adapters.phone.watch import WebWatch
from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_adapters.simulator.web import WebPhone
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.errors import Refused
from phoneprov_core.switching.deployments.observation import PhoneWatch
from phoneprov_core.switching.devices.names import device_name
from support.ami_stub import SECRET, USER, AmiStub, event
from support.phone_records import a_phone
from support.phone_simulated import FTP_PASSWORD, web
from support.phone_web import IP, LOOPBACK

PHONE = a_phone(1, phone_ip=IP)
OTHER = a_phone(2, phone_ip=IP)
FOR_EVER = 3600.0


class Watched(Protocol):
    """A way to watch phones, and the events of ``PHONE``."""

    @property
    def watch(self) -> PhoneWatch:
        """The watch."""
        ...

    async def leaves(self) -> None:
        """Unregister the phone, and wait until the watch has noticed it."""

    async def comes_back(self, phone: Phone = PHONE) -> None:
        """Register the phone again, or another one that the watch sees in its place."""

    async def is_lost(self) -> None:
        """Make the phone invisible to the watch."""

    def refuses(self) -> None:
        """Let every new watch fail."""

    def watched(self) -> int:
        """The number of watched phones, where that takes resources."""
        ...


class InMemory:
    """The memory adapter."""

    def __init__(self) -> None:
        self.watch = MemoryWatch()

    async def leaves(self) -> None:
        """The memory adapter has no such event."""

    async def comes_back(self, phone: Phone = PHONE) -> None:
        """Set in the memory adapter."""
        self.watch.comes_back(phone.mac)

    async def is_lost(self) -> None:
        """Set in the memory adapter."""
        self.watch.goes_missing(PHONE.mac, Refused("It is not visible."))

    def refuses(self) -> None:
        """Set in the memory adapter."""
        self.watch.refuse(Refused("Not today."))

    def watched(self) -> int:
        """The watches that it counts."""
        return len(self.watch.watched)


class OverTheWeb:
    """The web server of a simulated phone, which states its identity."""

    def __init__(self, phone: SimulatedPhone) -> None:
        self.phone = phone
        self.watch = WebWatch(web(phone), LOOPBACK)

    async def leaves(self) -> None:
        """Let the web server drop every connection."""
        self.phone._web.go_away(FOR_EVER)
        # Twice the pause between two requests, so that one was sent.
        await asyncio.sleep(0.1)

    async def comes_back(self, phone: Phone = PHONE) -> None:
        """Let the web server respond again."""
        if phone == PHONE:
            self.phone._web.go_away(0)

    async def is_lost(self) -> None:
        """Let another phone have the address."""
        self.phone._web._phone = WebPhone(mac=OTHER.mac, model="", name="")

    def refuses(self) -> None:
        """Make the web server unreachable before the watch starts."""
        self.phone._web.go_away(FOR_EVER)

    def watched(self) -> int:
        """This watch holds no connection."""
        return 0


class ByEvents:
    """Asterisk's manager interface, which sends events about devices."""

    def __init__(self, stub: AmiStub) -> None:
        self.stub = stub
        settings = ManagerSettings(host="127.0.0.1", port=stub.port, user=USER, secret=SECRET)
        self.watch = ManagerEvents(ManagerConnection(settings))

    async def tells(self, status: str, phone: Phone = PHONE) -> None:
        """Send one event of chan_sccp."""
        name = device_name(phone.mac)
        event_text = event("DeviceStatus", ChannelType="SCCP", DeviceStatus=status, SCCPDevice=name)
        await self.stub.tell(event("FullyBooted", Status="Fully Booted") + event_text)

    async def leaves(self) -> None:
        """Send the event of chan_sccp for the unregistered phone."""
        await self.tells("UNREGISTERED")

    async def comes_back(self, phone: Phone = PHONE) -> None:
        """Send the event of chan_sccp for a registered device."""
        if phone != PHONE:
            await self.tells("UNREGISTERED", phone)
        await self.tells("PREREGISTERED", phone)
        await self.tells("REGISTERED", phone)

    async def is_lost(self) -> None:
        """Close the connection, and refuse another one."""
        self.refuses()
        self.stub.disconnect_all()

    def refuses(self) -> None:
        """Let the login fail."""
        self.stub.answers["Login"] = lambda action_id: (
            f"Response: Error\r\nActionID: {action_id}\r\nMessage: Authentication failed\r\n\r\n"
        ).encode()

    def watched(self) -> int:
        """The watches that share the connection."""
        session = self.watch._connection._session
        return len(session.listeners) if session else 0


@asynccontextmanager
async def _in_memory() -> AsyncIterator[Watched]:
    yield InMemory()


@asynccontextmanager
async def _over_the_web() -> AsyncIterator[Watched]:
    async with SimulatedPhone(ftp_password=FTP_PASSWORD, mac=PHONE.mac) as phone:
        yield OverTheWeb(phone)


@asynccontextmanager
async def _by_events() -> AsyncIterator[Watched]:
    async with AmiStub() as stub:
        yield ByEvents(stub)


WAYS: dict[str, Callable[[], AbstractAsyncContextManager[Watched]]] = {
    "memory": _in_memory,
    "web": _over_the_web,
    "events": _by_events,
}


def at(phone: Phone, phone_ip: str | None) -> Phone:
    """The phone at another address."""
    return msgspec.structs.replace(phone, phone_ip=phone_ip)
