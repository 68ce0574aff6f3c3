"""One TFTP transfer as a state machine without sockets and clocks."""

from enum import Enum
from typing import Protocol

from phoneprov_adapters.tftp import packets
from phoneprov_adapters.tftp.packets import DEFAULT_BLOCK, ReadRequest

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
