"""Phones that register again with Asterisk, observed over its manager interface.

chan_sccp sends ``DeviceStatus`` events (class ``call``) with the fields ``SCCPDevice`` and
``DeviceStatus``: ``UNREGISTERED``, ``PREREGISTERED``, ``REGISTERED`` (its ``sccp_management.c``).

PJSIP sends ``ContactStatus`` events (class ``system``) with the fields ``EndpointName`` and
``AOR``. The same events follow when a contact did not answer qualify requests for a while, or when
NAT changed its port, and they have no Call-ID. So an event only causes a check of the contacts. The
check is also repeated without events, because an account gets only the events of the classes in its
``read`` option in manager.conf.
"""

import asyncio
from contextlib import suppress
from typing import Protocol

from phoneprov_adapters.asterisk.connection import ManagerConnection
from phoneprov_adapters.asterisk.lists import Contact, Endpoint, endpoint_called
from phoneprov_adapters.asterisk.session import Broken, Message, Session, Silent
from phoneprov_core.inventory.phones.model import Phone, speaks_sip
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.switching.deployments.observation import PhoneWatch, Watching
from phoneprov_core.switching.devices.names import device_name

LOOK_SECONDS = 10.0
"""Seconds between two checks without an event."""

RETRY_SECONDS = 1.0
"""Seconds between two checks while Asterisk's manager interface does not answer."""

ANSWER_SECONDS = 3.0
"""Seconds for one check. The last check, with a login, ends before the deployment's confirmation is
overdue (10 s)."""


class ManagerEvents(PhoneWatch):
    """Watches all phones over one connection to the manager interface. After a loss, the connection
    is opened again."""

    def __init__(self, connection: ManagerConnection) -> None:
        self._connection = connection

    async def begin(self, phone: Phone, *, is_restarting: bool = False) -> Watching:
        is_sip = speaks_sip(phone.software_type)
        # chan_sccp restarts only registered phones, so the next registration is a new one.
        seen = _SeenSip(phone) if is_sip else _SeenSccp(phone, is_gone=is_restarting)
        session = await self._connection.acquire()
        watched = _Watched(self._connection, session, seen)
        session.listen(watched)
        try:
            async with asyncio.timeout(1.0):
                await seen.begin(session)
        except BaseException as error:
            await watched.close()
            if isinstance(error, TimeoutError | Broken):
                raise TimedOut("Asterisk did not show the phone's endpoint in time.") from None
            raise
        return watched


class _Seen(Protocol):
    """The observations of one phone."""

    async def begin(self, session: Session) -> None:
        """Remember what is registered now."""

    def receive(self, event: Message) -> bool:
        """Whether the event is a reason for a check."""
        ...

    async def look(self, session: Session) -> str:
        """The observation, as a sentence, if the phone has registered again; else an empty text.
        Raises ``Broken`` and ``Refused`` if Asterisk does not answer."""
        ...

    def missed(self, seconds: float, *, was_lost: bool) -> str:
        """The missing observation, as a sentence. ``was_lost``: the connection was lost for a
        while."""
        ...


_BACK = "The phone unregistered and registered again."


class _SeenSccp:
    def __init__(self, phone: Phone, *, is_gone: bool) -> None:
        self._device = device_name(phone.mac)
        self._is_gone = is_gone
        self._is_back = False

    async def begin(self, session: Session) -> None:
        pass

    def receive(self, event: Message) -> bool:
        device = event.get("sccpdevice", "")
        # A device of the realtime configuration unregisters as XXX001BD4123456.
        if event["event"] != "DeviceStatus" or not (
            device[:3] in {"SEP", "XXX"} and device[3:] == self._device[3:]
        ):
            return False
        status = event.get("devicestatus")
        if status == "UNREGISTERED":
            self._is_gone = True
        elif status == "REGISTERED" and self._is_gone:
            # Without UNREGISTERED before it, a registration may complete an earlier restart.
            self._is_back = True
        return self._is_back

    async def look(self, session: Session) -> str:
        if self._is_back:
            return _BACK
        await session.ping()
        return ""

    def missed(self, seconds: float, *, was_lost: bool) -> str:
        if was_lost:
            return (
                "It is not known whether the phone registered again: the AMI connection was lost "
                "for a while."
            )
        if self._is_gone:
            return f"The phone unregistered and did not register again within {seconds:.0f} s."
        return (
            f"The phone did not unregister from Asterisk within {seconds:.0f} s; the manager "
            "account needs read = call to see it."
        )


