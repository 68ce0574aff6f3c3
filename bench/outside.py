"""The servers that a batch calls, each in a process of its own: an FTP server, and the web server
of every phone."""

import asyncio
import multiprocessing
import re
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from phoneprov_adapters.simulator.ftp import ftp_server

FTP_USER, FTP_PASSWORD = "phoneprov", "ftp-secret"


def ftp_process(parent: Connection, folder: str) -> None:
    """Run the FTP server of the simulated phone; sends its port to ``parent``."""

    async def serve() -> None:
        server = ftp_server(Path(folder), FTP_USER, FTP_PASSWORD, lambda _: None)
        await server.start("127.0.0.1", 0)
        parent.send(server.server_port)
        await asyncio.Event().wait()

    asyncio.run(serve())


def web_process(parent: Connection) -> None:
    """Run the web server of every phone on loopback; sends its port to ``parent``."""

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(_Phone, "0.0.0.0", 0)  # noqa: S104 - of every phone
        parent.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


class _Phone(asyncio.Protocol):
    """Accepts each command at once."""

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: *([0-9]+)", head.lower())
        if end and len(body) >= (int(length[1]) if length else 0):
            self._transport.write(_YES)
            self._transport.close()


_DONE = b'<CiscoIPPhoneResponse><ResponseItem Status="0" Data="" URL=""/></CiscoIPPhoneResponse>'
_YES = b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n%s" % (
    len(_DONE),
    _DONE,
)


@contextmanager
def started(program: object, *arguments: str) -> Iterator[int]:
    """Run a program in a process of its own; yields the port that it sends."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=program, args=(theirs, *arguments), daemon=True)  # type: ignore[arg-type]
    process.start()
    try:
        assert ours.poll(30), "the process did not start"
        yield int(ours.recv())
    finally:
        process.terminate()
        process.join()
