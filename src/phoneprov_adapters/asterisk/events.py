"""Phones that unregister from Asterisk and register again, observed in the events of its manager
interface.

chan_sccp sends ``DeviceStatus`` events (class ``call``) with the fields ``SCCPDevice`` and
``DeviceStatus``: ``UNREGISTERED``, ``PREREGISTERED``, ``REGISTERED`` (its ``sccp_management.c``).

PJSIP sends ``ContactStatus`` events (class ``system``) with the fields ``EndpointName``, ``AOR``,
``URI`` and ``ContactStatus``: ``Created``, ``Reachable``, ``Unreachable``, ``NonQualified``,
``Removed``. The core sends ``DeviceStateChange`` (class ``call``) with ``Device``, such as
``PJSIP/SEP001BD4123456``, and ``State``, ``UNAVAILABLE`` for an endpoint without contacts.

An account receives the events of the classes in its ``read`` in manager.conf.
"""

import asyncio
from typing import Protocol

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.endpoints import Endpoint, endpoint_called
from phoneprov_adapters.asterisk.session import Session
from phoneprov_adapters.asterisk.wire import Broken, Message
from phoneprov_core.deployments.observation import PhoneWatch, Watching
from phoneprov_core.devices.names import device_name
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.phones.model import Phone, speaks_sip

_PRESENT = frozenset({"created", "reachable", "nonqualified", "unknown", "updated"})


class ManagerEvents(PhoneWatch):
    """Watches all phones on the one connection to the manager interface."""

    def __init__(self, connection: ManagerConnection) -> None:
        self._connection = connection

    async def begin(self, phone: Phone) -> Watching:
        device = device_name(phone.mac)
        session = await self._connection.acquire()
        try:
            seen: _Seen = _SeenSccp(device)
            if speaks_sip(phone.software_type):
                async with asyncio.timeout(1.0):
                    seen = _SeenSip(device, await endpoint_called(session, device) or Endpoint())
        except BaseException as error:
            await self._connection.release(session)
            if isinstance(error, TimeoutError | Broken):
                raise Refused("Asterisk does not show the phone's endpoint.") from None
            raise
        watched = _Watched(self._connection, session, seen)
        session.listen(watched)
        return watched


class _Seen(Protocol):
    """The observations of one phone. ``gone``: it unregistered. ``back``: it registered after
    that."""

    gone: bool
    classes: str

    @property
    def back(self) -> bool: ...

    def receive(self, event: Message) -> None: ...


class _SeenSccp:
    classes = "call"

    def __init__(self, device: str) -> None:
        self.gone = False
        self.back = False
        self._device = device

    def receive(self, event: Message) -> None:
        if event["event"] != "DeviceStatus" or event.get("sccpdevice") != self._device:
            return
        status = event.get("devicestatus")
        if status == "UNREGISTERED":
            self.gone = True
        elif status == "REGISTERED" and self.gone:
            # A registration without a departure may complete an earlier restart.
            self.back = True


class _SeenSip:
    """An earlier contact was removed, and a newer one exists.

    With ``remove_existing`` Asterisk may create the new contact before it removes the old one:
    the order of the two does not matter.

    """

    classes = "system,call"

    def __init__(self, device: str, endpoint: Endpoint) -> None:
        self.gone = False
        self._device = device
        self._aors = endpoint.aors
        self._known = {contact.uri for contact in endpoint.contacts}
        self._fresh: set[str] = set()

    @property
    def back(self) -> bool:
        return self.gone and bool(self._fresh)

    def receive(self, event: Message) -> None:
        name = event["event"]
        if name == "ContactStatus":
            if event.get("endpointname") == self._device or event.get("aor") in self._aors:
                self._contact(event.get("uri", ""), event.get("contactstatus", "").lower())
        elif name == "DeviceStateChange" and event.get("device") == f"PJSIP/{self._device}":
            self._state(event.get("state", ""))

    def _contact(self, uri: str, status: str) -> None:
        if status in {"removed", "unreachable"}:
            self._fresh.discard(uri)
            self.gone = self.gone or uri in self._known or not self._known
            self._known.discard(uri)
        elif status in _PRESENT and uri not in self._known:
            self._fresh.add(uri)

    def _state(self, state: str) -> None:
        if state in {"UNAVAILABLE", "INVALID"}:
            self.gone = True
            self._fresh.clear()
            self._known.clear()
        elif self.gone and state != "UNKNOWN":
            self._fresh.add(f"state {state}")


class _Watched(Watching):
    def __init__(self, connection: ManagerConnection, session: Session, seen: _Seen) -> None:
        self._connection = connection
        self._session = session
        self._seen = seen
        self._back: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def receive(self, event: Message) -> None:
        """See ``Listener``."""
        self._seen.receive(event)
        if self._seen.back and not self._back.done():
            self._back.set_result("The phone unregistered and registered again.")

    def disconnected(self) -> None:
        """See ``Listener``."""
        if not self._back.done():
            self._back.set_exception(
                Refused("The AMI connection was lost while waiting for the phone.")
            )

    async def returned(self, seconds: float) -> str:
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.shield(self._back)
        except TimeoutError:
            raise TimedOut(self._observation(seconds)) from None

    async def close(self) -> None:
        self._session.listeners.discard(self)
        self._back.cancel()
        if self._back.done() and not self._back.cancelled():
            self._back.exception()  # retrieved, so that asyncio does not report it
        await self._connection.release(self._session)

    def _observation(self, seconds: float) -> str:
        if self._seen.gone:
            return f"The phone unregistered and did not register again within {seconds:.0f} s."
        return (
            f"The phone did not unregister from Asterisk within {seconds:.0f} s; the manager "
            f"account needs read = {self._seen.classes} to see it."
        )
