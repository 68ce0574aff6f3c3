"""A small FTP server with files in memory and faults that a test chooses.

It starts TLS on a data connection only after the reply 150, as vsftpd, ProFTPD and Pure-FTPd do.
Files grow during the upload, so that an incomplete one is visible.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Self

from support.ftp_control import Control
from support.ftp_faults import FtpState
from support.polling import until


class ScriptedFtp(FtpState):
    """The server. Configure it, then ``async with server.serving():``; it runs in the loop of the
    test."""

    def __init__(self, tls: ssl.SSLContext | None = None, *, implicit: bool = False) -> None:
        super().__init__(tls)
        self.implicit = implicit
        self.port = 0

    @contextlib.asynccontextmanager
    async def serving(self, host: str = "127.0.0.1") -> AsyncIterator[Self]:
        """Serve on a free port; at the end every connection is closed."""
        tasks: set[asyncio.Task[None]] = set()

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            # Clients disconnect at any time, also during a handshake.
            with contextlib.suppress(OSError):
                await Control(self, reader, writer).serve()

        context = self.tls if self.implicit else None
        server = await asyncio.start_server(accept, host, 0, ssl=context)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0)

    async def quiet(self, within: float = 1.0) -> None:
        """Wait until no connection is open. Raises TimeoutError if one stays open."""
        await until(lambda: not self.open, within)
