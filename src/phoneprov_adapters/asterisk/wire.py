"""The lines of Asterisk's manager protocol: writing, and bounded reading.

A message is lines of ``Name: value`` that end in CR LF, followed by an empty line. A response
repeats the ActionID of its action; events arrive at any time between them.
"""

import asyncio
from collections.abc import Iterable

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
