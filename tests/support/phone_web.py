"""The web client of phones with the settings of the tests."""

import asyncio
from typing import Any

from phoneprov_adapters.phone.http import PhoneWeb, PhoneWebSettings
from phoneprov_adapters.runtime.networks import PhoneNetworks
from support.phone_stub import PhoneStub

LOOPBACK = PhoneNetworks.parse("127.0.0.0/8")
IP = "127.0.0.1"
TIMEOUT = 0.3
"""For calls that time out; others have enough time on a busy machine."""
SLACK = 3.0


def web(stub: PhoneStub, **changes: Any) -> PhoneWeb:
    values: dict[str, Any] = {"port": stub.port, "timeout": 10.0, "total": 10.0}
    return PhoneWeb(PhoneWebSettings(**(values | changes)), LOOPBACK)


async def until_idle(stub: PhoneStub) -> None:
    """Wait until the adapter has closed all its connections."""
    async with asyncio.timeout(60.0):
        await stub.idle.wait()
