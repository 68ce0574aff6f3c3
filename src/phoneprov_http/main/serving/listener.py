"""The socket that is listened on, and how to give it up without losing anybody.

The kernel makes connections before a server accepts them. Whoever waits in the queue of a
listening socket when it is closed is cut off, with the request sent already. So first nobody new
is let in, then the queue is emptied, and only then is the socket closed.
"""

from __future__ import annotations

import contextlib
import ctypes
import select
import socket
import struct
import sys

from phoneprov_core.kernel.errors import Refused

# Classic BPF, an instruction a row: code, jump if true, jump if false, operand. It sees a TCP
# segment from its header on, whose 14th byte has the flags.
# https://www.kernel.org/doc/html/latest/networking/filter.html
_DROP_SYN = [
    (0x30, 0, 0, 13),  # take the flags
    (0x54, 0, 0, 0x12),  # of them SYN and ACK
    (0x15, 0, 1, 0x02),  # SYN alone?
    (0x06, 0, 0, 0),  # then keep nothing of it
    (0x06, 0, 0, 0xFFFFFFFF),  # else all
]
_SO_ATTACH_FILTER = 26


def bound(host: str, port: int) -> socket.socket:
    """A socket at this address that does not listen yet. Raises ``Refused``."""
    listener: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        if listener is not None:
            listener.close()
        raise Refused(
            f"The address {host}, port {port} cannot be listened on: {error.strerror}."
        ) from None
    return listener


def let_nobody_in(listener: socket.socket) -> None:
    """Have the kernel make no new connection, in no process that shares the socket.

    Connections half-way made are still completed. The request for a new one goes unanswered,
    and is repeated after a second by whoever wants one: then the socket is closed, which
    refuses it, or another server listens there. Only Linux can do this; elsewhere nothing
    happens, and a connection that is made just before the socket is closed may be cut off.
    """
    if sys.platform != "linux":
        return
    instructions = b"".join(struct.pack("HBBI", *row) for row in _DROP_SYN)
    program = ctypes.create_string_buffer(instructions)
    place = struct.pack("HP", len(_DROP_SYN), ctypes.addressof(program))
    # A sandbox that only looks like Linux may refuse.
    with contextlib.suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, place)


def somebody_waits(listener: socket.socket) -> bool:
    """Whether a connection waits to be accepted."""
    return readable(listener.fileno())


def readable(fd: int) -> bool:
    """Whether something came in that was not read yet, if only the end."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))
