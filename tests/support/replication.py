"""Two PostgreSQL servers with synchronous streaming replication, and hosts that refuse."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from support.polling import until
from support.postgres import Server, ask
from support.postgres_proxy import SOCKET

_SECONDS = 30.0


class Pair:
    """A primary, and a standby that confirms each commit."""

    def __init__(self) -> None:
        self.primary = Server("max_connections=40")
        self.standby = Server("max_connections=40", primary=self.primary)

    def url(self, database: str, first: Path | None = None) -> str:
        """The URL of a database on both hosts; ``first`` is the socket folder of the first."""
        one, other = first or self.primary.folder, self.standby.folder
        return f"postgresql+asyncpg://postgres@/{database}?host={one},{other}"

    async def synchronize(self) -> None:
        """Let commits wait for the standby from now on."""
        await self.primary.run("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        await self.primary.run("SELECT pg_reload_conf()")
        replicates = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"
        await until(lambda: ask(self.primary.url("postgres"), replicates), _SECONDS)

    async def promote(self) -> None:
        """Promote the standby; it then waits for no other server."""
        await self.standby.run("SELECT pg_promote(true, 30)")
        await until(
            lambda: ask(self.standby.url("postgres"), "SELECT 1 WHERE NOT pg_is_in_recovery()"),
            _SECONDS,
        )
        await self.standby.run("ALTER SYSTEM SET synchronous_standby_names = ''")
        await self.standby.run("SELECT pg_reload_conf()")

    def close(self) -> None:
        """Stop both servers and remove their files."""
        self.primary.resume()
        self.primary.close()
        self.standby.close()


@asynccontextmanager
async def refusing_host(folder: Path, state: str | None) -> AsyncIterator[None]:
    """A host with its socket in ``folder`` that refuses each connection with this SQLSTATE; with
    None it accepts connections and never responds."""
    links: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        links.add(task)
        try:
            await reader.readexactly(8)
            if state is None:
                await reader.read()
            else:
                fields = f"SFATAL\0VFATAL\0C{state}\0Mrefused by the test\0\0".encode()
                writer.write(b"E" + struct.pack("!I", len(fields) + 4) + fields)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    listener = await asyncio.start_unix_server(answer, folder / SOCKET)
    try:
        yield
    finally:
        listener.close()
        for link in links:
            link.cancel()
        await asyncio.gather(*links, return_exceptions=True)
        (folder / SOCKET).unlink(missing_ok=True)
