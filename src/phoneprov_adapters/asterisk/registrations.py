"""Which phones Asterisk has, by listings of both channel drivers.

``PJSIPShowEndpoints`` lists the endpoints of configuration files in events ``EndpointList`` with
the fields ``ObjectName`` and ``Contacts``, which is empty without a registration (``write =
system``). ``PJSIPShowContacts`` lists all contacts in events ``ContactList`` with the fields
``Uri`` and ``ViaAddr``, also those of endpoints that Asterisk asks phoneprov for. An empty list of
PJSIP is an error (``No endpoints found``). ``SCCPShowDevices`` of chan_sccp lists devices in events
``SCCPDeviceEntry``; the name of the device is in the field ``Mac``, and ``RegState`` is ``OK``
while it is registered (source of chan_sccp). Lists end with an event of the action's name and
``Complete``; those of PJSIP are ``EndpointListComplete`` and ``ContactListComplete``.
"""

import re

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.endpoints import host_of
from phoneprov_adapters.asterisk.session import Session
from phoneprov_adapters.asterisk.wire import Message
from phoneprov_core.fleet.watch import Registered, Registrations
from phoneprov_core.kernel.addresses import address_of, known_mac
from phoneprov_core.kernel.errors import Refused

_DEVICE = re.compile("(?:SEP)?([0-9A-Fa-f]{12})")
_EMPTY = re.compile("no (?:endpoints|contacts) found")


class ManagerRegistrations(Registrations):
    """Asks both channel drivers; one that is not loaded has no phones. ``serves_sip`` is whether
    Asterisk asks phoneprov for the endpoints of PJSIP."""

    def __init__(self, connection: ManagerConnection, *, serves_sip: bool = False) -> None:
        self._connection = connection
        self._serves_sip = serves_sip

    async def registered(self) -> Registered:
        endpoints, contacts, devices = await self._connection.run(_listed)
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


async def _listed(session: Session) -> tuple[tuple[Message, ...] | None, ...]:
    return (
        await _list(session, "PJSIPShowEndpoints", "EndpointListComplete", "EndpointList"),
        await _list(session, "PJSIPShowContacts", "ContactListComplete", "ContactList"),
        await _list(session, "SCCPShowDevices", "SCCPShowDevicesComplete", "SCCPDeviceEntry"),
    )


async def _list(
    session: Session, action: str, complete: str, entry: str
) -> tuple[Message, ...] | None:
    """The entries of one list; None if Asterisk refuses it."""
    answer = await session.ask(action, complete=complete, wanted=frozenset({entry}))
    is_empty = _EMPTY.fullmatch(answer.message)
    return answer.entries if answer.ok or is_empty else None
