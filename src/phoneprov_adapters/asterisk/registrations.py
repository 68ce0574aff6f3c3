"""Which phones Asterisk has, by one listing of each channel driver.

``PJSIPShowEndpoints`` lists endpoints in events ``EndpointList`` with the fields ``ObjectName``
and ``Contacts``, which is empty without a registration (``write = system``). ``SCCPShowDevices``
of chan_sccp lists devices in events ``SCCPDeviceEntry``; the name of the device is in the field
``Mac``, and ``RegState`` is ``OK`` while it is registered (source of chan_sccp). Lists end with an
event of the action's name and ``Complete``; that of PJSIP is ``EndpointListComplete``.
"""

import re

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.session import Session
from phoneprov_adapters.asterisk.wire import Message
from phoneprov_core.fleet.watch import Registered, Registrations
from phoneprov_core.kernel.addresses import known_mac
from phoneprov_core.kernel.errors import Refused

_DEVICE = re.compile("(?:SEP)?([0-9A-Fa-f]{12})")


class ManagerRegistrations(Registrations):
    """Asks both channel drivers; one that is not loaded has no phones."""

    def __init__(self, connection: ManagerConnection) -> None:
        self._connection = connection

    async def registered(self) -> Registered:
        async with self._connection.used() as session:
            endpoints = await _list(
                session, "PJSIPShowEndpoints", "EndpointListComplete", "EndpointList"
            )
            devices = await _list(
                session, "SCCPShowDevices", "SCCPShowDevicesComplete", "SCCPDeviceEntry"
            )
        if endpoints is None and devices is None:
            raise Refused(
                "The manager account may not list phones; give it write = system in manager.conf."
            )
        found: dict[str, bool] = {}
        for entry in endpoints or ():
            _note(found, entry.get("objectname", ""), is_there=bool(entry.get("contacts")))
        for entry in devices or ():
            _note(found, entry.get("mac", ""), is_there=entry.get("regstate", "").upper() == "OK")
        return Registered(found, lists_sccp=devices is not None)


def _note(found: dict[str, bool], name: str, *, is_there: bool) -> None:
    device = _DEVICE.fullmatch(name)
    mac = known_mac(device[1]) if device else ""
    if mac:
        found[mac] = found.get(mac, False) or is_there


async def _list(
    session: Session, action: str, complete: str, entry: str
) -> tuple[Message, ...] | None:
    """The entries of one list; None if Asterisk refuses it."""
    answer = await session.ask(action, complete=complete, wanted=frozenset({entry}))
    return answer.entries if answer.ok else None
