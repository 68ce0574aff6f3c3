"""Phones in a call, listed by Asterisk's manager interface.

``CoreShowChannels`` lists every channel in ``CoreShowChannel`` events; those of PJSIP are named
after their endpoint, ``PJSIP/SEP001BD4123456-0000002a`` (Asterisk requires write = system,
reporting or call). An endpoint is named after the phone, or shares an AOR with the endpoint that
is: then ``PJSIPShowEndpoint`` names the AORs, which carry the names of the others.

Channels of chan_sccp are named after lines, which phones share: ``SCCPShowChannels`` names the
device in events ``SCCPChannelEntry``, in the field ``Devicename``, in older releases ``Device``.
While a phone rings that field is ``SCCP``; ``SCCPShowLines`` then lists the devices of the line
in events ``SCCPLineEntry`` (fields ``Exten`` and ``Device``). Lists end with an event of the
action's name and ``Complete``.
"""

import asyncio

from msgspec import Struct

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.endpoints import endpoint_called
from phoneprov_adapters.asterisk.session import Session
from phoneprov_adapters.asterisk.wire import Message
from phoneprov_core.devices.names import device_name
from phoneprov_core.devices.ports import Calls
from phoneprov_core.kernel.errors import PhoneprovError, Refused
from phoneprov_core.phones.model import Phone, speaks_sip

FRESH_SECONDS = 2.0
"""Seconds for which one list of calls serves all requests."""

_RINGING = "SCCP"


class _Channels(Struct, frozen=True):
    """The names of the endpoints and of the SCCP devices that have a channel."""

    endpoints: frozenset[str]
    devices: frozenset[str]


class ManagerCalls(Calls):
    """Lists all calls at once, and keeps the list, or its failure, for ``fresh_seconds``."""

    def __init__(
        self, connection: ManagerConnection, *, fresh_seconds: float = FRESH_SECONDS
    ) -> None:
        self._connection = connection
        self._fresh_seconds = fresh_seconds
        self._one_at_a_time = asyncio.Lock()
        self._known: _Channels | PhoneprovError | None = None
        self._known_until = float("-inf")

    async def in_call(self, phone: Phone) -> bool:
        known = await self._channels()
        name = device_name(phone.mac)
        if name in known.devices or name in known.endpoints:
            return True
        if not speaks_sip(phone.software_type) or not known.endpoints:
            return False
        endpoint = await self._connection.run(lambda session: endpoint_called(session, name))
        if endpoint is None:
            return False
        aors = endpoint.aors
        if phone.phone_ip is not None:
            # The AORs of users who are at another phone now do not count.
            elsewhere = {one.aor for one in endpoint.contacts if not one.is_at(phone.phone_ip)}
            aors -= elsewhere - {one.aor for one in endpoint.at(phone.phone_ip)}
        return not known.endpoints.isdisjoint(aors)

    async def _channels(self) -> _Channels:
        async with self._one_at_a_time:
            loop = asyncio.get_running_loop()
            if self._known is None or loop.time() >= self._known_until:
                try:
                    self._known = await self._connection.run(_listed)
                except PhoneprovError as error:
                    self._known = error
                self._known_until = loop.time() + self._fresh_seconds
            known = self._known
        if isinstance(known, PhoneprovError):
            raise type(known)(known.message)
        return known


async def _listed(session: Session) -> _Channels:
    channels = await _list(session, "CoreShowChannels", "CoreShowChannel")
    if channels is None:
        raise Refused(
            "The manager account may not list calls; give it write = system or "
            "reporting in manager.conf."
        )
    names = (entry.get("channel", "").partition("/")[2] for entry in channels)
    endpoints = frozenset(name.rpartition("-")[0] for name in names)
    # None where chan_sccp is not loaded.
    entries = await _list(session, "SCCPShowChannels", "SCCPChannelEntry") or ()
    devices = {entry.get("devicename") or entry.get("device", "") for entry in entries}
    if _RINGING in devices:
        ringing = {
            entry.get("linename", "")
            for entry in entries
            if (entry.get("devicename") or entry.get("device")) == _RINGING
        }
        lines = await _list(session, "SCCPShowLines", "SCCPLineEntry") or ()
        devices |= {line.get("device", "") for line in lines if line.get("exten") in ringing}
    return _Channels(endpoints, frozenset(devices))


async def _list(session: Session, action: str, entry: str) -> tuple[Message, ...] | None:
    """The entries of one list; None if Asterisk refuses it."""
    answer = await session.ask(action, complete=f"{action}Complete", wanted=frozenset({entry}))
    return answer.entries if answer.ok else None
