"""The sockets that the server listens on: bound here, or inherited from systemd or a parent."""

import contextlib
import fcntl
import os
import select
import socket
import struct
import termios
from collections.abc import MutableMapping

from phoneprov_core.kernel.errors import Refused

_FIRST_FD = 3
"""SD_LISTEN_FDS_START, see sd_listen_fds(3)."""


def bound(host: str, port: int, *, kind: socket.SocketKind = socket.SOCK_STREAM) -> socket.socket:
    """A socket at this address that does not listen yet. Raises ``Refused``."""
    listener: socket.socket | None = None
    try:
        family, _, protocol, _, address = socket.getaddrinfo(
            host, port, type=kind, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        if kind == socket.SOCK_STREAM:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except (OSError, UnicodeError) as error:
        if listener is not None:
            listener.close()
        reason = error.strerror if isinstance(error, OSError) else "it is not the name of a host"
        raise Refused(f"The address {host}, port {port} cannot be listened on: {reason}.") from None
    return listener


def inherited(fd: int, *, datagrams: bool = False) -> socket.socket:
    """The stream socket that this process inherited as ``fd``; with ``datagrams`` also one for
    datagrams. Raises ``Refused``."""
    try:
        listener = socket.socket(fileno=fd)
    except OSError as error:
        raise Refused(f"File descriptor {fd} is not a socket: {error.strerror}.") from None
    allowed = {socket.SOCK_STREAM, socket.SOCK_DGRAM} if datagrams else {socket.SOCK_STREAM}
    if listener.type not in allowed:
        listener.detach()
        raise Refused(f"File descriptor {fd} is not a stream socket.")
    listener.set_inheritable(False)
    return listener


def activated(
    environment: MutableMapping[str, str], *, datagrams: bool = False
) -> list[socket.socket]:
    """The sockets that systemd passed to this process, none without socket activation.

    Removes the variables, so that no child takes them for its own. Raises ``Refused``.
    """
    pid, count = environment.pop("LISTEN_PID", ""), environment.pop("LISTEN_FDS", "")
    environment.pop("LISTEN_FDNAMES", None)
    if pid != str(os.getpid()) or not count.isdecimal():
        return []
    fds = range(_FIRST_FD, _FIRST_FD + int(count))
    return [inherited(fd, datagrams=datagrams) for fd in fds]


def address_text(listener: socket.socket) -> str:
    """The address of a listening socket, as a URL where it is one."""
    name = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return f"unix:{name}"
    scheme = "tftp" if listener.type == socket.SOCK_DGRAM else "http"
    host, port = name[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def unacknowledged(fd: int) -> int:
    """Bytes that the kernel holds until the client's host has acknowledged them."""
    with contextlib.suppress(OSError):  # not every system reports it
        return int(struct.unpack("i", fcntl.ioctl(fd, termios.TIOCOUTQ, bytes(4)))[0])
    return 0


def readable(fd: int) -> bool:
    """Whether unread bytes, or the end of the stream, wait on a socket."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(0))
