"""A network between the service and PostgreSQL that fails when a test says so."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

SOCKET = ".s.PGSQL.5432"


class Proxy:
    """Passes on what it hears, in both directions, between its own Unix socket and a server's."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.folder = folder
        self._server = server
        self._speaking = asyncio.Event()
        self._speaking.set()
        self._links: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None

    def url(self, address: str) -> str:
        """The address of a database by way of here."""
        return address.replace(f"host={self._server}", f"host={self.folder}")

    async def listen(self) -> None:
        """Take connections."""
        self._listener = await asyncio.start_unix_server(self._link, self.folder / SOCKET)

    async def refuse(self) -> None:
        """Take no more connections, and end those there are."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        (self.folder / SOCKET).unlink(missing_ok=True)
        await self.cut()

    async def cut(self) -> None:
        """End every connection."""
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    def stop_forwarding(self) -> None:
        """Keep every connection, take new ones, and pass on nothing any more."""
        self._speaking.clear()

    def resume_forwarding(self) -> None:
        """Pass on what was held back, and go on."""
        self._speaking.set()

    def lose(self) -> None:
        """Pass on nothing any more of the connections there are, as a firewall does that has
        forgotten them; new ones work."""
        self._speaking.clear()
        self._speaking = asyncio.Event()
        self._speaking.set()

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        far_writer = None
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(self._server / SOCKET)
            speaking = self._speaking
            there = asyncio.create_task(_pass_on(reader, far_writer, speaking))
            back = asyncio.create_task(_pass_on(far_reader, writer, speaking))
            try:
                await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                there.cancel()
                back.cancel()
        except (OSError, asyncio.CancelledError):
            pass  # a link that is cut ends like any other
        finally:
            self._links.discard(task)
            for end in (writer, far_writer):
                if end is not None:
                    end.transport.abort()


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, speaking: asyncio.Event
) -> None:
    while heard := await reader.read(65536):
        await speaking.wait()
        writer.write(heard)
        await writer.drain()
    # That one end is gone is not heard at the other either.
    await speaking.wait()


@asynccontextmanager
async def proxy_before(server: Path) -> AsyncIterator[Proxy]:
    """A proxy before the server whose socket is in this folder."""
    folder = Path(tempfile.mkdtemp(prefix="phoneprov-proxy-"))
    proxy = Proxy(folder, server)
    await proxy.listen()
    try:
        yield proxy
    finally:
        proxy.resume_forwarding()
        await proxy.refuse()
        shutil.rmtree(folder)
