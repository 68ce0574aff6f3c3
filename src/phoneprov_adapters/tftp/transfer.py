"""One TFTP transfer as a state machine without sockets and clocks."""

from enum import Enum
from typing import Protocol

from phoneprov_adapters.tftp import packets
from phoneprov_adapters.tftp.packets import DEFAULT_BLOCK, ReadRequest

RETRANSMISSIONS = 4
"""A packet is sent again four times; then the transfer has failed."""

RETRY_SECONDS = 1.0
"""Seconds before a packet is sent again, unless the client sets the option ``timeout``."""


class Content(Protocol):
    """The bytes of a file, read in any order."""

    @property
    def size(self) -> int:
        """Bytes in all."""

    def loaded(self, offset: int, size: int) -> bytes | None:
        """The bytes from ``offset`` on, fewer at the end; None while they are not in memory."""


class State(Enum):
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
        self._content = content
        self._block_size = request.block_size or DEFAULT_BLOCK
        self._blocks = content.size // self._block_size + 1
        self._options: dict[str, int] = {}
        if request.block_size is not None:
            self._options["blksize"] = request.block_size
        if request.timeout is not None:
            self._options["timeout"] = request.timeout
        if request.wants_size:
            self._options["tsize"] = content.size
        self._sent = 0
        self._last = b""
        self._sent_again = 0
        self.state = State.RUNNING
        self.retry_seconds = float(request.timeout or RETRY_SECONDS)

    @property
    def acknowledged_bytes(self) -> int:
        """Bytes of the file that the client has acknowledged."""
        if self.state is State.SERVED:
            return self._content.size
        return min(max(self._sent - 1, 0) * self._block_size, self._content.size)

    def start(self) -> bytes | None:
        """The first packet: the options, or block 1. None while block 1 is not in memory."""
        if self._options:
            self._last = packets.option_ack(self._options)
            return self._last
        return self._next()

    def receive(self, packet: bytes) -> bytes | None:
        """Take a packet of the client; the packet to send now, or None."""
        if self.state is not State.RUNNING:
            return None
        if packets.is_error(packet):
            self.state = State.FAILED
            return None
        if packets.parse_ack(packet) != self._sent & 0xFFFF:
            return None
        if self._sent == self._blocks:
            self.state = State.SERVED
            return None
        return self._next()

    def resume(self) -> bytes | None:
        """The packet to send after the next block was loaded."""
        if self.state is not State.LOADING:
            return None
        self.state = State.RUNNING
        return self._next()

    def time_out(self) -> bytes | None:
        """The packet to send again after ``retry_seconds`` without progress; None when the
        transfer has failed or waits for the file itself."""
        if self.state is not State.RUNNING:
            return None
        if self._sent_again == RETRANSMISSIONS:
            self.state = State.FAILED
            return None
        self._sent_again += 1
        return self._last

    def fail(self) -> None:
        """End the transfer: the client is gone or the file cannot be read."""
        if self.state is not State.SERVED:
            self.state = State.FAILED

    @property
    def wanted(self) -> int:
        """Offset of the next block in the file."""
        return self._sent * self._block_size

    def _next(self) -> bytes | None:
        content = self._content.loaded(self.wanted, self._block_size)
        if content is None:
            self.state = State.LOADING
            return None
        self._sent += 1
        self._sent_again = 0
        self._last = packets.data(self._sent, content)
        return self._last
