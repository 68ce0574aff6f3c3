"""What can go wrong on an FTP server, and the state of one to which it does."""

from __future__ import annotations

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
    # Instead of the reply: none, one that says no, a reset, a hang-up, one amid a reply,
    # no FTP, no end, and a hang-up after the command was obeyed.
    "hang", "refuse", "reset", "close", "cut", "nonsense", "flood", "deaf",
    # After 150: nothing moves, a byte at a time, half of it and then a reset of the data
    # connection or of both, half of it and 226, all of it and no 226, other bytes, and no end.
    "stall", "trickle", "reset_data", "reset_both", "half", "no_226", "other_bytes", "more_bytes",
]  # fmt: skip

DATA_KINDS: set[Kind] = {
    "stall", "trickle", "reset_data", "reset_both", "half", "no_226", "other_bytes", "more_bytes",
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """What goes wrong at the ``nth`` time (1 is the first, 0 is each) that a verb comes."""

    verb: str
    kind: Kind
    nth: int = 1
    reply: str = "550"


class FtpState:
    """The files of a server (by absolute path), how it behaves, and what it has seen.

    ``lacks`` are verbs answered 502, ``renames_over`` whether RNTO takes a name that exists,
    ``pasv`` and ``pasv_port`` what a 227 reply claims, ``passive_reply`` stands for the whole
    reply, ``on_verb`` is called as a verb comes
    in, ``injected`` what follows 234 in the clear, ``preliminary`` by verb what follows its 150.
    ``pause`` is seconds between the bytes of a
    trickle, ``delay`` seconds before each command is obeyed. ``open`` are the connections open
    now, ``resumed`` tells of each data connection whether it took up a TLS session.
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
        """Count the verb, and the fault that is due."""
        self._counts[verb] += 1
        for fault in self.faults:
            if fault.verb == verb and fault.nth in {0, self._counts[verb]}:
                return fault
        return None

    def forget(self, writer: asyncio.StreamWriter) -> None:
        """Close a connection for good."""
        writer.transport.abort()
        self.open.discard(writer)


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with a RST, as a crashed host or a firewall does."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
