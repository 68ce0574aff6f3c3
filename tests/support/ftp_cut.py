"""A proxy before an FTP server that resets a connection after a chosen number of bytes."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence
from typing import Literal

from support.ftp_faults import reset

Scope = Literal["one", "all"]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class CuttingProxy:
    """Forwards control and data connections from ``host`` to the same ports of ``to``.

    The bytes of all connections are counted in both directions, in the order of their arrival.
    After ``after`` bytes the connection of the last one (scope "one"), or all of them, are reset on
    both sides, once. Later connections are forwarded. ``ends`` are the numbers of bytes after which
    a block, such as a reply, was complete.
    """

    def __init__(self, after: int, scope: Scope = "one") -> None:
        self.passed = 0
        self.ends: list[int] = []
        self.has_cut = False
        self._after = after
        self._scope = scope
        self._open: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def serving(self, host: str, to: str, ports: Sequence[int]) -> AsyncIterator[None]:
        """Listen on all ports."""
        servers = [await self._listen(host, to, port) for port in ports]
        try:
            yield
        finally:
            for server in servers:
                server.close()
            for writer in self._writers:
                writer.transport.abort()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.sleep(0)

    async def _listen(self, host: str, to: str, port: int) -> asyncio.Server:
        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._writers.append(writer)
            # A separate task: the task of a coroutine would report its cancellation as an error.
            self._tasks.add(asyncio.create_task(self._pair(reader, writer, to, port)))

        return await asyncio.start_server(accept, host, port)

    async def _pair(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, to: str, port: int
    ) -> None:
        try:
            there = await asyncio.open_connection(to, port)
        except OSError:
            reset(writer)
            return
        self._writers.append(there[1])
        pair = (writer, there[1])
        self._open.add(pair)
        await asyncio.gather(
            self._pass_on(reader, there[1], pair), self._pass_on(there[0], writer, pair)
        )
        for end in pair:
            end.close()
        self._open.discard(pair)

    async def _pass_on(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        pair: tuple[asyncio.StreamWriter, asyncio.StreamWriter],
    ) -> None:
        with contextlib.suppress(OSError, RuntimeError):  # uvloop: the handler is closed
            while block := await reader.read(64 * 1024):
                left = self._after - self.passed
                self.passed += len(block)
                self.ends.append(self.passed)
                if self.has_cut or left > len(block):
                    writer.write(block)
                    await writer.drain()
                    continue
                self.has_cut = True
                writer.write(block[:left])
                await writer.drain()
                cut = [pair] if self._scope == "one" else list(self._open)
                for end in (end for each in cut for end in each):
                    reset(end)
                return
            writer.write_eof()


def free_ports(count: int, *hosts: str) -> list[int]:
    """Ports that are free at all of these addresses."""
    with contextlib.ExitStack() as probes:
        found: list[int] = []
        while len(found) < count:
            probe = probes.enter_context(socket.socket())
            probe.bind((hosts[0], 0))
            port = probe.getsockname()[1]
            others = [probes.enter_context(socket.socket()) for _ in hosts[1:]]
            try:
                for other, host in zip(others, hosts[1:], strict=True):
                    other.bind((host, port))
            except OSError:
                continue
            found.append(port)
        return found
