"""Phones of an exchange: what restarts, and who registers again, when."""

import asyncio
from collections import Counter
from collections.abc import Callable

from support import ami_stub
from support.ami_stub import AmiStub, Say, event, failure, listing

SOON = 0.05
"""Seconds until a phone registers again."""

Registers = Callable[[str], float | None]
"""Seconds until the phone of a device registers again, None for never, or a negative number for a
phone whose restart the exchange refuses."""


class Exchange(AmiStub):
    """An exchange with chan_sccp; ``restarts`` counts the accepted restarts of each device.

    ``registers`` says how a phone behaves; ``open`` lets phones register.
    """

    def __init__(self, registers: Registers = lambda _device: SOON) -> None:
        super().__init__()
        self.registers = registers
        self.restarts: Counter[str] = Counter()
        self.open = asyncio.Event()
        self.open.set()
        self._away: set[asyncio.Task[None]] = set()

    def settings(self, confirm_seconds: int) -> dict[str, str]:
        """The settings with which phoneprov restarts and watches phones by this exchange."""
        return {
            "PHONEPROV_RESTART": "ami",
            "PHONEPROV_AMI_HOST": "127.0.0.1",
            "PHONEPROV_AMI_PORT": str(self.port),
            "PHONEPROV_AMI_USER": ami_stub.USER,
            "PHONEPROV_AMI_SECRET": ami_stub.SECRET,
            "PHONEPROV_CONFIRM_TIMEOUT": str(confirm_seconds),
        }

    async def stop(self) -> None:
        for task in self._away:
            task.cancel()
        await asyncio.gather(*self._away, return_exceptions=True)
        await super().stop()

    def _usual(self, named: dict[str, str]) -> Say:
        if named["Action"] == "SCCPDeviceRestart":
            device = named["DeviceName"]
            seconds = self.registers(device)
            if seconds is not None and seconds < 0:
                return failure("Device not found")
            self.restarts[device] += 1
            task = asyncio.create_task(self._register(device, seconds))
            self._away.add(task)
            task.add_done_callback(self._away.discard)
        self.received.clear()
        if named["Action"] in {"CoreShowChannels", "SCCPShowChannels"}:  # no phone is in a call
            return listing(f"{named['Action']}Complete")
        return super()._usual(named)

    async def _register(self, device: str, seconds: float | None) -> None:
        await asyncio.sleep(SOON / 2)
        await self.tell(event("DeviceStatus", SCCPDevice=device, DeviceStatus="UNREGISTERED"))
        if seconds is not None:
            await asyncio.sleep(seconds)
            await self.open.wait()
            await self.tell(event("DeviceStatus", SCCPDevice=device, DeviceStatus="REGISTERED"))
