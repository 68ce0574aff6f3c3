"""aioftp's client with five changes. Each can be removed when aioftp changes as described.

1. TLS on the data connection starts as soon as the command is sent, while the reply is awaited.
   aioftp 0.28 finishes that handshake before it sends STOR or RETR; vsftpd, ProFTPD and
   Pure-FTPd begin it only after they have answered 150 (RFC 4217, section 12), so that both
   sides wait without end. ftp-srv answers 150 only after the handshake. Starting both at once works
   with all of them. Needed until aioftp's issues 37 and 186 are closed.
2. Data connections go to the control connection's peer, not to the address of a 227 reply
   or to another address of the host name. Needed until ``get_passive_connection`` uses
   the peer instead of the name it was given.
3. After any 5xx reply to EPSV, PASV is tried: vsftpd answers 550 to a command in its
   ``cmds_denied``, other servers answer 522 or 530; aioftp accepts 50x only. TYPE is sent once a
   session.
4. The size of replies is limited, invalid UTF-8 is decoded (a greeting in Latin-1 is not an error),
   and replies are never logged. A reply that is incomplete when the connection ends is ignored.
5. Nothing is sent on a closed connection: uvloop would raise RuntimeError.
"""

import asyncio
import re
import ssl
from collections.abc import Awaitable, Sequence
from typing import Any, Literal

import aioftp
from aioftp.client import ConnType, DataConnectionThrottleStreamIO
from aioftp.common import Code, SSLSessionBoundContext, ThrottleStreamIO, async_enterable

from phoneprov_adapters.runtime.networks import connected

Tls = Literal["off", "explicit", "implicit"]

_REPLY_LIMIT = 64 * 1024
"""Maximum bytes of the replies to one command, preliminary replies (1xx) included."""

_LINE_COST = 128
"""Bytes counted in addition for each line: an empty line takes as long to read as a full one, and
other tasks do not run while the lines of one packet are read."""

_TLS_PAUSE = 0.2

_EPSV_PORT = re.compile(r"\(([!-~])\1\1(\d{1,5})\1\)")
"""In a 229 reply (RFC 2428, section 3)."""

_PASV_PORT = re.compile(r"(?:\d{1,3},){4}(\d{1,3}),(\d{1,3})")
"""In a 227 reply (RFC 959, section 4.2)."""


class BadReply(aioftp.AIOFTPException):
    """The server's reply does not conform to the protocol."""


class NoPassive(aioftp.AIOFTPException):
    """The server refuses passive data connections."""


