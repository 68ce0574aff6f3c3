"""TFTP over UDP sockets: one socket takes requests, each transfer has a socket of its own."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeAlias, cast

from msgspec import Struct

from phoneprov_adapters.tftp import packets
from phoneprov_adapters.tftp.packets import BadPacket, ErrorCode, ReadRequest
from phoneprov_adapters.tftp.transfer import Content, Endpoint, Transfer, TransferState, connected
from phoneprov_core.kernel.values import address_key

log = logging.getLogger("phoneprov.tftp")

EVICT_SECONDS = 1.0
"""Age of a transfer without any acknowledgement that may end for a new one. A flood of forged
addresses ends no more of them than there are slots in this time."""

Address: TypeAlias = "tuple[str, int] | tuple[str, int, int, int]"


class OpenFile(Content, Protocol):
    """A file that is open for one transfer."""

    async def load(self, offset: int) -> None:
        """Load the bytes from ``offset`` on into memory, a bounded number of them.

        Raises ``OSError`` if the file cannot be read.
        """

    def finish(self, *, is_complete: bool, size: int, seconds: float) -> None:
        """Release the file and have the transfer recorded: ``size`` bytes were acknowledged."""


class Denied(Struct, frozen=True):
    """The answer to a request that gets no file."""

    code: ErrorCode
    message: str


Open = Callable[[str, str], Awaitable[OpenFile | Denied]]
"""Opens a file by name for a client address. It records refusals and missing files itself."""


class Limits(Struct, frozen=True):
    """Bounds of the server: transfers in all and for each client address (``address_key``), seconds
    that one transfer may take, and the range of ports for transfers (None: any)."""

    transfers: int = 1000
    transfers_per_address: int = 16
    seconds: float = 3600.0
    ports: range | None = None


class _Slot:
    """One transfer that runs: first its file is opened, then it is sent."""

    opening: asyncio.Task[None]
    endpoint: Endpoint | None = None

    def __init__(self, request: ReadRequest) -> None:
        self.request = request


class TftpServer(asyncio.DatagramProtocol):
    """Answers read requests that arrive at its socket.

    A malformed packet costs one parse and at most one ERROR packet. A request from a port whose
    transfer runs comes from a phone that lost power: its boot loader always uses the same port. It
    is answered anew, and the old transfer ends. If it repeats a request of the last seconds whose
    first packet was not acknowledged, that packet is sent again, from the same port: it may have
    been lost, or only be late. When the limit of
    transfers is reached, the oldest one whose client has acknowledged nothing ends for the new
    one; without one the request is dropped without an answer, and the client asks again.
    """

    def __init__(self, open_file: Open, limits: Limits) -> None:
        self._open = open_file
        self._limits = limits
        self._transport: asyncio.DatagramTransport | None = None
        self._running: dict[Address, _Slot] = {}
        self._by_address: dict[str, dict[Address, _Slot]] = {}
        # In the order of their start; acknowledged transfers are removed when one is searched.
        self._unproven: dict[Address, _Slot] = {}
        self._open_slots: set[_Slot] = set()
        self._warned = 0.0
        self._closed, self._idle = asyncio.Event(), asyncio.Event()

    @property
    def transfers(self) -> int:
        """Number of transfers that run."""
        return len(self._running)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The selector loop's transport is not a subclass of DatagramTransport in Python 3.11.
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: Any) -> None:
        client: Address = addr
        if self._transport is None:
            return
        try:
            request = packets.parse_request(data)
        except BadPacket as bad:
            # A packet that reports an error is never answered with an error (RFC 1350 section 7).
            if len(data) > 1 and data[0] == 0 and data[1] in {1, 2}:
                self._transport.sendto(packets.error(bad.code, bad.message), client)
            return
        running = self._running.get(client)
        if running is not None and self._is_answered(running, request):
            return
        if running is not None and running.endpoint is not None:
            # Without an ERROR packet, which the phone could take for the answer.
            running.endpoint.close()
            self._leave(client, running)
        key = address_key(client[0])
        if not self._has_room(key):
            self._warn(client[0])
            return
        slot = _Slot(request)
        self._open_slots.add(slot)
        self._running[client] = self._unproven[client] = slot
        self._by_address.setdefault(key, {})[client] = slot
        slot.opening = asyncio.get_running_loop().create_task(self._serve(client, slot))
        slot.opening.add_done_callback(lambda _: self._opened(client, slot))

    def error_received(self, exc: Exception) -> None:
        log.debug("TFTP socket error: %s", exc)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - as asyncio calls it
        self._closed.set()

    async def close(self) -> None:
        """Stop taking requests, end the transfers that run, and close all sockets."""
        if self._transport is not None:
            self._transport.close()
            self._transport = None
            await self._closed.wait()
        for slot in list(self._running.values()):
            slot.opening.cancel()
            if slot.endpoint is not None:
                slot.endpoint.close("The server stops.")
        if self._open_slots:  # a file is being opened or read
            await self._idle.wait()

    def _is_answered(self, running: _Slot, request: ReadRequest) -> bool:
        """Whether the transfer that runs is the answer to another request of its client."""
        if running.endpoint is not None:
            return running.request == request and running.endpoint.repeat()
        running.request = request  # its file is opened next
        return True

    def _has_room(self, key: str) -> bool:
        """Whether one more transfer may run; may end an older transfer to make room."""
        own = self._by_address.get(key, {})
        if len(own) >= self._limits.transfers_per_address:
            return self._evict(own)
        return len(self._running) < self._limits.transfers or self._evict(self._unproven)

    def _evict(self, slots: dict[Address, _Slot]) -> bool:
        now = asyncio.get_running_loop().time()
        for client, slot in list(slots.items()):
            endpoint = slot.endpoint
            if endpoint is None:
                continue
            if endpoint.transfer.is_acknowledged:
                self._unproven.pop(client, None)
            elif now - endpoint.started < EVICT_SECONDS:
                return False
            else:
                endpoint.close("The server has too many transfers.")
                return True
        return False

    def _forget(self, client: Address, slot: _Slot) -> None:
        self._leave(client, slot)
        self._open_slots.discard(slot)
        if not self._open_slots and self._transport is None:
            self._idle.set()

    def _leave(self, client: Address, slot: _Slot) -> None:
        """Let another transfer of the client begin; this one may still be reading its file."""
        if self._running.get(client) is not slot:
            return
        del self._running[client]
        self._unproven.pop(client, None)
        key = address_key(client[0])
        own = self._by_address[key]
        del own[client]
        if not own:
            del self._by_address[key]

    def _warn(self, host: str) -> None:
        now = time.monotonic()
        if now - self._warned > 10:
            self._warned = now
            log.warning(
                "TFTP request dropped: too many transfers run",
                extra={"fields": {"client": host, "transfers": len(self._running)}},
            )

    def _opened(self, client: Address, slot: _Slot) -> None:
        if slot.endpoint is None:
            self._forget(client, slot)

    async def _serve(self, client: Address, slot: _Slot) -> None:
        opened: OpenFile | Denied
        while True:
            request = slot.request
            try:
                opened = await self._open(request.name, client[0])
            except Exception:
                log.exception("TFTP request failed")
                opened = Denied(ErrorCode.UNDEFINED, "The server cannot read the file now.")
            if slot.request == request:
                break
            if not isinstance(opened, Denied):
                opened.finish(is_complete=False, size=0, seconds=0.0)
        if isinstance(opened, Denied):
            if self._transport is not None:
                self._transport.sendto(packets.error(opened.code, opened.message), client)
            return
        self._send(request, opened, client, slot)

    def _send(self, request: ReadRequest, file: OpenFile, client: Address, slot: _Slot) -> None:
        loop = asyncio.get_running_loop()
        transfer = Transfer(request, file)
        started = loop.time()

        def ended() -> None:
            self._forget(client, slot)
            try:
                file.finish(
                    is_complete=transfer.state is TransferState.SERVED,
                    size=transfer.acknowledged_bytes,
                    seconds=loop.time() - started,
                )
            except Exception:
                log.exception("TFTP transfer could not be recorded")

        def load(offset: int) -> asyncio.Future[None]:
            return loop.create_task(file.load(offset))

        try:
            if self._transport is None:
                raise OSError("the server stops")
            local = self._transport.get_extra_info("sockname")[0]
            family = self._transport.get_extra_info("socket").family
            sock = connected(family, local, self._limits.ports, client)
        except OSError as error:
            log.warning("TFTP transfer failed: %s", error)
            transfer.fail()
            ended()
            return
        slot.endpoint = Endpoint(sock, transfer, load, self._limits.seconds, ended)
        slot.endpoint.start()
