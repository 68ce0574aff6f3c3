"""A client of the web server of a phone."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Literal
from weakref import WeakValueDictionary

from phoneprov_adapters.phone.request import Broken, Headers, Server, TooMuch, Unreachable, ask
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.inventory.configuration.well_formed import REPLY_LIMIT
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.kernel.fields import SECRET, Redacted
from phoneprov_core.switching.deployments.observation import (
    PATH,
    DeviceInformation,
    PhoneInformation,
    read_device_information,
)
from phoneprov_core.switching.devices.commands import (
    execute_body,
    read_execute_reply,
    require_no_redirect,
    require_phone,
)
from phoneprov_core.switching.devices.ports import KeyPress, PhoneCommands, Proceed, always
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN, REPLY_LOST

_HEADERS = (
    ("Accept", "text/xml"),
    # A small compressed reply could be huge in memory.
    ("Accept-Encoding", "identity"),
    ("User-Agent", "phoneprov"),
)
_FORM = ("Content-Type", "application/x-www-form-urlencoded")
_CHECK = (
    "check that the phone is on and connected, that its phone_ip is right, and that its web access "
    "is enabled."
)
_NO_ANSWER = f"The phone's web server did not answer in time; {_CHECK}"
_STILL_BUSY = (
    "The phone was not called: it did not answer earlier requests of this service in time; "
    f"{_CHECK}"
)
_NOT_KNOWN = "The phone did not confirm the command; it may still carry it out."


Scheme = Literal["http", "https"]


class PhoneWebSettings(Redacted, frozen=True, kw_only=True):
    """Settings of calls to phones. ``timeout`` bounds one request and ``total`` a whole call with
    its pauses, in seconds. Without a ``user`` no credentials are sent. Raises ValueError for an
    invalid value."""

    scheme: Scheme = "http"
    port: int = 80
    user: str = ""
    password: Annotated[str, SECRET] = ""
    timeout: float = 5.0
    total: float = 8.0

    def __post_init__(self) -> None:
        if self.scheme not in {"http", "https"}:
            raise ValueError("The scheme of phones must be http or https.")
        if not 1 <= self.port <= 65535:
            raise ValueError("The web port of phones must be from 1 to 65535.")
        if ":" in self.user:
            raise ValueError("The web user of phones must not contain a colon.")
        if not (self.timeout > 0 and self.total > 0):
            raise ValueError("The timeouts of phones must be more than 0 seconds.")


class PhoneWeb(PhoneCommands, PhoneInformation):
    """Calls phones over HTTP, or over HTTPS without verifying their certificates.

    A phone's certificate is self-signed or issued by its manufacturer for another name, so that
    verification always fails; old phones support TLS 1.0 only. HTTPS here protects against
    eavesdropping, not against an impostor. The login is sent with commands only. Redirects are not
    followed, proxies of the environment are not used, and every request has its own connection.
    """

    def __init__(self, settings: PhoneWebSettings, networks: PhoneNetworks) -> None:
        self._settings = settings
        self._networks = networks
        self._tls = _unchecked_tls()
        self._with_command: Headers = (*_HEADERS, _FORM)
        if settings.user:
            login = base64.b64encode(f"{settings.user}:{settings.password}".encode())
            self._with_command += (("Authorization", f"Basic {login.decode()}"),)
        self._in_flight: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def execute(
        self,
        phone_ip: str,
        commands: Sequence[KeyPress],
        mac: str | None = None,
        proceed: Proceed = always,
    ) -> None:
        """See the port. Waits, within its deadline, for the end of another call to the same
        phone."""
        address = self._networks.allowed(phone_ip)
        bodies = [(command, execute_body(command.uri)) for command in commands]
        # One command and the request for the MAC have the time of one request.
        seconds = min(self._settings.total, self._settings.timeout * len(bodies))
        if not bodies:
            return
        sent = answered = 0

        def count() -> None:
            nonlocal sent
            sent += 1

        try:
            async with self._called(address, seconds):
                if mac is not None:
                    async with asyncio.timeout(self._settings.timeout):
                        require_phone(mac, await self._mac_of(address))
                for command, body in bodies:
                    async with asyncio.timeout(self._settings.timeout):
                        reply = await self._ask(
                            address, "POST", "/CGI/Execute", body, count, proceed
                        )
                    read_execute_reply(*reply, may_be_empty=command.may_be_empty)
                    answered += 1
                    await asyncio.sleep(command.pause)
        except (Refused, TimedOut) as error:
            if answered == len(bodies):
                return  # only the last pause was too long
            if error.code == OUTCOME_UNKNOWN:
                raise  # of ``proceed``
            if sent == len(bodies) and error.code == REPLY_LOST:
                raise type(error)(f"{error.message} {_NOT_KNOWN}", code=REPLY_LOST) from None
            raise type(error)(error.message) from None

    async def read(self, phone_ip: str, seconds: float) -> DeviceInformation:
        """See the port."""
        address = self._networks.allowed(phone_ip)
        async with self._called(address, seconds):
            try:
                answer = await self._ask(address, "GET", PATH)
            except TooMuch:
                return DeviceInformation()
        require_no_redirect(*answer)
        return read_device_information(*answer)

    @asynccontextmanager
    async def _called(self, address: str, seconds: float) -> AsyncIterator[None]:
        """One call at a time to an address; the deadline includes the wait for earlier ones. Raises
        ``Refused`` and ``TimedOut``, with the code ``REPLY_LOST`` if a reply was lost."""
        lock = self._in_flight.setdefault(address, asyncio.Lock())
        began = False
        try:
            async with asyncio.timeout(seconds), lock:
                began = True
                yield
        except TimeoutError:
            if not began:
                raise TimedOut(_STILL_BUSY) from None
            raise TimedOut(_NO_ANSWER, code=REPLY_LOST) from None
        except Unreachable:
            raise Refused(f"The phone's web server cannot be reached; {_CHECK}") from None
        except Broken:
            raise Refused(
                "The phone's web server closed the connection or did not answer in HTTP; "
                "check PHONEPROV_PHONE_SCHEME and PHONEPROV_PHONE_HTTP_PORT.",
                code=REPLY_LOST,
            ) from None
        except TooMuch:
            raise Refused(
                "The phone's web server sent more than 64 KiB or too many parts in one reply; "
                "check its phone_ip.",
                code=REPLY_LOST,
            ) from None

    async def _mac_of(self, address: str) -> str | None:
        """The MAC that the phone states; None if it does not answer this request."""
        try:
            answer = await self._ask(address, "GET", PATH)
        except Broken:
            return None
        return read_device_information(*answer).mac

    async def _ask(
        self,
        address: str,
        method: str,
        path: str,
        body: bytes = b"",
        sent: Callable[[], None] = lambda: None,
        before: Callable[[], Awaitable[None]] = always,
    ) -> tuple[int, bytes]:
        tls = self._tls if self._settings.scheme == "https" else None
        server = Server(address, self._settings.port, tls)
        # A look carries no login: another host may have the address.
        headers = self._with_command if body else _HEADERS
        return await ask(
            server, method, path, headers, body, limit=REPLY_LIMIT, before=before, sent=sent
        )


def _unchecked_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    return context
