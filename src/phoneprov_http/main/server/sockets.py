"""Listening sockets, signals, and the messages of a start that failed."""

import asyncio
import contextlib
import fcntl
import os
import select
import signal
import socket
import struct
import termios
import uuid
from collections.abc import Callable, Coroutine, Iterator, MutableMapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

import msgspec

from phoneprov_core.kernel.errors import Refused
from phoneprov_http.envelope import HEADERS, ErrorInfo, Failure

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


def stop_signals() -> list[signal.Signals]:
    """The signals that stop the server. SIGHUP stays ignored if it was (nohup)."""
    signals = [signal.SIGTERM, signal.SIGINT]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signals.append(signal.SIGHUP)
    return signals


def run_until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run this until it ends. A signal that stops the server cancels it, so that it ends what it
    has started, and then raises ``KeyboardInterrupt``."""

    async def stoppable() -> None:
        task = asyncio.current_task()
        assert task is not None
        for number in stop_signals():
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        await work

    try:
        asyncio.run(stoppable())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


@contextmanager
def handling_stops(handle: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Call ``handle`` for the signals that stop the server."""
    before = {number: signal.signal(number, handle) for number in stop_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def failure(status: bytes, code: str, message: str, *more: tuple[bytes, bytes]) -> bytes:
    """The bytes of a response, after which the connection is closed."""
    request_id = uuid.uuid4().hex
    error = ErrorInfo(code, (), request_id)
    body = msgspec.json.encode(Failure(False, message, None, error))
    fields = [
        *HEADERS,
        *more,
        (b"content-type", b"application/json"),
        (b"x-request-id", request_id.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    head = b"".join(b"%s: %s\r\n" % field for field in fields)
    return b"HTTP/1.1 " + status + b"\r\n" + head + b"\r\n" + body
