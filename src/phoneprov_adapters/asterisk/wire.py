"""The protocol of the manager interface, and the settings of its account."""

import asyncio
import ssl
from collections.abc import Iterable
from typing import Annotated

from phoneprov_adapters.runtime.networks import is_host
from phoneprov_core.kernel.fields import SECRET, Redacted


class ManagerSettings(Redacted, frozen=True, kw_only=True):
    """Address and login of the manager interface; ``timeout`` bounds a whole call, in seconds.

    With ``tls`` the certificate is verified against the system's store, or only against the
    certificates in the file ``tls_ca``. Raises ValueError for an invalid value.
    """

    host: str
    port: int = 5038
    tls: bool = False
    tls_ca: str | None = None
    user: str
    secret: Annotated[str, SECRET]
    timeout: float = 5.0

    def __post_init__(self) -> None:
        if not is_host(self.host):
            raise ValueError("The manager's host is not a host name or an address.")
        if not 1 <= self.port <= 65535:
            raise ValueError("The manager's port must be from 1 to 65535.")
        if any(character in self.user + self.secret for character in "\r\n\0"):
            raise ValueError("The manager's user and secret must not contain line ends.")
        if not self.timeout > 0:
            raise ValueError("The manager's timeout must be more than 0 seconds.")


def tls_of(settings: ManagerSettings) -> ssl.SSLContext | None:
    """The TLS context, None for plain TCP. Raises ValueError if ``tls_ca`` cannot be read as
    certificates."""
    if not settings.tls:
        return None
    try:
        return ssl.create_default_context(cafile=settings.tls_ca)
    except OSError:
        raise ValueError(
            f"The file {settings.tls_ca} cannot be read or contains no certificates."
        ) from None


BANNER = "Asterisk Call Manager"
MESSAGE_LIMIT = 64 * 1024
"""Maximum bytes of one line and of one message."""

PAUSE_EVERY = 64 * 1024
PAUSE_SECONDS = 0.01
"""After 64 KiB the reader sleeps for 10 ms. Parsing them takes about 3 ms, so that a peer that
sends events without end takes a quarter of the event loop's time at most; TCP slows it down."""

LINE_COST = 32
"""Bytes added for each line: a flood of empty lines takes as long to parse as one of short ones."""

Message = dict[str, str]
"""The fields of a message: names in lower case, the first value of each name."""


class Broken(Exception):
    """The connection ended, or the peer does not speak the manager protocol."""


def written(name: str, action_id: str, fields: Iterable[tuple[str, str]]) -> bytes:
    """One action as bytes. Names and values must hold no line ends."""
    lines = (("Action", name), ("ActionID", action_id), *fields)
    return "".join(f"{key}: {value}\r\n" for key, value in lines).encode() + b"\r\n"


class Messages:
    """Reads messages from a stream. Every method raises ``Broken``."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._until_pause = PAUSE_EVERY

    async def banner(self) -> None:
        """Read the first line; raises ``Broken`` if it is not a manager's greeting."""
        if not (await self._line()).startswith(BANNER):
            raise Broken

    async def response(self, action_id: str) -> Message:
        """The response to one action. Events and other responses are skipped."""
        while True:
            message = await self.next()
            is_response = "response" in message and "event" not in message
            if is_response and message.get("actionid") == action_id:
                return message

    async def next(self) -> Message:
        """The next message of any kind."""
        message: Message = {}
        size = 0
        while line := await self._line():
            size += len(line)
            if size > MESSAGE_LIMIT:
                raise Broken
            name, colon, value = line.partition(":")
            if colon:
                message.setdefault(name.strip().lower(), value.strip())
        return message

    async def _line(self) -> str:
        try:
            line = await self._reader.readuntil(b"\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            raise Broken from None
        self._until_pause -= len(line) + LINE_COST
        if self._until_pause < 0:
            self._until_pause = PAUSE_EVERY
            await asyncio.sleep(PAUSE_SECONDS)
        return line.decode("utf-8", "replace").rstrip("\r\n")
