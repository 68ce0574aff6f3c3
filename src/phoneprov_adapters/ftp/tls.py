"""TLS over a connection that is open already."""

import asyncio
import ssl
from collections.abc import Awaitable
from typing import Any

from aioftp.common import SSLSessionBoundContext

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
