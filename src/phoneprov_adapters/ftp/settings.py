"""Settings of the FTP server, and its TLS."""

import asyncio
import ssl
from collections.abc import Awaitable
from typing import Annotated, Any, Literal

from aioftp.common import SSLSessionBoundContext

from phoneprov_adapters.runtime.networks import is_host
from phoneprov_core.kernel.fields import SECRET, Redacted

Tls = Literal["off", "explicit", "implicit"]

TOTAL_SECONDS = 15.0
"""Seconds for a whole upload. Together with the first request to the phone (1), the clearing of the
session (5) and the restart (8) a switch ends within 30 seconds."""


class FtpSettings(Redacted, frozen=True, kw_only=True):
    """One FTP server, or with ``host`` None the server on every phone.

    ``tls_ca`` is the path of a PEM file with the trusted authorities, None for the system's store.
    ``directory`` is a folder below the login folder, or an absolute one; empty stays in the login
    folder. ``timeout`` is seconds for one step (one command, or 64 KiB of a file), ``total``
    seconds for a whole upload. Raises ValueError for an invalid value. No representation contains
    the password.
    """

    host: str | None = None
    port: int = 21
    user: str = "anonymous"
    password: Annotated[str, SECRET] = ""
    tls: Tls = "off"
    tls_ca: str | None = None
    directory: str = ""
    timeout: float = 5.0
    total: float = TOTAL_SECONDS

    def __post_init__(self) -> None:
        if self.host is not None and not is_host(self.host):
            raise ValueError("The FTP host is not a host name or an address.")
        if not 1 <= self.port <= 65535:
            raise ValueError("The FTP port must be from 1 to 65535.")
        for name in ("user", "password", "directory"):
            if any(char in getattr(self, name) for char in "\r\n\0"):
                raise ValueError(f"The FTP {name} must not contain line ends.")
        if self.tls not in {"off", "explicit", "implicit"}:
            raise ValueError("The FTP TLS mode must be off, explicit or implicit.")
        if not (self.timeout > 0 and self.total > 0):
            raise ValueError("The FTP timeouts must be more than 0 seconds.")

    def path_of(self, filename: str) -> str:
        """The path of a file on the server, with a leading slash."""
        folder = self.directory.strip("/")
        return f"/{folder}/{filename}" if folder else f"/{filename}"


_REPLY_SECONDS = 1.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def start_tls(
    plain: asyncio.StreamWriter,
    context: ssl.SSLContext,
    server_hostname: str,
    limit: int,
    session: ssl.SSLSession | None = None,
) -> Streams:
    """The same connection over TLS, with a reader of this ``limit``.

    The reader is a new one: bytes that came in before the handshake are not authenticated.
    Servers may insist that a data connection resumes the ``session`` of the control connection,
    which also proves that both ends are the same.
    """
    bound: Any = context
    if session is not None:
        bound = SSLSessionBoundContext(ssl.PROTOCOL_TLS_CLIENT, context, session)
    if plain.transport.is_closing():
        raise ConnectionResetError
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=limit)
    protocol = asyncio.StreamReaderProtocol(reader)
    transport = await loop.start_tls(
        plain.transport, protocol, bound, server_hostname=server_hostname
    )
    if transport is None:
        raise ConnectionResetError
    protocol.connection_made(transport)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def replied_and_secured(reply: Awaitable[object], handshake: Awaitable[Streams]) -> Streams:
    """The result of the handshake, after the reply has arrived.

    The reply explains a failure better than the error of the handshake, so it is awaited a little
    longer. Both tasks have ended when this returns.
    """
    replied = asyncio.ensure_future(reply)
    secured = asyncio.ensure_future(handshake)
    tasks: set[asyncio.Future[Any]] = {replied, secured}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        if secured.done() and not replied.done():
            await asyncio.wait({replied}, timeout=_REPLY_SECONDS)
        if replied.done():
            replied.result()
        return await secured
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
