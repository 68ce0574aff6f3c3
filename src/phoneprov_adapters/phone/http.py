"""The web server of a phone, which carries out commands and tells of the phone."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal
from weakref import WeakValueDictionary

import httpx
from msgspec import Struct

from phoneprov_adapters.networks import PhoneNetworks
from phoneprov_core.deployments.information import PATH, read_device_information
from phoneprov_core.deployments.outside import DeviceInformation, PhoneInformation
from phoneprov_core.kernel.errors import Refused, TimedOut
from phoneprov_core.kernel.redaction import redacted
from phoneprov_core.profiles.device import REPLY_LIMIT, execute_body, read_execute_reply
from phoneprov_core.profiles.ports import KeyPress, PhoneCommands

_HEADERS = {
    "Accept": "text/xml",
    # A compressed reply could be small on the wire and huge in memory.
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "phoneprov",
}
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


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
        async with self._called(address, seconds), self._client() as client:
            status, body = await _ask(client, "GET", self._url(address, PATH))
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
        except httpx.ConnectError:
            raise Refused(
                "The phone's web server cannot be reached; check that the phone is on, that "
                "its address is right and that its web access is enabled."
            ) from None
        except (httpx.HTTPError, OSError):
            raise Refused(
                "The phone's web server broke off or did not answer in HTTP; check "
                "PHONEPROV_PHONE_SCHEME and PHONEPROV_PHONE_HTTP_PORT."
            ) from None

    async def _send(self, address: str, bodies: list[tuple[bytes, float]]) -> None:
        url = self._url(address, "/CGI/Execute")
        async with self._client() as client:
            for body, pause in bodies:
                async with asyncio.timeout(self._settings.timeout):
                    status, reply = await _ask(client, "POST", url, body)
                read_execute_reply(status, reply)
                await asyncio.sleep(pause)

    def _url(self, address: str, path: str) -> httpx.URL:
        return httpx.URL(
            scheme=self._settings.scheme, host=address, port=self._settings.port, path=path
        )

    def _client(self) -> httpx.AsyncClient:
        user, password = self._settings.user, self._settings.password
        return httpx.AsyncClient(  # nosec B113
            auth=httpx.BasicAuth(user, password) if user else None,
            headers=_HEADERS,
            verify=self._tls,
            follow_redirects=False,
            trust_env=False,
            # Deadlines per read would let a phone that sends byte by byte go on for ever.
            timeout=None,  # noqa: S113 - asyncio.timeout bounds the whole request
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=0),
        )


async def _ask(
    client: httpx.AsyncClient, method: str, url: httpx.URL, form: bytes | None = None
) -> tuple[int, bytes]:
    """The status, and the body of a 200 until it ends or is too long to be a reply."""
    received = bytearray()
    headers = None if form is None else _FORM
    async with (
        _sockets_closed() as trace,
        client.stream(method, url, content=form, headers=headers, extensions=trace) as response,
    ):
        if response.status_code == httpx.codes.OK:
            async for piece in response.aiter_raw():
                received += piece
                if len(received) > REPLY_LIMIT:
                    break
        return response.status_code, bytes(received)


@asynccontextmanager
async def _sockets_closed() -> AsyncIterator[dict[str, Any]]:
    """Closes at the end what a request with these extensions has opened.

    httpcore does so itself, except when it is cancelled in a TLS handshake.
    """
    opened: list[Any] = []

    async def trace(event: str, info: dict[str, Any]) -> None:
        if event == "connection.connect_tcp.complete":
            opened.append(info["return_value"])

    try:
        yield {"trace": trace}
    finally:
        for stream in opened:
            await stream.aclose()


def _unchecked_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    return context
