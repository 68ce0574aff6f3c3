"""TFTP over UDP sockets: one socket takes requests, each transfer has a socket of its own."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, cast

from msgspec import Struct

from phoneprov_adapters.tftp import packets
from phoneprov_adapters.tftp.endpoint import Endpoint, bound
from phoneprov_adapters.tftp.packets import BadPacket, ErrorCode, ReadRequest
from phoneprov_adapters.tftp.transfer import Content, State, Transfer

log = logging.getLogger("phoneprov.tftp")

Address: TypeAlias = "tuple[str, int] | tuple[str, int, int, int]"


class OpenFile(Content, Protocol):
    """A file that is open for one transfer."""

    async def load(self, offset: int) -> None:
        """Load the bytes from ``offset`` on into memory, a bounded number of them.

        Raises ``OSError`` if the file cannot be read.
        """

    async def finish(self, *, is_complete: bool, size: int, seconds: float) -> None:
        """Release the file and record the transfer: ``size`` bytes were acknowledged."""


class Denied(Struct, frozen=True):
    """The answer to a request that gets no file."""

    code: ErrorCode
    message: str


Open = Callable[[str, str], Awaitable[OpenFile | Denied]]
"""Opens a file by name for a client address. It records refusals and missing files itself."""


class Limits(Struct, frozen=True):
    """Bounds of the server: transfers in all and for each client address, seconds that one
    transfer may take, and the range of ports for transfers (None: any)."""

    transfers: int = 1000
    transfers_per_address: int = 16
    seconds: float = 3600.0
    ports: range | None = None


class TftpServer(asyncio.DatagramProtocol):
    """Answers read requests that arrive at its socket.

    A malformed packet costs one parse and at most one ERROR packet. A request that repeats while
    its transfer runs is dropped: the transfer's own timer sends again. When the limit of
    transfers is reached, a request is dropped without an answer, and the client asks again.
    """

    def __init__(self, open_file: Open, limits: Limits) -> None:
        self._open = open_file
        self._limits = limits
        self._transport: asyncio.DatagramTransport | None = None
        self._running: dict[Address, asyncio.Task[None]] = {}
        self._by_address: Counter[str] = Counter()
        self._warned = 0.0
        self._closed = asyncio.Event()

    @property
    def transfers(self) -> int:
        """Number of transfers that run."""
        return len(self._running)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The selector loop's transport is not a subclass of DatagramTransport in Python 3.11.
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        client: Address = addr
        if client in self._running or self._transport is None:
            return
        try:
            request = packets.parse_request(data)
        except BadPacket as bad:
            # A packet that reports an error is never answered with an error (RFC 1350 section 7).
            if len(data) > 1 and data[0] == 0 and data[1] in {1, 2}:
                self._transport.sendto(packets.error(bad.code, bad.message), client)
            return
        host = client[0]
        if (
            len(self._running) >= self._limits.transfers
            or self._by_address[host] >= self._limits.transfers_per_address
        ):
            self._warn(host)
            return
        self._by_address[host] += 1
        task = asyncio.get_running_loop().create_task(self._serve(request, client))
        self._running[client] = task
        task.add_done_callback(lambda _: self._forget(client))

    def error_received(self, exc: Exception) -> None:
        log.debug("TFTP socket error: %s", exc)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio calls it
        self._closed.set()

    async def close(self) -> None:
        """Stop taking requests, cancel the transfers that run, and close all sockets."""
        if self._transport is not None:
            self._transport.close()
            self._transport = None
            await self._closed.wait()
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _forget(self, client: Address) -> None:
        del self._running[client]
        host = client[0]
        self._by_address[host] -= 1
        if not self._by_address[host]:
            del self._by_address[host]

    def _warn(self, host: str) -> None:
        now = time.monotonic()
        if now - self._warned > 10:
            self._warned = now
            log.warning(
                "TFTP request dropped: too many transfers run",
                extra={"fields": {"client": host, "transfers": len(self._running)}},
            )

    async def _serve(self, request: ReadRequest, client: Address) -> None:
        try:
            opened = await self._open(request.name, client[0])
        except Exception:
            log.exception("TFTP request failed")
            opened = Denied(ErrorCode.UNDEFINED, "The server cannot read the file now.")
        if isinstance(opened, Denied):
            if self._transport is not None:
                self._transport.sendto(packets.error(opened.code, opened.message), client)
            return
        try:
            await self._send(request, opened, client)
        except Exception:
            log.exception("TFTP transfer could not be recorded")

    async def _send(self, request: ReadRequest, file: OpenFile, client: Address) -> None:
        started = time.monotonic()
        transfer = Transfer(request, file)
        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._run(transfer, file, client)
        except TimeoutError:
            log.warning("TFTP transfer ended: it took longer than %s s", self._limits.seconds)
            transfer.fail()
        except OSError as error:
            log.warning("TFTP transfer failed: %s", error)
            transfer.fail()
        except asyncio.CancelledError:
            transfer.fail()
            raise
        finally:
            await file.finish(
                is_complete=transfer.state is State.SERVED,
                size=transfer.acknowledged_bytes,
                seconds=time.monotonic() - started,
            )

    async def _run(self, transfer: Transfer, file: OpenFile, client: Address) -> None:
        endpoint = await self._endpoint(client)
        try:
            packet = transfer.start()
            while True:
                while transfer.state is State.LOADING:
                    await file.load(transfer.wanted)
                    packet = transfer.resume()
                if transfer.state is not State.RUNNING:
                    return
                if packet is not None:
                    endpoint.send(packet)
                packet = await endpoint.next_packet(transfer)
        finally:
            await endpoint.close()

    async def _endpoint(self, client: Address) -> Endpoint:
        """A socket of its own for one transfer, connected: packets of other senders are dropped."""
        assert self._transport is not None
        local = self._transport.get_extra_info("sockname")[0]
        family = self._transport.get_extra_info("socket").family
        loop = asyncio.get_running_loop()
        sock = bound(family, local, self._limits.ports)
        try:
            sock.connect(client)
            _, endpoint = await loop.create_datagram_endpoint(Endpoint, sock=sock)
        except BaseException:
            sock.close()
            raise
        return endpoint
