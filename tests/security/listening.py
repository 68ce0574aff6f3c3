"""The HTTP protocol of the service on a real socket, with an application of the test.

It runs on uvloop, like the service, in a thread, so that tests can use blocking sockets.
"""

import asyncio
import fcntl
import socket
import struct
import termios
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import uvicorn
import uvloop
from uvicorn.server import ServerState

from phoneprov_http.main.server.bounds import Connections
from phoneprov_http.main.server.protocol import BoundedProtocol
from support.polling import wait_for

T = TypeVar("T")
App = Callable[..., Awaitable[None]]

SECONDS = 20
"""Maximum seconds of every wait."""


class Listening:
    """A server on ``port``."""

    def __init__(self, port: int, state: ServerState) -> None:
        self.port = port
        self._state = state
        self.accepted = 0
        self._made = 0

    def until_idle(self) -> float:
        """Wait until the server has neither connections nor tasks; the seconds that it took."""
        began = time.monotonic()
        while self._state.connections or self._state.tasks or self.accepted < self._made:
            assert time.monotonic() - began < SECONDS
            time.sleep(0.01)
        return time.monotonic() - began

    def until_received(self, client: socket.socket) -> None:
        """Wait until the server has read what this client sent."""
        wait_for(lambda: not _unread(client), seconds=SECONDS)

    def stop_connections(self) -> None:
        """Shut connections down, as the server does repeatedly during a stop."""
        for connection in list(self._state.connections):
            connection.loop.call_soon_threadsafe(connection.shutdown)

    def connect(self, *, receive_buffer: int = 0) -> socket.socket:
        """A connection; a small ``receive_buffer`` makes a client that reads little."""
        client = socket.socket()
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.settimeout(SECONDS)
        client.connect(("127.0.0.1", self.port))
        self._made += 1
        return client

    def ask(self, *parts: bytes) -> bytes:
        """All bytes of the response on one connection, until the server closes it."""
        with self.connect() as client:
            with suppress(ConnectionError):  # The server may close before the end of the request.
                for part in parts:
                    client.sendall(part)
            return read_to_end(client)


def _unread(client: socket.socket) -> int:
    """The bytes of this client that wait in the kernel for a server on this host."""
    own, peer = client.getsockname(), client.getpeername()
    sending = struct.unpack("i", fcntl.ioctl(client, termios.TIOCOUTQ, bytes(4)))[0]
    for line in Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]:
        fields = line.split()
        if (_port(fields[1]), _port(fields[2])) == (peer[1], own[1]):
            return int(sending) + int(fields[4].partition(":")[2], 16)
    return int(sending)


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)


def read_to_end(client: socket.socket) -> bytes:
    """All bytes until the server closes or resets the connection."""
    received = bytearray()
    with suppress(ConnectionError):
        while part := client.recv(65536):
            received += part
    return bytes(received)


def read_reply(client: socket.socket) -> bytes:
    """One reply with a Content-Length, head and body."""
    received = bytearray()
    while b"\r\n\r\n" not in received:
        received += _some(client)
    head, _, rest = bytes(received).partition(b"\r\n\r\n")
    (length,) = (
        int(line.split(b":")[1])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    )
    while len(rest) < length:
        rest += _some(client)
    return head + b"\r\n\r\n" + rest


def _some(client: socket.socket) -> bytes:
    part = client.recv(65536)
    assert part, "the server closed the connection"
    return part


@contextmanager
def listening(app: App, bounds: Connections | None = None) -> Iterator[Listening]:
    """Serve this application."""
    within = bounds or Connections.within(4096)
    config = uvicorn.Config(app, log_config=None, lifespan="off", proxy_headers=False)
    config.load()
    state = ServerState()
    started = threading.Event()
    made: list[Listening] = []
    stop: list[Callable[[], Any]] = []

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        stop.append(lambda: loop.call_soon_threadsafe(over.set))

        class Counted(BoundedProtocol):
            def connection_made(self, transport: Any) -> None:
                super().connection_made(transport)
                made[0].accepted += 1  # It is among the connections now.

        def accept() -> BoundedProtocol:
            return Counted(config, state, {}, loop, bounds=within)

        server = await loop.create_server(accept, "127.0.0.1", 0)
        made.append(Listening(server.sockets[0].getsockname()[1], state))
        started.set()
        await over.wait()
        server.close()
        for connection in list(state.connections):
            connection.transport.abort()
        for task in state.tasks:
            task.cancel()
        await asyncio.sleep(0)

    def run() -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run, name="listening")
    thread.start()
    try:
        assert started.wait(SECONDS)
        yield made[0]
    finally:
        stop[0]()
        thread.join(SECONDS)
        assert not thread.is_alive()
