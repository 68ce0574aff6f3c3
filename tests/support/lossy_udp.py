"""A UDP proxy that loses and reorders packets, for TFTP: it follows each transfer's new port."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, cast

Address = tuple[str, int]


class LossyProxy(asyncio.DatagramProtocol):
    """Forwards between clients and one server. Each packet is lost with the probability ``loss``,
    and delayed until later packets have passed with the same probability."""

    def __init__(self, server: Address, loss: float, seed: int) -> None:
        self._server = server
        self._loss = loss
        self._random = Random(seed)
        self._transport: asyncio.DatagramTransport | None = None
        self._clients: dict[Address, _Client] = {}
        self.lost = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.pass_on(lambda: self._to_server(data, addr))

    def pass_on(self, send: Any) -> None:
        """Send a packet now, a little later, or never."""
        chance = self._random.random()
        if chance < self._loss:
            self.lost += 1
        elif chance < 2 * self._loss:
            asyncio.get_running_loop().call_later(0.01, send)
        else:
            send()

    def _to_server(self, data: bytes, client: Address) -> None:
        known = self._clients.get(client)
        if known is None:
            known = self._clients[client] = _Client(self, client)
            known.opening = asyncio.ensure_future(known.open())
        known.send(data, self._server)

    async def close(self) -> None:
        """Close every socket."""
        for client in self._clients.values():
            await client.close()
        if self._transport is not None:
            self._transport.close()
        await asyncio.sleep(0)


class _Client(asyncio.DatagramProtocol):
    """Two sockets for one client: one for the server, one in place of the transfer's port."""

    def __init__(self, proxy: LossyProxy, client: Address) -> None:
        self._proxy = proxy
        self._client = client
        self._up: asyncio.DatagramTransport | None = None
        self._down: asyncio.DatagramTransport | None = None
        self._transfer: Address | None = None
        self._waiting: list[tuple[bytes, Address]] = []
        self.opening: asyncio.Future[None] | None = None

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._up, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        down = _FromClient(self._proxy, self)
        self._down, _ = await loop.create_datagram_endpoint(
            lambda: down, local_addr=("127.0.0.1", 0)
        )
        for data, address in self._waiting:
            self._up.sendto(data, address)

    def send(self, data: bytes, address: Address | None = None) -> None:
        target = address or self._transfer
        if self._up is None:
            assert target is not None
            self._waiting.append((data, target))
        elif target is not None and not self._up.is_closing():
            self._up.sendto(data, target)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._transfer = addr

        def send() -> None:
            if self._down is not None and not self._down.is_closing():
                self._down.sendto(data, self._client)

        self._proxy.pass_on(send)

    async def close(self) -> None:
        if self.opening is not None:
            await self.opening
        for transport in (self._up, self._down):
            if transport is not None:
                transport.close()


class _FromClient(asyncio.DatagramProtocol):
    def __init__(self, proxy: LossyProxy, client: _Client) -> None:
        self._proxy = proxy
        self._client = client

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._proxy.pass_on(lambda: self._client.send(data))


@asynccontextmanager
async def lossy(server: Address, loss: float, seed: int = 1) -> AsyncIterator[Address]:
    """Start a proxy before the server; its address."""
    proxy = LossyProxy(server, loss, seed)
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: proxy, local_addr=("127.0.0.1", 0)
    )
    try:
        yield transport.get_extra_info("sockname")
    finally:
        await proxy.close()
