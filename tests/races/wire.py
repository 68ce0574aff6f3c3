"""HTTP on one persistent connection, with separate sending and receiving.

An ordinary client takes a millisecond for each request, longer than a race. Here a request is one
write: those of many connections arrive together, before any response.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any, NamedTuple, Self

SECONDS = 180
"""Maximum seconds of a reply, more than a restart of the service takes on a busy machine."""


HALF = b"GET /api/v1/nothing HTTP/1.1\r\nhost: loc"
REST = b"alhost\r\n\r\n"
"""A request in two parts."""


class Reply(NamedTuple):
    """A response; names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    envelope: dict[str, Any]

    @property
    def data(self) -> Any:
        return self.envelope["data"]

    @property
    def code(self) -> str | None:
        """The code of the failure; None for a success."""
        error = self.envelope.get("error")
        return None if error is None else str(error["code"])


class Line:
    """One connection to a server on this host; it belongs to one worker process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, port: int) -> Self:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    @property
    def port(self) -> int:
        """The port of the client."""
        return int(self._writer.get_extra_info("sockname")[1])

    def send(self, method: str, path: str, body: object = None, *, token: str = "") -> None:
        """Send a complete request; ``path`` starts after ``/api/v1``."""
        content = b"" if body is None else json.dumps(body).encode()
        head = [f"{method} /api/v1{path} HTTP/1.1", "host: localhost"]
        if token:
            head.append(f"authorization: Bearer {token}")
        if body is not None:
            head.append("content-type: application/json")
        head.append(f"content-length: {len(content)}")
        self._writer.write("\r\n".join([*head, "", ""]).encode() + content)

    def write(self, content: bytes) -> None:
        """Send bytes, a request or a part of one."""
        self._writer.write(content)

    @property
    def is_closed(self) -> bool:
        """Whether the server has closed the connection."""
        return self._reader.at_eof()

    async def reply(self) -> Reply:
        """The response to the oldest request without one."""
        async with asyncio.timeout(SECONDS):
            head = await self._reader.readuntil(b"\r\n\r\n")
            first, *fields = head.decode("latin-1").split("\r\n")[:-2]
            parted = (field.partition(":") for field in fields)
            headers = {name.lower(): value.strip() for name, _, value in parted}
            if "content-length" in headers:
                content = await self._reader.readexactly(int(headers["content-length"]))
            else:  # a long list
                content = b"".join([chunk async for chunk in self._chunks()])
        return Reply(int(first.split(" ", 2)[1]), headers, json.loads(content))

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            yield (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)

    async def ask(self, method: str, path: str, body: object = None, *, token: str = "") -> Reply:
        """Send a request and wait for its response."""
        self.send(method, path, body, token=token)
        return await self.reply()

    async def keep_open(self) -> None:
        """Send a request to keep the connection open; open it again, to any worker process, if it
        is closed."""
        try:
            await self.ask("GET", "/nothing")
        except (asyncio.IncompleteReadError, ConnectionError):
            port = int(self._writer.get_extra_info("peername")[1])
            self._writer.close()
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", port)
            await self.ask("GET", "/nothing")

    async def close(self) -> None:
        self._writer.close()
        # The process at the other end may have been killed, which closes this end too.
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


async def kept_open(lines: list[Line]) -> None:
    """Open every closed connection again: the server closes idle ones after a few seconds."""
    await asyncio.gather(*(line.keep_open() for line in lines))


async def replies(*lines: Line) -> list[Reply]:
    """One response from each connection, in their order."""
    return await asyncio.gather(*(line.reply() for line in lines))