class _SeenSip:
    """Detects a new registration from the phone's address: its contact has a new Call-ID, or was
    removed and exists again."""

    def __init__(self, phone: Phone) -> None:
        if phone.phone_ip is None:
            raise Refused(
                "The phone's address (phone_ip) is not recorded: its registration cannot be "
                "distinguished from another phone's."
            )
        self._device = device_name(phone.mac)
        self._address = phone.phone_ip
        self._aors: frozenset[str] = frozenset()
        self._call_ids: frozenset[str] = frozenset()
        self._is_gone = False

    async def begin(self, session: Session) -> None:
        endpoint = await self._endpoint(session)
        self._aors = endpoint.aors
        self._call_ids = frozenset(one.call_id for one in self._own(endpoint))
        self._is_gone = not self._own(endpoint)

    def receive(self, event: Message) -> bool:
        return event["event"] == "ContactStatus" and (
            event.get("endpointname") == self._device or event.get("aor") in self._aors
        )

    async def look(self, session: Session) -> str:
        endpoint = await self._endpoint(session)
        self._aors = endpoint.aors  # the AORs of a new user, whom the phone registers now
        own = self._own(endpoint)
        if not own:
            self._is_gone = True
            return ""
        if self._is_gone:
            return _BACK
        if any(one.call_id and one.call_id not in self._call_ids for one in own):
            return "The phone registered again, with another Call-ID."
        return ""

    def missed(self, seconds: float, *, was_lost: bool) -> str:  # noqa: ARG002 - compared by looks
        if self._is_gone:
            return f"The phone unregistered and did not register again within {seconds:.0f} s."
        # Asterisk 22 keeps the Call-ID of a contact whose URI is the same, and sends no event.
        return f"No new registration of the phone was seen within {seconds:.0f} s."

    def _own(self, endpoint: Endpoint) -> tuple[Contact, ...]:
        return endpoint.at(self._address)

    async def _endpoint(self, session: Session) -> Endpoint:
        endpoint = await endpoint_called(session, self._device)
        if endpoint is None:
            raise Refused(
                f"Asterisk does not show the endpoint {self._device}; check pjsip.conf, and "
                "write = system of the manager account."
            )
        return endpoint


class _Watched(Watching):
    def __init__(self, connection: ManagerConnection, session: Session, seen: _Seen) -> None:
        self._connection = connection
        self._session: Session | None = session
        self._seen = seen
        self._news = asyncio.Event()
        self._was_lost = False
        self._failure: str | None = None

    def receive(self, event: Message) -> None:
        """See ``Listener``."""
        if self._seen.receive(event):
            self._news.set()

    def disconnected(self) -> None:
        """See ``Listener``."""
        self._news.set()

    async def returned(self, seconds: float) -> str:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not (text := await self._look()):
                    pause = LOOK_SECONDS if self._failure is None else RETRY_SECONDS
                    with suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await self._news.wait()
                return text
        if text := await self._look():
            return text
        if self._failure is not None:
            raise TimedOut(
                "It is not known whether the phone registered again within "
                f"{seconds:.0f} s. {self._failure}"
            )
        raise TimedOut(self._seen.missed(seconds, was_lost=self._was_lost))

    async def close(self) -> None:
        await self._release()

    async def _look(self) -> str:
        """The observation if the phone has registered again, else an empty text. If the check
        failed, ``_failure`` is the reason."""
        self._news.clear()
        self._failure = None
        try:
            session = await self._connected()
            async with asyncio.timeout(ANSWER_SECONDS):
                return await self._seen.look(session)
        except (TimeoutError, Silent):
            # A busy connection is not dropped: it is shared by all watches and restarts.
            self._failure = "Asterisk's manager interface did not answer in time."
        except Broken:
            self._failure = "The AMI connection was lost."
        except (Refused, TimedOut) as error:
            self._failure = error.message
        return ""

    async def _connected(self) -> Session:
        if self._session is None or not self._session.is_open:
            self._was_lost = True
            await self._release()
            self._session = await self._connection.acquire()
            self._session.listen(self)
        return self._session

    async def _release(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.listeners.discard(self)
            await self._connection.release(session)
