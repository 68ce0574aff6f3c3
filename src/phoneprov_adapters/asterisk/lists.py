"""Lists from Asterisk's manager interface: calls, phones, devices and their lines.

A list consists of events. Unless stated otherwise it ends with an event whose name is the name of
the action followed by ``Complete``.

``CoreShowChannels`` lists every channel in ``CoreShowChannel`` events (Asterisk requires write =
system, reporting or call). The name of a PJSIP channel contains its endpoint:
``PJSIP/SEP001BD4123456-0000002a``. One endpoint has the name of the phone. A phone may have further
endpoints: each has the name of an AOR that ``PJSIPShowEndpoint`` shows for the first endpoint.

The name of a chan_sccp channel contains its line, which several phones may share. So the device is
read from the events ``SCCPChannelEntry`` of ``SCCPShowChannels``: field ``Devicename``, in older
releases ``Device``. While a phone rings, this field is ``SCCP``; then ``SCCPShowLines`` lists the
devices of the line in events ``SCCPLineEntry`` (fields ``Exten`` and ``Device``).

``PJSIPShowEndpoints`` (``write = system``) lists the endpoints in configuration files, in events
``EndpointList`` with the fields ``ObjectName`` and ``Contacts`` (empty without a registration).
``PJSIPShowContacts`` lists all contacts in events ``ContactList`` with the fields ``Uri`` and
``ViaAddr``, also contacts of endpoints that Asterisk requests from phoneprov. Both lists end with
an event whose name is the name of their events followed by ``Complete``. For an empty list PJSIP
answers an error (``No endpoints found``).

``SCCPShowDevices`` of chan_sccp lists devices in events ``SCCPDeviceEntry``; the name of the device
is in the field ``Mac``, and ``RegState`` is ``OK`` while it is registered (source of chan_sccp).
``SCCPShowDevice`` (``write = system`` or ``reporting``) lists a device in tables of events, its
lines as ``SCCPDeviceLineEntry`` with the number in ``Name``. For a device that is not in memory,
Asterisk answers success and then an error.

``PJSIPShowEndpoint`` (``write = system``) shows an endpoint with its addresses of record (AORs) and
contacts. The event ``EndpointDetail`` has the AORs in the field ``Aors`` and the channel variables
in ``SetVar`` (``NAME=value,NAME=value`` without quotes). One event ``ContactStatusDetail`` for each
contact has the fields ``AOR``, ``URI``, ``ViaAddress`` (the phone's own address, as the phone
reports it), ``CallID`` (of the registration) and ``RegExpire`` (its end in seconds since 1970). The
last event is ``EndpointDetailComplete``.
"""

import asyncio
import re
from typing import Annotated

from msgspec import Struct

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.session import Answer, Message, Session
from phoneprov_core.features.fleet.watch import Registered, Registrations
from phoneprov_core.features.lines.model import ExchangeLines
from phoneprov_core.inventory.phones.model import Phone, speaks_sip
from phoneprov_core.kernel.errors import PhoneprovError, Refused
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.kernel.values import address_of, known_mac, same_address
from phoneprov_core.switching.devices.names import device_name, mac_of_device
from phoneprov_core.switching.devices.ports import Calls

FRESH_SECONDS = 2.0
"""Seconds for which a list of calls is reused."""

_RINGING = "SCCP"
_DEVICE = re.compile("(?:SEP)?([0-9A-Fa-f]{12})")
_EMPTY = re.compile("no (?:endpoints|contacts) found")
_MISSING = "Asterisk does not have the phone: it is not registered."
HIDDEN = (
    "Asterisk does not list devices of chan_sccp: chan_sccp is not loaded, or the manager account "
    "lacks write = system,reporting."
)


async def _asked(
    session: Session,
    action: str,
    entry: str,
    complete: str = "",
    fields: tuple[tuple[str, str], ...] = (),
) -> Answer:
    complete = complete or f"{action}Complete"
    return await session.ask(action, fields, complete=complete, wanted=frozenset({entry}))


