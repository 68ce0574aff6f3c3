"""aioftp's client with three mends, each of which upstream could make unnecessary.

1. TLS on the data connection starts after the command. aioftp 0.28 finishes that handshake
   before it sends STOR or RETR; vsftpd, ProFTPD and Pure-FTPd begin it only after they have
   answered 150 (as RFC 4217, section 12, shows it), so that both sides wait for ever. Needed
   until aioftp's issues 37 and 186 are closed and ``get_stream`` starts TLS on the 1xx reply.
2. Data connections go to the control connection's peer, whatever address a 227 reply names
   and however many addresses a host name has. Needed until ``get_passive_connection`` uses
   the peer instead of the name it was given.
3. Replies are bounded, read leniently (a greeting in Latin-1 is no reason to fail) and never
   logged; a reply cut off by the end of the connection is none.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from typing import Any

import aioftp
from aioftp.client import ConnType, DataConnectionThrottleStreamIO
from aioftp.common import Code, SSLSessionBoundContext, ThrottleStreamIO, async_enterable

from phoneprov_adapters.ftp.settings import Tls

_REPLY_LIMIT = 64 * 1024
_PORT = re.compile(r"\(([!-~])\1\1(\d{1,5})\1\)")
_HOST_PORT = re.compile(r"(?:\d{1,3},){4}(\d{1,3}),(\d{1,3})")

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class BadReply(aioftp.AIOFTPException):
    """The server's reply is none that the protocol knows."""


class FtpClient(aioftp.Client):
    """One control connection and the data connections that belong to it.

    It has no deadlines of its own: whoever calls sets them, and calls ``drop`` in the end.
    ``context`` is needed for every ``tls`` but "off". ``idle`` tells whether every command
    has had its final reply, so that another one can be sent.
    """

    def __init__(self, tls: Tls, context: ssl.SSLContext | None) -> None:
        super().__init__()
        self.idle = False
        self._tls = tls
        self._context = context
        # Every writer is kept: one that is collected closes the socket under its successor.
        self._writers: list[asyncio.StreamWriter] = []
        self._reply_size = 0

    async def upgrade_to_tls(self, sslcontext: ssl.SSLContext | None = None) -> None:
        """Explicit TLS on the control connection, with the client's context if none is given."""
        self._context = sslcontext or self._context
        await self.command("AUTH TLS", "234")
        reader, writer = await self._start_tls(self.stream.writer)
        self._stream = ThrottleStreamIO(reader, writer, throttles={"_": self.throttle})
        await self.protect()

    async def protect(self) -> None:
        """Ask for TLS on the data connections too (RFC 4217, section 9)."""
        await self._send_tls_protection_commands()

    def drop(self) -> None:
        """Close every socket at once, without a word to the server."""
        self.idle = False
        for writer in self._writers:
            writer.transport.abort()

    async def parse_response(self) -> tuple[Code, list[str]]:
        """One whole reply. Raises ``BadReply`` or ConnectionResetError when there is none."""
        self.idle = False
        self._reply_size = 0
        code, lines = await super().parse_response()
        if len(code) != 3:
            raise BadReply
        self.idle = not code.matches("1xx")
        return code, lines

    async def parse_line(self) -> tuple[Code, str]:
        """One line of a reply: its first three characters, and the rest."""
        try:
            line = await self.stream.readline()
        except ValueError:
            raise BadReply from None
        if not line.endswith(b"\n"):
            raise ConnectionResetError
        self._reply_size += len(line)
        if self._reply_size > _REPLY_LIMIT:
            raise BadReply
        text = line.decode(errors="replace").rstrip()
        return Code(text[:3]), text[3:]

    @staticmethod
    def parse_epsv_response(s: str) -> tuple[None, int]:
        """The port of a 229 reply (RFC 2428, section 3)."""
        found = _PORT.search(s)
        if found is None:
            raise BadReply
        return None, _port(int(found[2]))

    @staticmethod
    def parse_pasv_response(s: str) -> tuple[str, int]:
        """The port of a 227 reply (RFC 959, section 4.2). Its address is not looked at."""
        found = _HOST_PORT.search(s)
        if found is None:
            raise BadReply
        return "0.0.0.0", _port(int(found[1]) * 256 + int(found[2]))  # noqa: S104  # nosec B104

    @async_enterable
    async def get_stream(
        self,
        command: str | None = None,
        expected_codes: str | tuple[str, ...] = (),
        wait_codes: str | tuple[str, ...] = (),
        censor_after: int | None = None,
        conn_type: ConnType = "I",
        offset: int = 0,
    ) -> DataConnectionThrottleStreamIO:
        """A data connection on which ``command`` has begun, over TLS if the control one is."""
        reader, writer = await self.get_passive_connection(conn_type)
        if offset:
            await self.command(f"REST {offset}", "350")
        await self.command(command, expected_codes, wait_codes, censor_after)
        control: ssl.SSLObject | None = self.stream.writer.get_extra_info("ssl_object")
        if control is not None:
            reader, writer = await self._start_tls(writer, control.session)
        return DataConnectionThrottleStreamIO(self, reader, writer, throttles={"_": self.throttle})

    async def _open_connection(self, host: str, port: int) -> Streams:
        if self._stream is not None:
            host = self._stream.writer.get_extra_info("peername")[0]
        # One address after the other: "happy eyeballs" forgets a socket when it is cancelled.
        reader, writer = await asyncio.open_connection(host, port, limit=_REPLY_LIMIT)
        self._writers.append(writer)
        if self._stream is None and self._tls == "implicit":
            return await self._start_tls(writer)
        return reader, writer

    async def _start_tls(
        self, plain: asyncio.StreamWriter, session: ssl.SSLSession | None = None
    ) -> Streams:
        """The same connection over TLS.

        The reader is a new one: what came in before the handshake was said by nobody we
        know. Servers may insist that a data connection resumes the control connection's
        session, which also proves that both ends are the same.
        """
        assert self._context is not None
        context: Any = self._context
        if session is not None:
            context = SSLSessionBoundContext(ssl.PROTOCOL_TLS_CLIENT, self._context, session)
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_REPLY_LIMIT)
        protocol = asyncio.StreamReaderProtocol(reader)
        transport = await loop.start_tls(
            plain.transport, protocol, context, server_hostname=self.server_host
        )
        if transport is None:
            raise ConnectionResetError
        protocol.connection_made(transport)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        self._writers.append(writer)
        return reader, writer


def _port(number: int) -> int:
    if not 1 <= number <= 65535:
        raise BadReply
    return number
