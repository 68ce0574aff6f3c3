"""The socket of one TFTP transfer."""

import asyncio
import contextlib
import socket
from typing import Any, cast

from phoneprov_adapters.tftp.transfer import State, Transfer


class Endpoint(asyncio.DatagramProtocol):
    """The socket of one transfer. Keeps the last few packets until they are asked for."""

    def __init__(self) -> None:
        self._packets: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=8)
        self._transport: asyncio.DatagramTransport | None = None
        self._closed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio calls it
        self._closed.set()

    def datagram_received(self, data: bytes, addr: Any) -> None:  # noqa: ARG002 - connected
        with contextlib.suppress(asyncio.QueueFull):
            self._packets.put_nowait(data)

    def error_received(self, exc: Exception) -> None:  # noqa: ARG002 - the client's port is closed
        with contextlib.suppress(asyncio.QueueFull):
            self._packets.put_nowait(None)

    def send(self, packet: bytes) -> None:
        """Send a packet to the client."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.sendto(packet)

    async def next_packet(self, transfer: Transfer) -> bytes | None:
        """Wait until the transfer has a packet to send or has changed its state."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + transfer.retry_seconds
        while transfer.state is State.RUNNING:
            try:
                async with asyncio.timeout_at(deadline):
                    received = await self._packets.get()
            except TimeoutError:
                return transfer.time_out()
            if received is None:
                transfer.fail()
                return None
            answer = transfer.receive(received)
            if answer is not None:
                return answer
        return None

    async def close(self) -> None:
        """Close the socket."""
        if self._transport is not None:
            self._transport.close()
            await self._closed.wait()


def bound(family: int, host: str, ports: range | None) -> socket.socket:
    """A non-blocking UDP socket at ``host``, at the first free port of the range."""
    for port in ports or (0,):
        sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.setblocking(False)
        try:
            sock.bind((host, port))
        except OSError:
            sock.close()
            continue
        return sock
    raise OSError("every port for TFTP transfers is in use")
