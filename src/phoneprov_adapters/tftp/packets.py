"""TFTP packets (RFC 1350, options: RFC 2347, 2348 and 2349), parsed and built."""

from enum import IntEnum
from typing import NamedTuple

MAX_REQUEST = 512
"""Bytes of a request; RFC 2347 allows no more."""

MAX_NAME = 255
"""Characters of a file name."""

DEFAULT_BLOCK = 512
"""Bytes of a block without the option ``blksize`` (RFC 1350)."""

MAX_BLOCK = 1428
"""Largest block that the server accepts: it fits one Ethernet frame with IPv6 and a tunnel header.
RFC 2348 allows the server to answer with less than the client asked for."""

MAX_TIMEOUT = 5
"""Largest option ``timeout`` in seconds. The server does not acknowledge a larger one, as RFC 2349
allows: a client that never answers would hold its transfer that much longer."""

_MIN_BLOCK, _MAX_RFC_BLOCK = 8, 65464

_READ, _WRITE = 1, 2
"""The second bytes of requests."""


class ErrorCode(IntEnum):
    """Error codes of RFC 1350 that the server sends."""

    UNDEFINED = 0
    NOT_FOUND = 1
    ACCESS_VIOLATION = 2
    ILLEGAL_OPERATION = 4


class BadPacket(Exception):
    """A packet that is not TFTP, or a request that the server does not answer with a file."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class ReadRequest(NamedTuple):
    """A read request. The options hold the values that the client asked for, or None.

    ``timeout`` is in seconds. Unknown options and values outside their range are ignored
    (RFC 2347).
    """

    name: str
    block_size: int | None = None
    timeout: int | None = None
    wants_size: bool = False
    is_netascii: bool = False


def parse_request(packet: bytes) -> ReadRequest:
    """Parse the first packet of a client.

    Raises ``BadPacket``: with ``ILLEGAL_OPERATION`` for anything but a read request, with
    ``ACCESS_VIOLATION`` for a write request, with ``UNDEFINED`` for a mode that is neither
    octet nor netascii.
    """
    if len(packet) < 2 or len(packet) > MAX_REQUEST or packet[0] != 0:
        raise BadPacket(ErrorCode.ILLEGAL_OPERATION, "Not a TFTP request.")
    if packet[1] == _WRITE:
        raise BadPacket(ErrorCode.ACCESS_VIOLATION, "This server is read-only.")
    if packet[1] != _READ or not packet.endswith(b"\0"):
        raise BadPacket(ErrorCode.ILLEGAL_OPERATION, "Not a read request.")
    texts = packet[2:-1].split(b"\0")
    if len(texts) < 2 or not all(_is_printable(text) for text in texts):
        raise BadPacket(ErrorCode.ILLEGAL_OPERATION, "The request is malformed.")
    name, mode, *options = (text.decode("ascii") for text in texts)
    if not 0 < len(name) <= MAX_NAME:
        raise BadPacket(ErrorCode.ILLEGAL_OPERATION, "The file name is empty or too long.")
    if mode.lower() not in {"octet", "netascii"}:
        raise BadPacket(ErrorCode.UNDEFINED, "The mode must be octet or netascii.")
    asked = dict(zip((key.lower() for key in options[::2]), options[1::2], strict=False))
    block = _number(asked.get("blksize"), _MIN_BLOCK, _MAX_RFC_BLOCK)
    return ReadRequest(
        name,
        None if block is None else min(block, MAX_BLOCK),
        _number(asked.get("timeout"), 1, MAX_TIMEOUT),
        asked.get("tsize") == "0",
        mode.lower() == "netascii",
    )


def parse_ack(packet: bytes) -> int | None:
    """The block number of an acknowledgement, None for any other packet."""
    if len(packet) == 4 and packet[:2] == b"\0\x04":
        return int.from_bytes(packet[2:], "big")
    return None


def is_error(packet: bytes) -> bool:
    """Whether the client reports an error, which ends the transfer (RFC 1350 section 7)."""
    return len(packet) >= 4 and packet[:2] == b"\0\x05"


def data(block: int, content: bytes) -> bytes:
    """A DATA packet; the block number wraps after 65535 to 0."""
    return b"\0\x03" + (block & 0xFFFF).to_bytes(2, "big") + content


def error(code: ErrorCode, message: str) -> bytes:
    """An ERROR packet with an ASCII message."""
    text = message.encode("ascii", "replace").replace(b"\0", b"?")
    return b"\0\x05" + code.to_bytes(2, "big") + text + b"\0"


def option_ack(options: dict[str, int]) -> bytes:
    """An OACK packet (RFC 2347)."""
    fields = b"".join(f"{name}\0{value}\0".encode("ascii") for name, value in options.items())
    return b"\0\x06" + fields


def _is_printable(text: bytes) -> bool:
    return all(0x20 <= byte < 0x7F for byte in text)


def _number(text: str | None, least: int, most: int) -> int | None:
    if text is None or not text.isdecimal() or len(text) > 5:
        return None
    number = int(text)
    return number if least <= number <= most else None
