"""The web client of phones as the tests set it up."""

from __future__ import annotations

import asyncio
from typing import Any

from phoneprov_adapters.networks import PhoneNetworks
from phoneprov_adapters.phone.http import PhoneWeb, PhoneWebSettings
from support.phone_stub import PhoneStub

LOOPBACK = PhoneNetworks.parse("127.0.0.0/8")
IP = "127.0.0.1"
TIMEOUT = 0.3


def web(stub: PhoneStub, **changes: Any) -> PhoneWeb:
    values: dict[str, Any] = {"port": stub.port, "timeout": TIMEOUT, "total": 0.6}
    return PhoneWeb(PhoneWebSettings(**(values | changes)), LOOPBACK)


async def until_idle(stub: PhoneStub) -> None:
    """Waits until the adapter has closed what it opened."""
    async with asyncio.timeout(1.0):
        await stub.idle.wait()
