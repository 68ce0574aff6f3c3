"""The web server of the simulated phone, and its requests for files."""

import asyncio
import base64
import hmac
from collections.abc import Callable
from html import escape
from typing import Annotated, Any
from urllib.parse import parse_qsl

import h11

from phoneprov_core.inventory.configuration.well_formed import elements_of
from phoneprov_core.kernel.fields import SECRET, Redacted

SECONDS = 5.0
"""Seconds that the phone waits for a packet."""


async def fetch_by_tftp(host: str, port: int, name: str, *, source: str = "127.0.0.1") -> bytes:
    """The content of a file. Raises ``FileNotFoundError`` for an ERROR packet, ``TimeoutError``
    if the server does not answer."""
    inbox: asyncio.Queue[tuple[bytes, Any]] = asyncio.Queue()
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: _Inbox(inbox), local_addr=(source, 0)
    )

    try:
        transport.sendto(b"\0\x01" + name.encode("ascii") + b"\0octet\0", (host, port))
        content, expected = b"", 1
        while True:
            async with asyncio.timeout(SECONDS):
                packet, address = await inbox.get()
            if packet[1] == 5:
                raise FileNotFoundError(packet[4:-1].decode("ascii", "replace"))
            transport.sendto(b"\0\x04" + packet[2:4], address)
            if int.from_bytes(packet[2:4], "big") == expected & 0xFFFF:
                content += packet[4:]
                expected += 1
                if len(packet) < 516:
                    return content
    finally:
        transport.close()
        await asyncio.sleep(0)


class _Inbox(asyncio.DatagramProtocol):
    def __init__(self, inbox: asyncio.Queue[tuple[bytes, Any]]) -> None:
        self._inbox = inbox

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._inbox.put_nowait((data, addr))


_LARGEST = 64 * 1024
_REQUEST_SECONDS = 10.0
_OBJECT_LIMIT = 512


class WebPhone(Redacted, frozen=True, kw_only=True):
    """Login and identity of a phone's web server. Without a ``user`` every client may send
    commands."""

    mac: str
    model: str
    name: str
    load: str = ""
    user: str = ""
    password: Annotated[str, SECRET] = ""


class PhoneWebServer:
    """Answers one request per connection; ``on_command`` is called with every command before the
    client gets its reply."""

    _server: asyncio.Server

    def __init__(self, phone: WebPhone, on_command: Callable[[str], None]) -> None:
        self._phone = phone
        self._on_command = on_command
        self._serving: set[asyncio.Task[None]] = set()
        self._back_at = 0.0

    async def start(self, host: str, port: int) -> int:
        """Listens, and returns the port."""
        self._server = await asyncio.start_server(self.connected, host, port)
        found: int = self._server.sockets[0].getsockname()[1]
        return found

    async def close(self) -> None:
        """Stops listening and drops the connections that are open."""
        self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await asyncio.sleep(0)  # The sockets are closed in the next turn of the loop.
        await self._server.wait_closed()

    def go_away(self, seconds: float) -> None:
        """Drop every new connection for this time, as a phone does during its start; running
        requests are answered."""
        # The port stays bound: otherwise another program could take it meanwhile.
        self._back_at = asyncio.get_running_loop().time() + seconds

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves a connection."""
        if asyncio.get_running_loop().time() < self._back_at:
            writer.transport.abort()
            return

        def end(task: asyncio.Task[None]) -> None:
            self._serving.discard(task)
            writer.transport.abort()

        task = asyncio.create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(end)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                if request := await _request(connection, reader):
                    writer.write(_written(connection, *self._answer(*request)))
                    await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (OSError, h11.ProtocolError):
            pass  # The client disconnected, or does not speak HTTP.

    def _answer(self, request: h11.Request, body: bytes) -> tuple[int, str]:
        match request.method, request.target:
            case b"POST", b"/CGI/Execute":
                headers = dict(request.headers)
                if not self._is_authorized(headers.get(b"authorization", b"")):
                    return 401, ""
                if b"expect" in headers:
                    return 200, _error(6)
                return 200, self._execute(body)
            case b"GET", b"/DeviceInformationX":
                return 200, self._device_information()
            case _:
                return 404, ""

    def _is_authorized(self, authorization: bytes) -> bool:
        if not self._phone.user:
            return True
        login = f"{self._phone.user}:{self._phone.password}".encode()
        return hmac.compare_digest(authorization, b"Basic " + base64.b64encode(login))

    def _execute(self, body: bytes) -> str:
        try:
            uris = read_execute_request(body)
        except ValueError:
            return _error(1)
        for uri in uris:
            self._on_command(uri)
        items = (f'<ResponseItem Status="0" Data="Success" URL="{escape(uri)}"/>' for uri in uris)
        return f"<CiscoIPPhoneResponse>{''.join(items)}</CiscoIPPhoneResponse>"

    def _device_information(self) -> str:
        return (
            "<DeviceInformation>"
            f"<MACAddress>{self._phone.mac.replace(':', '')}</MACAddress>"
            f"<HostName>{escape(self._phone.name)}</HostName>"
            f"<versionID>{escape(self._phone.load)}</versionID>"
            f"<modelNumber>{escape(self._phone.model)}</modelNumber>"
            "</DeviceInformation>"
        )


def read_execute_request(body: bytes) -> list[str]:
    """The commands of a form with the field ``XML``: one to three, of up to 256 characters.

    Raises ValueError for objects that a phone cannot parse, and for objects of more than 512 bytes.
    """
    fields = parse_qsl(body.decode("ascii"), strict_parsing=True, max_num_fields=10)
    (xml,) = [value for name, value in fields if name == "XML"]
    if len(xml.encode()) > _OBJECT_LIMIT:
        raise ValueError("the object is longer than 512 bytes")
    root, *items = elements_of(xml.encode())
    uris = [item.attributes.get("URL", "") for item in items if item.name == "ExecuteItem"]
    if root.name != "CiscoIPPhoneExecute" or len(uris) != len(items) or not 1 <= len(uris) <= 3:
        raise ValueError("the object is not an Execute of one to three items")
    if not all(1 <= len(uri) <= 256 for uri in uris):
        raise ValueError("a command has 1 to 256 characters")
    return uris


def _error(number: int) -> str:
    return f'<CiscoIPPhoneError Number="{number}"/>'


async def _request(
    connection: h11.Connection, reader: asyncio.StreamReader
) -> tuple[h11.Request, bytes] | None:
    """The one request of a connection, or None if it ends without a complete one."""
    request: h11.Request | None = None
    body = bytearray()
    while len(body) <= _LARGEST:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_LARGEST))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += event.data
        elif isinstance(event, h11.EndOfMessage) and request:
            return request, bytes(body)
        else:
            return None
    return None


def _written(connection: h11.Connection, status: int, body: str) -> bytes:
    content = body.encode()
    headers = [
        ("Content-Type", "text/xml; charset=utf-8"),
        ("Content-Length", str(len(content))),
        ("Connection", "close"),
    ]
    if status == 401:
        headers.append(("WWW-Authenticate", 'Basic realm="phone"'))
    events = (
        h11.Response(status_code=status, headers=headers),
        h11.Data(data=content),
        h11.EndOfMessage(),
    )
    return b"".join(connection.send(event) or b"" for event in events)
