"""Faults of an FTP server, and the state of a server that has them."""

import asyncio
import socket
import ssl
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

SERVER_WORDS = "words-of-the-server"
GREETING = "GREETING"

Kind = Literal[
    # Instead of the reply: none, a refusal, a reset, a closed connection, one closed within
    # the reply, invalid text, a reply without end; and a connection closed after the command was
    # executed.
    "hang", "refuse", "reset", "close", "cut", "nonsense", "flood", "deaf",
    # After 150: no bytes, one byte at a time, half of the file and then a reset of the data
    # connection or of both, half of it and 226, all of it and no 226, other bytes, and more bytes.
    "stall", "trickle", "reset_data", "reset_both", "half", "no_226", "other_bytes", "more_bytes",
]  # fmt: skip

DATA_KINDS: set[Kind] = {
    "stall", "trickle", "reset_data", "reset_both", "half", "no_226", "other_bytes", "more_bytes",
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A fault at the ``nth`` occurrence (1 is the first, 0 is each) of a verb."""

    verb: str
    kind: Kind
    nth: int = 1
    reply: str = "550"


class FtpState:
    """The files of a server (by absolute path), its behaviour, and the commands it received.

    ``lacks`` are verbs answered 502. ``renames_over``: whether RNTO accepts a name that exists.
    ``pasv`` and ``pasv_port`` are the address in a 227 reply, ``passive_reply`` replaces the whole
    reply. ``on_verb`` is called when a verb arrives. ``injected`` follows 234 in the clear,
    ``preliminary`` by verb follows its 150. ``pause`` is seconds between the bytes of a trickle,
    ``delay`` seconds before each command is carried out. ``open`` are the connections open now.
    ``resumed`` has an entry for each data connection: whether it resumed a TLS session.
    """

    def __init__(self, tls: ssl.SSLContext | None) -> None:
        self.tls = tls
        self.files: dict[str, bytes] = {}
        self.folders = {"/"}
        self.user, self.password = "phone", "s3cret"
        self.greeting = b"220 ready\r\n"
        self.lacks: set[str] = set()
        self.renames_over = True
        self.pasv = "127,0,0,1"
        self.pasv_port: int | None = None
        self.passive_reply: str | None = None
        self.injected = b""
        self.preliminary: dict[str, bytes] = {}
        self.pause = 0.1
        self.delay = 0.0
        self.faults: list[Fault] = []
        self.on_verb: Callable[[str, str], None] = lambda verb, rest: None
        self.seen: list[str] = []
        self.resumed: list[bool] = []
        self.open: set[asyncio.StreamWriter] = set()
        self._counts: Counter[str] = Counter()

    def fault(self, verb: str) -> Fault | None:
        """Count the verb; the fault of this occurrence, or None."""
        self._counts[verb] += 1
        for fault in self.faults:
            if fault.verb == verb and fault.nth in {0, self._counts[verb]}:
                return fault
        return None

    def forget(self, writer: asyncio.StreamWriter) -> None:
        """Close a connection."""
        writer.transport.abort()
        self.open.discard(writer)


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with a RST, as a crashed host or a firewall does."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
