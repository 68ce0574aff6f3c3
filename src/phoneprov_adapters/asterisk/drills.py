"""Emergency drills: calls into a context of the dialplan that does not dial.

``Originate`` (``write = originate``) opens a Local channel in the context ``phoneprov-drill`` of
``docs/how-to/emergency-calls.md``. The last step of the context is the application ``UserEvent``;
its events need ``read = user``.

For a device of chan_sccp the dialplan reads the variables from Asterisk's memory (``SCCPDevice``).
The dialplan has no function for the variables of a PJSIP endpoint: they are read from the field
``SetVar`` of ``PJSIPShowEndpoint`` (``NAME=value,NAME=value`` without quotes).
``PJSIPShowContacts`` names the endpoint of each contact in the field ``Endpoint``.
``SCCPShowLines`` names the devices of each line in ``Device``; ``SCCPShowDevice`` is not used,
because it takes 0.7 s.

Values are percent-encoded in both directions, so that no value can end a line or begin another
argument. Asterisk reads at most 1,024 bytes of a line.
"""

import asyncio
import re
import secrets
from collections.abc import Iterable
from urllib.parse import quote, unquote

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.lists import HIDDEN, Contact, endpoint_called, list_of
from phoneprov_adapters.asterisk.session import Broken, Message, Session
from phoneprov_core.features.lines.drills import DrillCall, DrillExchange
from phoneprov_core.inventory.locations import Emergency
from phoneprov_core.inventory.phones.model import Phone, speaks_sip
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.devices.names import device_name

ANSWER_SECONDS = 3.0
"""Seconds for the dialplan, which takes about 0.1 s on a busy machine."""
FRESH_SECONDS = 1.0
"""Seconds for which a list of registered phones is reused for further desks."""
LONGEST = 1000
"""Maximum bytes of an encoded value."""

_NUMBER = re.compile("(?:^|,)PHONEPROV_EMERGENCY=([^,]*)")
_PLACE = re.compile("(?:^|,)PHONEPROV_PLACE=(.*?)(?:,PHONEPROV_EMERGENCY=.*)?$")
_VALUES = ("desknumber", "deskplace", "number", "place")
_NO_CONTACTS = "Asterisk does not list contacts; the manager account needs write = system."
_REFUSED = "Asterisk refused the call of the drill; the manager account needs write = originate."
_SILENT = (
    "The dialplan did not answer the drill. Check the context phoneprov-drill (see the how-to "
    "Emergency calls), and read = user of the manager account."
)


