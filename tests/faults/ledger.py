"""Writes over HTTP and records the results: the records that must exist afterwards.

An answered request has happened or has not, as its response says. A request whose response was lost
has happened completely or not at all.
"""

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any

from races.wire import Line, Reply

Content = dict[str, Any] | None
"""The written fields of a record; None if it does not exist."""

LOST = (OSError, EOFError)
"""The errors of a lost response."""


class Book:
    """The known records of a writer: for each the contents that it may have, more than one only
    after a lost response."""

    def __init__(self) -> None:
        self.pages: dict[str, list[Content]] = {}

    def known(self) -> dict[str, dict[str, Any]]:
        """The records that certainly exist."""
        return {
            key: may[0] for key, may in self.pages.items() if len(may) == 1 and may[0] is not None
        }

    def check(self, found: dict[str, dict[str, Any]]) -> list[str]:
        """The differences between found and known records; the found ones are known from now on."""
        wrong = [
            f"{key} is {found.get(key)}, not one of {may}"
            for key, may in self.pages.items()
            if found.get(key) not in may
        ]
        wrong += [f"{key} was never written" for key in found.keys() - self.pages.keys()]
        self.pages = {key: [content] for key, content in found.items()}
        return wrong


class Writer:
    """Writes one kind of record, one request after the other, on its own connections. ``token`` is
    the access token of its requests."""

    path: str
    fields: tuple[str, ...] = ()

    def __init__(self, number: int, chance: random.Random) -> None:
        self.prefix = f"w{number}-"
        self.chance = chance
        self.book = Book()
        self.acknowledged = 0
        self.unknown = 0
        self.refused = 0
        self.slowest = 0.0
        self.token = ""
        self._serial = 0

    async def write(self, port: int, token: str, goes_on: Callable[[], bool]) -> None:
        """Write while ``goes_on()`` is true and the server responds."""
        self.token = token
        line: Line | None = None
        try:
            while goes_on():
                line = line or await Line.open(port)
                if not await self._one(line):
                    line = None
        except LOST:
            pass
        finally:
            if line is not None:
                await line.close()

    async def _one(self, line: Line) -> bool:
        """Send one request; whether the connection is open for another."""
        method, path, key, body, after = self.next()
        before = self.book.pages.get(key, [None])
        self.book.pages[key] = [*before, after]
        began = time.monotonic()
        try:
            reply = await line.ask(method, path, body, token=self.token)
        except LOST:
            self.unknown += 1
            raise
        self.slowest = max(self.slowest, time.monotonic() - began)
        if reply.status < 300:
            self.acknowledged += 1
            self.book.pages[key] = [after]
            self.answered(key, reply)
        elif reply.status == 503:
            self.refused += 1
            if "is unknown" not in reply.envelope["message"]:
                self.book.pages[key] = before
            await asyncio.sleep(0.01)
        else:
            raise AssertionError(f"{method} {path} answered {reply}")
        return reply.headers.get("connection") != "close"

    def next(self) -> tuple[str, str, str, Any, Content]:
        """The next request: method, path, record number, body, and the record after it."""
        known = self.book.known()
        kind = self.chance.choices(["create", "change", "delete"], [5, 5, 1 + len(known) // 2])[0]
        if kind == "create" or not known:
            self._serial += 1
            key = f"{self.prefix}{self._serial}"
            content = self.content()
            return "POST", self.path, key, self.body(key, content), content
        key = self.chance.choice(sorted(known))
        if kind == "delete":
            return "DELETE", self.path_of(key), key, None, None
        content = known[key] | self.content()
        return "PUT", self.path_of(key), key, self.body(key, content), content

    def content(self) -> dict[str, Any]:
        """New content for a record, in which every field changes."""
        return dict.fromkeys(self.fields, str(self.chance.random()))

    def body(self, key: str, content: dict[str, Any]) -> dict[str, Any]:
        """The body that gives a record this content."""
        raise NotImplementedError

    def path_of(self, key: str) -> str:
        """The path of the record."""
        raise NotImplementedError

    def answered(self, key: str, reply: Reply) -> None:
        """Check the response to an executed request."""

    async def check(self, line: Line, token: str) -> list[str]:
        """The differences between stored and known records."""
        return self.book.check(await self.found(line, token))

    async def found(self, line: Line, token: str) -> dict[str, dict[str, Any]]:
        """The stored records of this writer."""
        raise NotImplementedError
