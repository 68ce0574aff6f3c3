"""The web server of a phone, which carries out commands and tells of the phone."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Literal
from weakref import WeakValueDictionary

from msgspec import Struct

from phoneprov_adapters.phone.request import Broken, Headers, Server, Unreachable, ask
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.deployments.information import PATH, read_device_information
from phoneprov_core.deployments.ports import DeviceInformation, PhoneInformation
from phoneprov_core.devices.commands import REPLY_LIMIT, execute_body, read_execute_reply
from phoneprov_core.devices.ports import KeyPress, PhoneCommands
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.kernel.redaction import redacted

_HEADERS = (
    ("Accept", "text/xml"),
    # A compressed reply could be small on the wire and huge in memory.
    ("Accept-Encoding", "identity"),
    ("User-Agent", "phoneprov"),
)
_FORM = ("Content-Type", "application/x-www-form-urlencoded")


class PhoneWebSettings(Struct, frozen=True, kw_only=True):
    """How phones are called. ``timeout`` bounds one request and ``total`` a whole call with
    its pauses, in seconds. Without a ``user`` no login is sent. Raises ValueError for a value
    that cannot be used."""

    scheme: Literal["http", "https"] = "http"
    port: int = 80
    user: str = ""
    password: str = ""
    timeout: float = 5.0
    total: float = 8.0

    def __post_init__(self) -> None:
        if self.scheme not in {"http", "https"}:
            raise ValueError("The scheme of phones must be http or https.")
        if not 1 <= self.port <= 65535:
            raise ValueError("The web port of phones must be from 1 to 65535.")
        if ":" in self.user:
            raise ValueError("The web user of phones must not hold a colon.")
        if not (self.timeout > 0 and self.total > 0):
            raise ValueError("The timeouts of phones must be more than 0 seconds.")

    def __repr__(self) -> str:
        return redacted(self, "password")


class PhoneWeb(PhoneCommands, PhoneInformation):
    """Calls phones over HTTP, or over HTTPS without looking at their certificates.

    A phone's certificate is self-signed or signed by its maker for another name, so that a
    check could only fail; and old phones speak nothing newer than TLS 1.0. HTTPS here keeps
    listeners out and proves nothing about who answers. Redirects are not followed, proxies
    of the environment are not used, and every request has a connection of its own.
    """

    def __init__(self, settings: PhoneWebSettings, networks: PhoneNetworks) -> None:
        self._settings = settings
        self._networks = networks
        self._tls = _unchecked_tls()
        self._headers: Headers = _HEADERS
        if settings.user:
            login = f"{settings.user}:{settings.password}".encode()
            self._headers = (
                *_HEADERS,
                ("Authorization", f"Basic {base64.b64encode(login).decode()}"),
            )
        self._in_flight: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def execute(self, phone_ip: str, commands: Sequence[KeyPress]) -> None:
        """See the port. A call waits, within its deadline, for one that is under way to the
        same phone. A command that cannot be sent raises ``Invalid``, before any is sent."""
        address = self._networks.allowed(phone_ip)
        bodies = [(execute_body(command.uri), command.pause) for command in commands]
        async with self._called(address, self._settings.total):
            await self._send(address, bodies)

    async def read(self, phone_ip: str, seconds: float) -> DeviceInformation:
        """See the port."""
        address = self._networks.allowed(phone_ip)
        async with self._called(address, seconds):
            status, body = await self._ask(address, "GET", PATH, self._headers)
        return read_device_information(status, body)

    @asynccontextmanager
    async def _called(self, address: str, seconds: float) -> AsyncIterator[None]:
        """One call at a time to a phone, with a deadline; what goes wrong in it in our words."""
        turn = self._in_flight.setdefault(address, asyncio.Lock())
        try:
            async with asyncio.timeout(seconds), turn:
                yield
        except TimeoutError:
            raise TimedOut("The phone's web server did not answer in time.") from None
        except Unreachable:
            raise Refused(
                "The phone's web server cannot be reached; check that the phone is on, that "
                "its address is right and that its web access is enabled."
            ) from None
        except Broken:
            raise Refused(
                "The phone's web server broke off or did not answer in HTTP; check "
                "PHONEPROV_PHONE_SCHEME and PHONEPROV_PHONE_HTTP_PORT."
            ) from None

    async def _send(self, address: str, bodies: list[tuple[bytes, float]]) -> None:
        headers = (*self._headers, _FORM)
        for body, pause in bodies:
            async with asyncio.timeout(self._settings.timeout):
                status, reply = await self._ask(address, "POST", "/CGI/Execute", headers, body)
            read_execute_reply(status, reply)
            await asyncio.sleep(pause)

    async def _ask(
        self, address: str, method: str, path: str, headers: Headers, body: bytes = b""
    ) -> tuple[int, bytes]:
        tls = self._tls if self._settings.scheme == "https" else None
        server = Server(address, self._settings.port, tls)
        return await ask(server, method, path, headers, body, limit=REPLY_LIMIT)


def _unchecked_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    return context