_REPLY_SECONDS = 1.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def start_tls(
    plain: asyncio.StreamWriter,
    context: ssl.SSLContext,
    server_hostname: str,
    limit: int,
    session: ssl.SSLSession | None = None,
) -> Streams:
    """The same connection over TLS, with a new reader of this ``limit``.

    The old reader is dropped, because bytes received before the handshake are not authenticated.
    Some servers require that a data connection resumes the TLS ``session`` of the control
    connection, to prove that the client is the same.
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

    If the handshake fails first, the reply is awaited for a moment: its text explains a failure
    better than the error of the handshake. Both tasks have ended when this returns.
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


class FtpClient(aioftp.Client):
    """One control connection and its data connections.

    The client sets no deadlines: the caller sets them, and calls ``drop`` at the end. ``context``
    is required unless ``tls`` is "off". ``addresses`` are the addresses of the server. ``idle`` is
    true when every command has had its final reply, so that the next command can be sent.
    """

    def __init__(self, tls: Tls, context: ssl.SSLContext | None, addresses: Sequence[str]) -> None:
        super().__init__()
        self._addresses = addresses
        self.idle = False
        self._tls = tls
        self._context = context
        # References are kept: after TLS has started, the garbage collection of the plain writer
        # would close the socket, which the TLS writer uses.
        self._writers: list[asyncio.StreamWriter] = []
        self._data_writer: asyncio.StreamWriter | None = None
        self._reply_size = 0
        self._type: ConnType | None = None
        self._extended = True

    async def upgrade_to_tls(self, sslcontext: ssl.SSLContext | None = None) -> None:
        """Explicit TLS on the control connection, with the client's context by default."""
        self._context = sslcontext or self._context
        try:
            await self._secure()
        except ssl.SSLError as error:
            if error.reason != "WRONG_VERSION_NUMBER":
                raise
            # ftp-srv answers 234 shortly before it expects TLS, and reads earlier bytes as a
            # command. Only AUTH was sent: connect again, and pause before the handshake.
            self._stream = None
            await self.connect(self.server_host, self.server_port)
            await self._secure(_TLS_PAUSE)
        await self.protect()

    async def _secure(self, pause: float = 0.0) -> None:
        await self.command("AUTH TLS", "234")
        await asyncio.sleep(pause)
        reader, writer = await self._start_tls(self.stream.writer)
        self._stream = ThrottleStreamIO(reader, writer, throttles={"_": self.throttle})

    async def protect(self) -> None:
        """Ask for TLS on the data connections too (RFC 4217, section 9)."""
        await self._send_tls_protection_commands()

    def drop(self) -> None:
        """Close every socket at once, without QUIT."""
        self.idle = False
        for writer in self._writers:
            writer.transport.abort()

    def forget_closed(self) -> None:
        """Let go of the data connections of earlier transfers."""
        self._writers = [one for one in self._writers if not one.transport.is_closing()]

    def leave(self) -> None:
        """Send QUIT, and close every socket without waiting for the reply."""
        control = self.stream.writer
        if not control.transport.is_closing():
            control.write(b"QUIT\r\n")
        self.idle = False
        for writer in self._writers:
            writer.close()

    async def finish_command(self) -> None:
        """Close the data connection, and read the replies to the last command, so that the server
        waits for another one."""
        if self._data_writer is not None:
            self._data_writer.transport.abort()
        while not self.idle:
            await self.parse_response()

    async def command(  # type: ignore[override]  # The overloads of the base class are one here.
        self,
        command: str | None = None,
        expected_codes: str | tuple[str, ...] = (),
        wait_codes: str | tuple[str, ...] = (),
        censor_after: int | None = None,
    ) -> tuple[Code, list[str]] | None:
        """Send a command, if any, and read its reply. Raises ConnectionResetError when the
        connection is closed."""
        if command is not None and self.stream.writer.transport.is_closing():
            self.idle = False
            raise ConnectionResetError
        self._reply_size = 0
        if expected_codes or wait_codes:
            self.idle = False  # until its reply: the connection may be reset while it is sent
        return await super().command(command, expected_codes, wait_codes, censor_after)

    async def parse_response(self) -> tuple[Code, list[str]]:
        """One whole reply. Raises ``BadReply``, or ConnectionResetError if the connection ends."""
        self.idle = False
        code, lines = await super().parse_response()
        if len(code) != 3:
            raise BadReply
        self.idle = not code.matches("1xx")
        return code, lines

    async def parse_line(self) -> tuple[Code, str]:
        """One line of a reply: its first three characters if they are ASCII, and the rest."""
        try:
            line = await self.stream.readline()
        except ValueError:
            raise BadReply from None
        if not line.endswith(b"\n"):
            raise ConnectionResetError
        self._reply_size += len(line) + _LINE_COST
        if self._reply_size > _REPLY_LIMIT:
            raise BadReply
        text = line.decode(errors="replace").rstrip()
        # aioftp would accept digits of other scripts, and messages quote the reply.
        if not text[:3].isascii():
            return Code(""), text
        return Code(text[:3]), text[3:]

    @staticmethod
    def parse_epsv_response(s: str) -> tuple[None, int]:
        """See the base class."""
        found = _EPSV_PORT.search(s)
        return None, _port(int(found[2]) if found else 0)

    @staticmethod
    def parse_pasv_response(s: str) -> tuple[str, int]:
        """See the base class. The address is not used."""
        found = _PASV_PORT.search(s)
        port = _port(int(found[1]) * 256 + int(found[2]) if found else 0)
        return "0.0.0.0", port  # noqa: S104  # nosec B104

    async def get_passive_connection(
        self,
        conn_type: ConnType = "I",
        commands: Sequence[str] | None = None,  # noqa: ARG002  The base class has it.
    ) -> Streams:
        """A data connection by EPSV; by PASV after the server has refused EPSV once."""
        if self._type != conn_type:
            await self.command(f"TYPE {conn_type}", "200")
            self._type = conn_type
        port = await self._passive_port()
        return await self._open_connection(self.server_host, port)

    async def _passive_port(self) -> int:
        if self._extended:
            try:
                return (await self._do_epsv())[1]
            except aioftp.StatusCodeError as error:
                if not error.received_codes[-1].matches("5xx"):
                    raise
                self._extended = False
        try:
            return (await self._do_pasv())[1]
        except aioftp.StatusCodeError as error:
            if not error.received_codes[-1].matches("5xx"):
                raise
            raise NoPassive from None

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
        """A data connection for ``command``, which was sent; over TLS if the control connection
        uses TLS."""
        reader, writer = await self.get_passive_connection(conn_type)
        self._data_writer = writer
        if offset:
            await self.command(f"REST {offset}", "350")
        reply = self.command(command, expected_codes, wait_codes, censor_after)
        control: ssl.SSLObject | None = self.stream.writer.get_extra_info("ssl_object")
        if control is None:
            await reply
        else:
            reader, writer = await replied_and_secured(
                reply, self._start_tls(writer, control.session)
            )
        return DataConnectionThrottleStreamIO(self, reader, writer, throttles={"_": self.throttle})

    async def _open_connection(self, host: str, port: int) -> Streams:  # noqa: ARG002
        addresses = self._addresses
        if self._stream is not None:
            addresses = [self._stream.writer.get_extra_info("peername")[0]]
        # One address after the other: asyncio's "happy eyeballs" leaks a socket when cancelled.
        reader, writer = await connected(addresses, port, limit=_REPLY_LIMIT)
        self._writers.append(writer)
        if self._stream is None and self._tls == "implicit":
            return await self._start_tls(writer)
        return reader, writer

    async def _start_tls(
        self, plain: asyncio.StreamWriter, session: ssl.SSLSession | None = None
    ) -> Streams:
        assert self._context is not None
        reader, writer = await start_tls(
            plain, self._context, self.server_host, _REPLY_LIMIT, session
        )
        self._writers.append(writer)
        return reader, writer


def _port(number: int) -> int:
    if not 1 <= number <= 65535:
        raise BadReply
    return number
