"""Who is in a call, as Asterisk's manager interface tells.

``CoreShowChannels`` lists every channel in ``CoreShowChannel`` events; those of PJSIP are named
after their endpoint, ``PJSIP/SEP001BD4123456-0000002a``, and the endpoint of a phone has its
device name (Asterisk needs write = system, reporting or call for it). Channels of chan_sccp are
named after lines, which phones share: ``SCCPShowChannels`` names the device in events
``SCCPChannelEntry``, in the field ``DeviceName``, in older releases ``Device``. Both lists end
with an event of the action's name and ``Complete``.
"""

from __future__ import annotations

import asyncio

from phoneprov_adapters.asterisk.manager import (
    ManagerSettings,
    hung_up,
    in_our_words,
    logged_in,
    tls_of,
)
from phoneprov_adapters.asterisk.wire import read_message, written
from phoneprov_core.batches.ports import Calls
from phoneprov_core.devices.commands import device_name
from phoneprov_core.kernel.errors import PhoneprovError, Refused
from phoneprov_core.phones.model import Phone

FRESH_SECONDS = 2.0
"""One answer serves all phones that are asked about within this time."""

_CORE, _SCCP = "CoreShowChannels", "SCCPShowChannels"


class ManagerCalls(Calls):
    """Asks for all calls at once, and remembers the answer, or why there was none, for a
    moment. Raises ValueError like ``Manager``."""

    def __init__(self, settings: ManagerSettings, *, fresh_seconds: float = FRESH_SECONDS) -> None:
        self._settings = settings
        self._tls = tls_of(settings)
        self._fresh_seconds = fresh_seconds
        self._one_at_a_time = asyncio.Lock()
        self._known: frozenset[str] | PhoneprovError = frozenset()
        self._known_until = float("-inf")

    async def in_call(self, phone: Phone) -> bool:
        async with self._one_at_a_time:
            loop = asyncio.get_running_loop()
            if loop.time() >= self._known_until:
                try:
                    self._known = frozenset(await self._devices())
                except PhoneprovError as error:
                    self._known = error
                self._known_until = loop.time() + self._fresh_seconds
            known = self._known
        if isinstance(known, PhoneprovError):
            raise type(known)(known.message)
        return device_name(phone.mac) in known

    async def _devices(self) -> set[str]:
        """The devices that have a channel."""
        async with in_our_words(self._settings.timeout):
            reader, writer = await logged_in(self._settings, self._tls, events="off")
            try:
                found = await _listed(reader, writer, _CORE)
                if found is None:
                    raise Refused(
                        "The manager account may not list calls; give it write = system or "
                        "reporting in manager.conf."
                    )
                # None where chan_sccp is not loaded.
                return found | (await _listed(reader, writer, _SCCP) or set())
            finally:
                await hung_up(writer)


async def _listed(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, action: str
) -> set[str] | None:
    """The devices in one list of channels; None when Asterisk does not give it."""
    action_id = f"phoneprov-{action}"
    writer.write(written(action, action_id, ()))
    found: set[str] = set()
    while True:
        message = await read_message(reader)
        # Not every release of chan_sccp repeats the ActionID in its events.
        if message.get("actionid", action_id) != action_id:
            continue
        if "response" in message and message["response"].lower() != "success":
            return None
        event = message.get("event", "")
        if event == f"{action}Complete":
            return found
        if event == "CoreShowChannel":
            endpoint = message.get("channel", "").partition("/")[2].rpartition("-")[0]
            found.add(endpoint)
        elif event == "SCCPChannelEntry":
            found.add(message.get("devicename") or message.get("device", ""))