class ManagerDrills(DrillExchange):
    """Makes the calls of a drill over the shared connection."""

    def __init__(self, connection: ManagerConnection) -> None:
        self._connection = connection
        self._lists: dict[str, tuple[float, tuple[Message, ...]]] = {}

    async def calls(self, phone: Phone, numbers: Iterable[str]) -> tuple[DrillCall, ...]:
        async def work(session: Session) -> tuple[DrillCall, ...]:
            is_sip = speaks_sip(phone.software_type)
            calls = self._from_endpoints(session, phone, {*numbers}) if is_sip else None
            return tuple(await (calls or self._from_device(session, phone)))

        return await self._connection.run(work)

    async def _from_device(self, session: Session, phone: Phone) -> list[DrillCall]:
        """The call from the first line of a device of chan_sccp."""
        name = device_name(phone.mac)
        devices = await self._list(session, "SCCPShowDevices", "SCCPDeviceEntry", HIDDEN)
        states = {one.get("mac"): one.get("regstate", "").upper() for one in devices}
        if states.get(name) != "OK":
            return []
        lines = await self._list(session, "SCCPShowLines", "SCCPLineEntry", HIDDEN)
        line = next((one.get("exten", "") for one in lines if one.get("device") == name), "")
        return [await _called(session, "sccp", line, DEVICE=name)]

    async def _from_endpoints(
        self, session: Session, phone: Phone, numbers: set[str]
    ) -> list[DrillCall]:
        """The calls from the endpoints with which a SIP phone is registered. If some of them have
        recorded numbers, only these endpoints: contacts of the previous user remain for a
        while."""
        complete = "ContactListComplete"
        contacts = await self._list(
            session, "PJSIPShowContacts", "ContactList", _NO_CONTACTS, complete
        )
        names: dict[str, bool] = {}
        for entry in contacts:
            name = entry.get("endpoint", "")
            contact = Contact(entry.get("uri", ""), "", entry.get("viaaddr", ""))
            if name and (contact.is_at(phone.phone_ip) if phone.phone_ip else name in numbers):
                names[name] = name in numbers
        calls = []
        for name in [name for name, is_recorded in names.items() if is_recorded] or names:
            endpoint = await endpoint_called(session, name)
            if endpoint is None:
                raise Refused(f"Asterisk does not show the endpoint {name}.")
            number, place = (one.search(endpoint.variables) for one in (_NUMBER, _PLACE))
            values = {"NUMBER": number[1] if number else "", "PLACE": place[1] if place else ""}
            calls.append(await _called(session, "pjsip", name, **values))
        return calls

    async def _list(
        self, session: Session, action: str, entry: str, refused: str, complete: str = ""
    ) -> tuple[Message, ...]:
        """The entries of a list; a list is reused for ``FRESH_SECONDS``. Raises ``Refused``."""
        now = asyncio.get_running_loop().time()
        read_at, entries = self._lists.get(action, (now - FRESH_SECONDS, None))
        if entries is None or now >= read_at + FRESH_SECONDS:
            entries = await list_of(session, action, entry, complete)
            if entries is None:
                raise Refused(refused)
            self._lists[action] = now, entries
        return entries


async def _called(session: Session, extension: str, line: str, **values: str) -> DrillCall:
    """Call an extension in the context ``phoneprov-drill``. Raises ``Refused`` and
    ``TimedOut``."""
    answered = _Answered(secrets.token_hex(16))
    variables = {"": answered.drill, "_LINE": line} | {f"_{key}": values[key] for key in values}
    session.listen(answered)
    try:
        answer = await session.ask(
            "Originate",
            [
                ("Channel", f"Local/{extension}@phoneprov-drill/n"),
                ("Application", "Hangup"),
                ("Timeout", str(int(ANSWER_SECONDS * 1000))),
                ("Async", "true"),
                *(("Variable", f"DRILL{key}={_written(one)}") for key, one in variables.items()),
            ],
        )
        if not answer.ok:
            raise Refused(_REFUSED)
        async with asyncio.timeout(ANSWER_SECONDS):
            found = await answered.values
    except TimeoutError:
        raise TimedOut(_SILENT) from None
    finally:
        session.listeners.discard(answered)
    if found is None:
        raise Broken
    number, place, *presented = (unquote(one).strip() or None for one in found)
    return DrillCall(line, Emergency(number, place), Emergency(*presented))


class _Answered:
    """Waits for the event of one drill, recognised by the drill's random name. ``values`` is None
    if the connection ended before the event."""

    def __init__(self, drill: str) -> None:
        self.drill = drill
        self.values: asyncio.Future[list[str] | None]
        self.values = asyncio.get_running_loop().create_future()

    def receive(self, event: Message) -> None:
        """See ``Listener``. An event that lacks a value is ignored."""
        is_own = event.get("userevent") == "PhoneprovDrill" and event.get("drill") == self.drill
        found = [event[name] for name in _VALUES if name in event]
        if is_own and len(found) == len(_VALUES) and not self.values.done():
            self.values.set_result(found)

    def disconnected(self) -> None:
        """See ``Listener``."""
        if not self.values.done():
            self.values.set_result(None)


def _written(value: str) -> str:
    """An encoded value of a variable. Letters of all scripts are not encoded, so that long names of
    places fit into a line."""
    text = "".join(one if one.isalnum() or one in "-._/ " else quote(one, safe="") for one in value)
    if len(text.encode()) > LONGEST:
        raise Refused("Asterisk has a value that is too long for its manager interface.")
    return text
