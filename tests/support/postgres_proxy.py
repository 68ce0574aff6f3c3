"""A network between the service and PostgreSQL that fails on demand."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

SOCKET = ".s.PGSQL.5432"


class Proxy:
    """Forwards in both directions between its own Unix socket and a server's."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.folder = folder
        self._server = server
        self._speaking = asyncio.Event()
        self._speaking.set()
        self._links: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None

    def url(self, address: str) -> str:
        """The URL of a database through this proxy."""
        return address.replace(f"host={self._server}", f"host={self.folder}")

    async def listen(self) -> None:
        """Accept connections."""
        self._listener = await asyncio.start_unix_server(self._link, self.folder / SOCKET)

    async def refuse(self) -> None:
        """Accept no more connections, and close the open ones."""
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        (self.folder / SOCKET).unlink(missing_ok=True)
        await self.cut()

    async def cut(self) -> None:
        """Close every connection."""
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    def stop_forwarding(self) -> None:
        """Keep every connection, accept new ones, and forward nothing."""
        self._speaking.clear()

    def resume_forwarding(self) -> None:
        """Forward what was held back, and continue."""
        self._speaking.set()

    def lose(self) -> None:
        """Forward nothing of the open connections, as a firewall that has dropped them; new ones
        are forwarded."""
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
            pass  # a reset ends the forwarding like a close
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
    # The other end does not learn of a close either.
    await speaking.wait()


@asynccontextmanager
async def proxy_before(server: Path) -> AsyncIterator[Proxy]:
    """Start a proxy for the server whose socket is in this folder."""
    folder = Path(tempfile.mkdtemp(prefix="phoneprov-proxy-"))
    proxy = Proxy(folder, server)
    await proxy.listen()
    try:
        yield proxy
    finally:
        proxy.resume_forwarding()
        await proxy.refuse()
        shutil.rmtree(folder)