async def list_of(
    session: Session, action: str, entry: str, complete: str = ""
) -> tuple[Message, ...] | None:
    """The entries of one list; None if Asterisk refuses it."""
    answer = await _asked(session, action, entry, complete)
    return answer.entries if answer.ok or _EMPTY.fullmatch(answer.message) else None


class _Channels(Struct, frozen=True):
    """The names of the endpoints and of the SCCP devices that have a channel."""

    endpoints: frozenset[str]
    devices: frozenset[str]


class ManagerCalls(Calls):
    """Requests the list of all calls, and reuses the list, or the error, for ``fresh_seconds``."""

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
            # Ignore the AORs of users who are registered at another phone now.
            elsewhere = {one.aor for one in endpoint.contacts if not one.is_at(phone.phone_ip)}
            aors -= elsewhere - {one.aor for one in endpoint.at(phone.phone_ip)}
        return not known.endpoints.isdisjoint(aors)

    async def _channels(self) -> _Channels:
        async with self._one_at_a_time:
            loop = asyncio.get_running_loop()
            if self._known is None or loop.time() >= self._known_until:
                try:
                    self._known = await self._connection.run(_channels)
                except PhoneprovError as error:
                    self._known = error
                self._known_until = loop.time() + self._fresh_seconds
            known = self._known
        if isinstance(known, PhoneprovError):
            raise type(known)(known.message)
        return known


async def _channels(session: Session) -> _Channels:
    channels = await list_of(session, "CoreShowChannels", "CoreShowChannel")
    if channels is None:
        raise Refused(
            "The manager account may not list calls; give it write = system or "
            "reporting in manager.conf."
        )
    names = (entry.get("channel", "").partition("/")[2] for entry in channels)
    endpoints = frozenset(name.rpartition("-")[0] for name in names)
    # None where chan_sccp is not loaded.
    entries = await list_of(session, "SCCPShowChannels", "SCCPChannelEntry") or ()
    devices = {entry.get("devicename") or entry.get("device", "") for entry in entries}
    if _RINGING in devices:
        ringing = {
            entry.get("linename", "")
            for entry in entries
            if (entry.get("devicename") or entry.get("device")) == _RINGING
        }
        lines = await list_of(session, "SCCPShowLines", "SCCPLineEntry") or ()
        devices |= {line.get("device", "") for line in lines if line.get("exten") in ringing}
    return _Channels(endpoints, frozenset(devices))


class ManagerRegistrations(Registrations):
    """Lists the registered phones of both channel drivers; a driver that is not loaded has no
    phones. ``serves_sip``: Asterisk requests the endpoints of PJSIP from phoneprov."""

    def __init__(self, connection: ManagerConnection, *, serves_sip: bool = False) -> None:
        self._connection = connection
        self._serves_sip = serves_sip

    async def registered(self) -> Registered:
        endpoints, contacts, devices = await self._connection.run(_registered)
        if endpoints is None and devices is None:
            raise Refused(
                "The manager account may not list phones; give it write = system in manager.conf."
            )
        found: dict[str, bool] = {}
        for entry in endpoints or ():
            _note(found, entry.get("objectname", ""), is_there=bool(entry.get("contacts")))
        for entry in devices or ():
            _note(found, entry.get("mac", ""), is_there=entry.get("regstate", "").upper() == "OK")
        hosts = [
            host
            for contact in contacts or ()
            for host in (host_of(contact.get("uri", "")), contact.get("viaaddr", "").strip("[]"))
        ]
        return Registered(
            found,
            addresses=frozenset(filter(None, map(address_of, hosts))),
            lists_sccp=devices is not None,
            lists_sip=self._serves_sip and contacts is not None,
        )


def _note(found: dict[str, bool], name: str, *, is_there: bool) -> None:
    device = _DEVICE.fullmatch(name)
    mac = known_mac(device[1]) if device else ""
    if mac:
        found[mac] = found.get(mac, False) or is_there


