"""Devices and lines of chan_sccp, read over Asterisk's manager interface.

``SCCPShowDevice`` (``write = system`` or ``reporting``) lists a device in tables of events, its
lines as ``SCCPDeviceLineEntry`` with the number in ``Name``. For a device that is not in memory the
response is a success that an error follows. ``SCCPShowDevices`` lists all devices as
``SCCPDeviceEntry`` with the name in ``Mac``.
"""

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.wire import Message
from phoneprov_core.devices.names import device_name, mac_of_device
from phoneprov_core.kernel.errors import Refused
from phoneprov_core.lines.comparison import ExchangeLines

_MISSING = "Asterisk does not have the phone: it is not registered."
_HIDDEN = (
    "Asterisk does not list devices of chan_sccp: chan_sccp is not loaded, or the manager account "
    "lacks write = system,reporting."
)


class ManagerLines(ExchangeLines):
    """Reads lists over the shared connection."""

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
            lambda session: session.ask(
                action, fields, complete=f"{action}Complete", wanted=frozenset({entry})
            )
        )
        if not answer.ok:
            is_missing = answer.message.startswith("can't find settings")
            raise Refused(_MISSING if is_missing else _HIDDEN)
        return answer.entries
