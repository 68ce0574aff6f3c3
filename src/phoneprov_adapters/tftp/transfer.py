"""One TFTP transfer: a state machine without sockets and clocks, and the socket that it has."""

import asyncio
import logging
import socket
from collections.abc import Callable
from enum import Enum
from typing import Protocol

from phoneprov_adapters.tftp import packets
from phoneprov_adapters.tftp.packets import DEFAULT_BLOCK, ErrorCode, ReadRequest

GIVE_UP_SECONDS = 30.0
"""Seconds without an acknowledgement after which the transfer has failed."""

RETRY_SECONDS = 1.0
"""Seconds before a packet is sent again, unless the client sets the option ``timeout``. Doubles
each time (RFC 1123 section 4.2.3.2)."""


class Content(Protocol):
    """The bytes of a file, read in any order."""

    @property
    def size(self) -> int:
        """Bytes in all."""

    def loaded(self, offset: int, size: int) -> bytes | None:
        """The bytes from ``offset`` on, fewer at the end; None while they are not in memory."""


class Octets:
    """A content in blocks, byte for byte. ``wanted`` is the offset of the next byte to read."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self.wanted = 0

    def next(self, size: int) -> bytes | None:
        """The next block, shorter at the end; None while it is not in memory."""
        piece = self._content.loaded(self.wanted, size)
        self.wanted += len(piece or b"")
        return piece


class Netascii(Octets):
    """A content in blocks of netascii (RFC 764): a line ends with CR LF, a lone CR is CR NUL."""

    _encoded = b""

    def next(self, size: int) -> bytes | None:
        while len(self._encoded) < size and self.wanted < self._content.size:
            piece = super().next(min(size, self._content.size - self.wanted))
            if piece is None:
                return None
            self._encoded += piece.replace(b"\r", b"\r\0").replace(b"\n", b"\r\n")
        block, self._encoded = self._encoded[:size], self._encoded[size:]
        return block


class TransferState(Enum):
    """The state of a transfer."""

    RUNNING = "running"
    LOADING = "loading"
    """The next block is not in memory: load it, then call ``resume``."""
    SERVED = "served"
    FAILED = "failed"


class Transfer:
    """Sends one file in lockstep: a block, its acknowledgement, the next block.

    Only the acknowledgement of the packet sent last moves the transfer on; a duplicate causes
    no packet, so that two of them never start a duplicate chain of packets (RFC 1123, 4.2.3.1).
    """

    def __init__(self, request: ReadRequest, content: Content) -> None:
        self._size = content.size
        self._blocks = Netascii(content) if request.is_netascii else Octets(content)
        self._block_size = request.block_size or DEFAULT_BLOCK
        self._options: dict[str, int] = {}
        if request.block_size is not None:
            self._options["blksize"] = request.block_size
        if request.timeout is not None:
            self._options["timeout"] = request.timeout
        # How long a file is in netascii is known at its end.
        if request.wants_size and not request.is_netascii:
            self._options["tsize"] = content.size
        self._sent = 0
        self._last = b""
        self._is_last_block = False
        self._acknowledged = 0
        self._silent = 0.0
        self._first_retry = float(request.timeout or RETRY_SECONDS)
        self.is_acknowledged = False
        """Whether the client has acknowledged anything: its address is not forged."""
        self.state = TransferState.RUNNING
        self.retry_seconds = self._first_retry

    @property
    def acknowledged_bytes(self) -> int:
        """Bytes of the file that the client has acknowledged."""
        if self.state is TransferState.SERVED:
            return self._size
        return min(self._acknowledged, self._size)

    def start(self) -> bytes | None:
        """The first packet: the options, or block 1. None while block 1 is not in memory."""
        if self._options:
            self._last = packets.option_ack(self._options)
            return self._last
        return self._next()

    def receive(self, packet: bytes) -> bytes | None:
        """Take a packet of the client; the packet to send now, or None."""
        if self.state is not TransferState.RUNNING:
            return None
        if packets.is_error(packet):
            self.state = TransferState.FAILED
            return None
        if packets.parse_ack(packet) != self._sent & 0xFFFF:
            return None
        self.is_acknowledged = True
        if self._sent:
            self._acknowledged += len(self._last) - 4
        if self._is_last_block:
            self.state = TransferState.SERVED
            return None
        return self._next()

    def resume(self) -> bytes | None:
        """The packet to send after the next block was loaded."""
        if self.state is not TransferState.LOADING:
            return None
        self.state = TransferState.RUNNING
        return self._next()

    def time_out(self) -> bytes | None:
        """The packet to send again after ``retry_seconds`` without progress; None when the
        transfer has failed or waits for the file itself."""
        if self.state is not TransferState.RUNNING:
            return None
        self._silent += self.retry_seconds
        if self._silent >= GIVE_UP_SECONDS:
            self.state = TransferState.FAILED
            return None
        self.retry_seconds = min(2 * self.retry_seconds, GIVE_UP_SECONDS - self._silent)
        return self._last

    def repeat(self) -> bytes | None:
        """The packet to send again to a client that repeats its request; None while the file is
        loaded."""
        if self.state is not TransferState.RUNNING:
            return None
        self.retry_seconds = self._first_retry
        return self._last

    def fail(self) -> None:
        """End the transfer: the client does not respond or the file cannot be read."""
        if self.state is not TransferState.SERVED:
            self.state = TransferState.FAILED

    @property
    def wanted(self) -> int:
        """Offset in the file of the bytes to load."""
        return self._blocks.wanted

    def _next(self) -> bytes | None:
        content = self._blocks.next(self._block_size)
        if content is None:
            self.state = TransferState.LOADING
            return None
        self._sent += 1
        self._silent, self.retry_seconds = 0.0, self._first_retry
        self._is_last_block = len(content) < self._block_size
        self._last = packets.data(self._sent, content)
        return self._last


log = logging.getLogger("phoneprov.tftp")

REPEAT_SECONDS = 5.0
"""Age of a transfer after which a repeated request opens the file again."""

Load = Callable[[int], "asyncio.Future[None]"]
"""Starts to load the bytes of a file from an offset on."""


class Endpoint:
    """Runs a transfer over a socket of its own.

    Works in callbacks of the loop: a task for each transfer and a timer for each packet cost more
    than the packets. ``ended`` is called once, when the socket is closed and nothing is loaded.
    """

    def __init__(
        self,
        sock: socket.socket,
        transfer: Transfer,
        load: Load,
        seconds: float,
        ended: Callable[[], None],
    ) -> None:
        self.transfer = transfer
        self.started = 0.0
        self._sock = sock
        self._load = load
        self._seconds = seconds
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._loading: asyncio.Future[None] | None = None
        self._is_closed = False

    def start(self) -> None:
        """Send the first packet."""
        self.started = self._loop.time()
        self._loop.add_reader(self._sock, self._receive)
        self._advance(self.transfer.start())
        if not self._is_closed:
            self._timer = self._loop.call_at(self._deadline, self._tick)

    def repeat(self) -> bool:
        """Send the first packet again and return True, unless the client acknowledged it or the
        file was opened too long ago: it may have changed."""
        is_old = self._loop.time() >= self.started + REPEAT_SECONDS
        if self.transfer.is_acknowledged or is_old:
            return False
        self._advance(self.transfer.repeat())
        return True

    def close(self, reason: str = "") -> None:
        """End the transfer if it runs; the client receives the reason, if there is one."""
        if self._is_closed:
            return
        self._is_closed = True
        self.transfer.fail()
        if reason and self.transfer.state is TransferState.FAILED:
            self._send(packets.error(ErrorCode.UNDEFINED, reason))
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._sock)
        self._sock.close()
        if self._loading is None or self._loading.done():
            self._ended()
        else:
            self._loading.add_done_callback(lambda _: self._ended())
            self._loading.cancel()

    def _receive(self) -> None:
        try:
            packet = self._sock.recv(2048)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # the client's port is closed
            self.close()
            return
        self._advance(self.transfer.receive(packet))

    def _tick(self) -> None:
        """Send again what was not acknowledged in time."""
        now = self._loop.time()
        if now >= self.started + self._seconds:
            log.warning("TFTP transfer ended: it took longer than %s s", self._seconds)
            self.close("The transfer took too long.")
            return
        if now >= self._deadline:
            packet = self.transfer.time_out()
            if self.transfer.state is TransferState.FAILED:
                self.close("The client did not acknowledge a packet in time.")
                return
            self._advance(packet)
        if not self._is_closed:
            # While a file is loaded, or after a packet, the deadline is another one.
            self._timer = self._loop.call_at(max(self._deadline, now + 0.01), self._tick)

    def _advance(self, packet: bytes | None) -> None:
        """Send a packet, load what comes next, or end."""
        if packet is not None:
            self._send(packet)
            self._deadline = self._loop.time() + self.transfer.retry_seconds
        match self.transfer.state:
            case TransferState.LOADING:
                self._deadline = self._loop.time() + self.transfer.retry_seconds
                if self._loading is None:
                    self._loading = self._load(self.transfer.wanted)
                    self._loading.add_done_callback(self._loaded)
            case TransferState.SERVED | TransferState.FAILED:
                self.close()

    def _loaded(self, loading: asyncio.Future[None]) -> None:
        self._loading = None
        if self._is_closed or loading.cancelled():
            return
        if (error := loading.exception()) is not None:
            log.warning("TFTP transfer failed: %s", error)
            self.close("The file cannot be read.")
            return
        self._advance(self.transfer.resume())

    def _send(self, packet: bytes) -> None:
        try:
            self._sock.send(packet)
        except OSError as error:
            # As if it were lost: it is sent again.
            log.debug("TFTP packet was not sent: %s", error)


def connected(
    family: int, host: str, ports: range | None, client: tuple[str, int] | tuple[str, int, int, int]
) -> socket.socket:
    """A non-blocking UDP socket at ``host``, at the first free port of the range, that takes
    packets of this client alone."""
    for port in ports or (0,):
        sock = socket.socket(family, socket.SOCK_DGRAM)
        try:
            sock.setblocking(False)
            sock.bind((host, port))
        except OSError:
            sock.close()
            continue
        try:
            sock.connect(client)
        except OSError:
            sock.close()
            raise
        return sock
    raise OSError("every port for TFTP transfers is in use")
