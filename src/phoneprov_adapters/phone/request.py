"""One HTTP request on its own connection: h11 over asyncio's streams.

A restart by keys is half a dozen requests and a batch restarts hundreds of phones: a general
client costs more than the request itself.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import h11
from msgspec import Struct

Headers = Sequence[tuple[str, str]]

_PIECE = 4 * 1024
_MOST_PARTS = 512
"""Maximum number of parts of a reply that h11 reports: heads, informational ones included, and
chunks. Each costs 20 to 100 microseconds, regardless of its size."""
_CLOSE_SECONDS = 0.5
"""Seconds for closing a connection, which takes one turn of the event loop."""


class Unreachable(Exception):
    """The connection could not be opened."""


class Broken(Exception):
    """The reply is not HTTP."""


class Ended(Broken):
    """The connection ended before the reply did."""


class TooMuch(Exception):
    """The reply has more bytes or parts than is allowed."""


class Server(Struct, frozen=True):
    """Where a request goes; with ``tls`` over HTTPS."""

    host: str
    port: int
    tls: ssl.SSLContext | None

    @property
    def name(self) -> str:
        """The value of the field Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"


async def ask(
    server: Server,
    method: str,
    target: str,
    headers: Headers,
    body: bytes,
    *,
    limit: int,
    before: Callable[[], Awaitable[None]],
    sent: Callable[[], None],
) -> tuple[int, bytes]:
    """The status of the reply; its body if the status is 200, and its ``Location`` if it is 3xx.
    Awaits ``before`` when the connection is open, and calls ``sent`` when the request is written.

    ``limit`` bounds all bytes of the reply together: heads, informational responses, chunk
    sizes and their extensions. Raises ``Unreachable``, ``Broken``, ``Ended`` and ``TooMuch``.
    There is no deadline; a cancelled call leaves no socket open.
    """
    try:
        reader, writer = await asyncio.open_connection(server.host, server.port, limit=_PIECE)
    except OSError as error:
        raise Unreachable from error
    try:
        if server.tls is not None:
            try:
                await writer.start_tls(server.tls, server_hostname=server.host)
            except OSError as error:
                raise Unreachable from error
        connection = h11.Connection(h11.CLIENT)
        fields = [("Host", server.name), *headers, ("Connection", "close")]
        if body:
            fields.append(("Content-Length", str(len(body))))
        await before()
        head = h11.Request(method=method, target=target, headers=fields)
        events = [head, *([h11.Data(data=body)] if body else []), h11.EndOfMessage()]
        writer.write(b"".join(connection.send(event) or b"" for event in events))
        sent()
        return await _Reply(connection, reader, limit).read()
    except OSError as error:
        raise Ended from error
    except h11.ProtocolError as error:
        raise Broken from error
    finally:
        writer.transport.abort()
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await writer.wait_closed()


class _Reply:
    def __init__(
        self, connection: h11.Connection, reader: asyncio.StreamReader, limit: int
    ) -> None:
        self._connection = connection
        self._reader = reader
        self._left = limit
        self._has_ended = False

    async def read(self) -> tuple[int, bytes]:
        status = 0
        body = bytearray()
        for _ in range(_MOST_PARTS):
            event = await self._part()
            if isinstance(event, h11.Response):
                status = event.status_code
                if status != 200:
                    place = dict(event.headers).get(b"location", b"")
                    return status, place if 300 <= status < 400 else b""
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                return status, bytes(body)
        raise TooMuch

    async def _part(self) -> Any:
        """The next part that h11 reports. Other tasks run between two pieces of 4 KiB."""
        try:
            while (event := self._connection.next_event()) is h11.NEED_DATA:
                data = await self._reader.read(min(_PIECE, self._left + 1))
                self._left -= len(data)
                self._has_ended = not data
                if self._left < 0:
                    raise TooMuch
                self._connection.receive_data(data)
                await asyncio.sleep(0)
        except h11.RemoteProtocolError as error:
            if self._has_ended:
                raise Ended from error
            raise
        if isinstance(event, h11.ConnectionClosed):
            raise Ended
        return event