async def _registered(session: Session) -> tuple[tuple[Message, ...] | None, ...]:
    return (
        await list_of(session, "PJSIPShowEndpoints", "EndpointList", "EndpointListComplete"),
        await list_of(session, "PJSIPShowContacts", "ContactList", "ContactListComplete"),
        await list_of(session, "SCCPShowDevices", "SCCPDeviceEntry"),
    )


class ManagerLines(ExchangeLines):
    """Reads the lines and devices of chan_sccp over the shared connection."""

    def __init__(self, connection: ManagerConnection) -> None:
        self._connection = connection

    async def numbers(self, mac: str) -> tuple[str, ...]:
        device = (("DeviceName", device_name(mac)),)
        lines = await self._listed("SCCPShowDevice", "SCCPDeviceLineEntry", device)
        return tuple(line.get("name", "") for line in lines)

    async def devices(self) -> frozenset[str]:
        devices = await self._listed("SCCPShowDevices", "SCCPDeviceEntry")
        return frozenset(filter(None, (mac_of_device(one.get("mac", "")) for one in devices)))

    async def _listed(
        self, action: str, entry: str, fields: tuple[tuple[str, str], ...] = ()
    ) -> tuple[Message, ...]:
        answer = await self._connection.run(
            lambda session: _asked(session, action, entry, fields=fields)
        )
        if not answer.ok:
            is_missing = answer.message.startswith("can't find settings")
            raise Refused(_MISSING if is_missing else HIDDEN)
        return answer.entries


_ENDPOINT, _CONTACT = "EndpointDetail", "ContactStatusDetail"
_HOST = re.compile(r"(?:sips?:)?(?:[^@]*@)?(?:\[([^\]]*)\]|([^:;?>]*))")


class Contact(Struct, frozen=True):
    """One registration of an endpoint."""

    uri: str
    call_id: str
    via: str = ""
    aor: str = ""
    expires: int = 0

    def is_at(self, address: str) -> bool:
        """Whether the phone at this address registered the contact. With NAT the URI may have the
        address of the router; then only ``via`` has the address of the phone."""
        return any(same_address(host, address) for host in (self.host, host_of(self.via)))

    @property
    def host(self) -> str:
        """The host of the URI, to which Asterisk sends."""
        return host_of(self.uri)


class Endpoint(Redacted, frozen=True):
    """An endpoint as Asterisk shows it."""

    aors: frozenset[str] = frozenset()
    contacts: tuple[Contact, ...] = ()
    variables: Annotated[str, SECRET] = ""

    def at(self, address: str) -> tuple[Contact, ...]:
        """The contacts of the phone at this address; the contact that expires last is first."""
        own = [one for one in self.contacts if one.is_at(address)]
        return tuple(sorted(own, key=lambda one: one.expires, reverse=True))


async def endpoint_called(session: Session, name: str) -> Endpoint | None:
    """The endpoint; None if it does not exist or the manager account has no permission to see it.
    Raises ``Broken``."""
    answer = await session.ask(
        "PJSIPShowEndpoint",
        (("Endpoint", name),),
        complete="EndpointDetailComplete",
        wanted=frozenset({_ENDPOINT, _CONTACT}),
    )
    if not answer.ok:
        return None
    aors = ",".join(entry.get("aors", "") for entry in answer.entries)
    return Endpoint(
        frozenset(aor.strip() for aor in aors.split(",") if aor.strip()),
        tuple(
            Contact(
                uri=entry.get("uri", ""),
                call_id=entry.get("callid", ""),
                via=entry.get("viaaddress", ""),
                aor=entry.get("aor", ""),
                expires=_number(entry.get("regexpire", "")),
            )
            for entry in answer.entries
            if entry["event"] == _CONTACT
        ),
        next((entry["setvar"] for entry in answer.entries if "setvar" in entry), ""),
    )


def _number(text: str) -> int:
    return int(text) if re.fullmatch("[0-9]{1,18}", text) else 0


def host_of(text: str) -> str:
    """The host of a SIP URI, or of an address with a port; empty if it has none."""
    found = _HOST.match(text)
    return (found[1] or found[2] or "") if found else ""
