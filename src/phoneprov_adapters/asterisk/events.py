"""Seeing phones come back: chan_sccp tells when a device registers.

It sends ``DeviceStatus`` events of the class ``call`` with the fields ``SCCPDevice`` and
``DeviceStatus`` (``UNREGISTERED``, ``PREREGISTERED``, ``REGISTERED``), as its
``sccp_management.c`` shows; an account sees them with ``read = call`` in manager.conf.
"""

from __future__ import annotations

import asyncio

from phoneprov_adapters.asterisk.manager import (
    ManagerSettings,
    in_our_words,
    logged_in,
    tls_of,
)
from phoneprov_adapters.asterisk.wire import read_message
from phoneprov_core.deployments.ports import PhoneWatch, Watching
from phoneprov_core.devices.commands import device_name
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.phones.model import Phone

LOGIN_SECONDS = 4.0
"""To connect and to log in: what the port leaves for the beginning of a watch."""


class ManagerEvents(PhoneWatch):
    """Listens on one connection for all phones that are watched; there is none when no phone
    is. Raises ValueError like ``Manager``."""

    def __init__(self, settings: ManagerSettings) -> None:
        self._settings = settings
        self._tls = tls_of(settings)
        self._watched: set[_Watched] = set()
        self._listening: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()

    async def begin(self, phone: Phone) -> Watching:
        watched = _Watched(self, device_name(phone.mac))
        seconds = min(self._settings.timeout, LOGIN_SECONDS)
        async with in_our_words(seconds), self._one_at_a_time:
            if self._listening is None:
                reader, writer = await logged_in(self._settings, self._tls, events="on")
                listening = asyncio.create_task(self._listen(reader))
                # Called for a task, too, that is cancelled before it began.
                listening.add_done_callback(lambda ended: self._ended(ended, writer))
                self._listening = listening
            self._watched.add(watched)
        return watched

    async def leave(self, watched: _Watched) -> None:
        """A phone is watched no longer; the last one ends the connection."""
        async with self._one_at_a_time:
            self._watched.discard(watched)
            if not self._watched and self._listening is not None:
                self._listening.cancel()
                await asyncio.wait({self._listening})

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        while True:
            self._heard(await read_message(reader))

    def _ended(self, listening: asyncio.Task[None], writer: asyncio.StreamWriter) -> None:
        self._listening = None
        writer.transport.abort()
        # Broken off, unless the last of those who watched has left.
        if not listening.cancelled() and listening.exception() is not None:
            for watched in self._watched:
                watched.lost()

    def _heard(self, message: dict[str, str]) -> None:
        if message.get("event") != "DeviceStatus":
            return
        for watched in self._watched:
            if watched.device == message.get("sccpdevice"):
                watched.seen(message.get("devicestatus", ""))


class _Watched(Watching):
    def __init__(self, events: ManagerEvents, device: str) -> None:
        self.device = device
        self._events = events
        self._away = False
        self._registered = False
        self._back: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def seen(self, status: str) -> None:
        """A registration counts behind a departure only: one that is still to come from an
        earlier restart says nothing of this one."""
        if status == "UNREGISTERED":
            self._away = True
        if status == "REGISTERED":
            self._registered = True
            if self._away and not self._back.done():
                self._back.set_result("The phone left Asterisk and registered again.")

    def lost(self) -> None:
        """Nothing more will be heard."""
        if not self._back.done():
            self._back.set_exception(
                Refused("Asterisk's manager interface broke off while the phone was awaited.")
            )

    async def returned(self, seconds: float) -> str:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(self._back)
        except TimeoutError:
            raise TimedOut(self._so_far(seconds)) from None

    async def close(self) -> None:
        self._back.cancel()
        if self._back.done() and not self._back.cancelled():
            self._back.exception()  # seen: perhaps nobody waited for it
        await self._events.leave(self)

    def _so_far(self, seconds: float) -> str:
        if self._away:
            return f"The phone left Asterisk and did not register again within {seconds:.0f} s."
        if self._registered:
            return "The phone registered with Asterisk, but was not seen to leave it before."
        return (
            f"The phone was not seen to leave Asterisk within {seconds:.0f} s; the manager "
            "account needs read = call to see it."
        )
