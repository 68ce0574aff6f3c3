"""One HTTP request on a connection of its own: h11 over asyncio's streams.

A restart by keys is half a dozen requests, each on a connection of its own, and a batch restarts
hundreds of phones: what a general client does around a request costs more than the request.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import h11
from msgspec import Struct

Headers = Sequence[tuple[str, str]]

_PIECE = 64 * 1024
_FAREWELL = 0.5
"""Closing takes a turn of the loop; nothing may hang on it."""


class Unreachable(Exception):
    """No connection came about."""


class Broken(Exception):
    """The other side broke off, or does not speak HTTP."""


class Server(Struct, frozen=True):
    """Where a request goes; with ``tls`` over HTTPS."""

    host: str
    port: int
    tls: ssl.SSLContext | None

    @property
    def name(self) -> str:
        """As it stands in the field Host."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"


async def ask(
    server: Server, method: str, target: str, headers: Headers, body: bytes, *, limit: int
) -> tuple[int, bytes]:
    """The status, and the body of a 200 until it ends or has more than ``limit`` bytes.

    Raises ``Unreachable`` and ``Broken``. There is no deadline; whoever is cancelled leaves no
    socket behind.
    """
    try:
        reader, writer = await asyncio.open_connection(server.host, server.port)
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
        writer.write(_sent(connection, h11.Request(method=method, target=target, headers=fields)))
        if body:
            writer.write(_sent(connection, h11.Data(data=body)))
        writer.write(_sent(connection, h11.EndOfMessage()))
        return await _answer(connection, reader, limit)
    except (OSError, h11.ProtocolError) as error:
        raise Broken from error
    finally:
        writer.transport.abort()
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(_FAREWELL):
                await writer.wait_closed()


def _sent(connection: h11.Connection, event: Any) -> bytes:
    return connection.send(event) or b""


async def _answer(
    connection: h11.Connection, reader: asyncio.StreamReader, limit: int
) -> tuple[int, bytes]:
    status = 0
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(_PIECE))
        elif isinstance(event, h11.Response):
            status = event.status_code
            if status != 200:
                return status, b""
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > limit:
                return status, bytes(body)
        elif isinstance(event, h11.EndOfMessage):
            return status, bytes(body)
        elif isinstance(event, h11.ConnectionClosed):
            raise Broken
