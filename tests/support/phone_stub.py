"""Stubs of a phone's web server, byte by byte if necessary."""

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from urllib.parse import parse_qsl
from xml.etree import ElementTree

from msgspec import Struct

from support.stub_server import StubServer

SUCCESS = (
    '<CiscoIPPhoneResponse><ResponseItem Status="0" Data="Success" URL=""/></CiscoIPPhoneResponse>'
)


class Request(Struct, frozen=True):
    """One received request: its first line, headers with names in lower case, body."""

    line: str
    headers: dict[str, str]
    body: bytes

    @property
    def uris(self) -> list[str]:
        """The commands in the one XML field of the form."""
        ((field, xml),) = parse_qsl(self.body.decode(), strict_parsing=True)
        assert field == "XML"
        root = ElementTree.fromstring(xml)  # noqa: S314 - what we sent ourselves
        return [item.attrib["URL"] for item in root]


Answer = Callable[[asyncio.StreamWriter], Coroutine[None, None, None]]


def http(status: int = 200, body: bytes | str = SUCCESS, **headers: str) -> bytes:
    """A complete HTTP/1.1 response; header names are written with underscores."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} Any", f"Content-Length: {len(content)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + content


def sends(content: bytes, *, each: int = 0, pause: float = 0.0) -> Answer:
    """Sends these bytes in pieces of ``each`` bytes with a pause after every one."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        size = each or len(content)
        for start in range(0, len(content), size):
            writer.write(content[start : start + size])
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def error(number: int) -> Answer:
    return sends(http(body=f'<CiscoIPPhoneError Number="{number}"/>'))


async def nothing(writer: asyncio.StreamWriter) -> None:
    """Keeps the connection open and sends nothing."""
    await asyncio.Event().wait()


async def closes(writer: asyncio.StreamWriter) -> None:
    """Closes the connection without a response."""


class PhoneStub(StubServer):
    """Counts connections, records requests, and responds as ``answers`` says: the first request
    gets the first response and so on, all further requests the last one.

    ``connected`` is set with the first connection, ``asked`` with the first request, ``idle`` while
    no connection is open.
    """

    def __init__(self, *answers: Answer, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls=tls)
        self.answers = list(answers) or [sends(http())]
        self.requests: list[Request] = []
        self.most_at_once = 0
        self._at_once = 0
        self.connected = asyncio.Event()
        self.asked = asyncio.Event()
        self.idle = asyncio.Event()
        self.idle.set()

    @property
    def uris(self) -> list[str]:
        return [uri for request in self.requests if request.body for uri in request.uris]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected.set()
        self._at_once += 1
        self.idle.clear()
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            request = await _read(reader)
            answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
            self.requests.append(request)
            self.asked.set()
            serving = asyncio.create_task(answer(writer))
            gone = asyncio.create_task(reader.read())
            await asyncio.wait({serving, gone}, return_when=asyncio.FIRST_COMPLETED)
            for task in (serving, gone):
                task.cancel()
            await asyncio.gather(serving, gone, return_exceptions=True)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            self._at_once -= 1
            if not self._at_once:
                self.idle.set()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *rest = head.rstrip("\r\n").split("\r\n")
    pairs = (entry.split(":", 1) for entry in rest)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(line, headers, body)
