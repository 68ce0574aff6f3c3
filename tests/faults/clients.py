"""Clients of a service that is told to stop: each keeps account of what was dropped."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress

from faults.desk import Desk
from faults.ledger import LOST
from faults.served import Served
from phoneprov_http.main.serving.protocol import SILENCE_SECONDS
from races.wire import Line, Reply

MAC = "00:1B:D4:12:34:56"
LEFT_ALONE = "00:1B:D4:12:34:57"
LEFT_ALONE_FILE = "SEP001BD4123457.cnf.xml"
SOON = SILENCE_SECONDS / 2
"""In which a client that keeps its connection asks again."""


class Office:
    """Clients at work. ``dropped`` are requests that were sent on a connection that was there
    and open, as far as their client knew, and were not answered."""

    def __init__(self, served: Served, token: str, profile: str) -> None:
        self.served = served
        self.token = token
        self.profile = profile
        self.answered = 0
        self.dropped: list[str] = []
        self.switching = asyncio.Event()

    async def ask(self, line: Line, who: str, method: str, path: str, body: object = None) -> Reply:
        try:
            reply = await line.ask(method, path, body, token=self.token)
        except LOST as error:
            self.dropped.append(f"{who}: {error!r}")
            raise
        assert reply.status < 300, reply
        self.answered += 1
        return reply

    async def keeps_its_connection(self, chance: random.Random) -> None:
        """Asks on one connection until it is told to close it."""
        async with self.served.line() as line:
            while True:
                body = {"name": "Grace Hopper"}
                request = chance.choice(
                    [("GET", "/me", None), ("POST", "/company-directory", body)]
                )
                reply = await self.ask(line, "kept", *request)
                if reply.headers.get("connection") == "close":
                    return
                await asyncio.sleep(chance.choice([0, 0, 0.01, SOON]))

    async def comes_anew(self) -> None:
        """Makes a connection for every request, until there is none to be had."""
        while True:
            async with self.served.line() as line:
                await self.ask(line, "new", "GET", "/me")

    async def sends_slowly(self, told: asyncio.Event) -> None:
        """Sends one half of a request before the service is told to stop, one after."""
        content = json.dumps({"name": "Grace Hopper"}).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.served.port)
        try:
            writer.write(
                b"POST /api/v1/company-directory HTTP/1.1\r\nhost: localhost\r\n"
                b"content-type: application/json\r\nauthorization: Bearer %b\r\n"
                b"content-length: %d\r\n\r\n%b" % (self.token.encode(), len(content), content[:5])
            )
            await told.wait()
            await asyncio.sleep(SOON)
            writer.write(content[5:])
            reply = await Line(reader, writer).reply()
            assert (reply.status, reply.headers.get("connection")) == (201, "close")
            self.answered += 1
        except LOST as error:
            self.dropped.append(f"slow: {error!r}")
        finally:
            writer.close()

    async def switches(self, outside: Desk, told: asyncio.Event) -> None:
        """Has two switches under way when the service is told to stop."""
        path = "/phone-profiles/switch"
        async with self.served.line() as line:
            # Whoever asked for this one does not wait for its end.
            body = {"profile_uuid": self.profile, "mac": LEFT_ALONE}
            line.send("POST", path, body, token=self.token)
            async with asyncio.timeout(20):
                while not outside.is_at_work(LEFT_ALONE_FILE):  # noqa: ASYNC110
                    await asyncio.sleep(0.005)
        outside.begun.clear()
        async with self.served.line() as line:
            body = {"profile_uuid": self.profile, "mac": MAC}
            switch = asyncio.create_task(self.ask(line, "switch", "POST", path, body))
            await asyncio.wait_for(outside.begun.wait(), 20)
            self.switching.set()
            await told.wait()
            await asyncio.sleep(SOON)
            outside.open.set()
            assert (await switch).data["profile"] == "Ada"


async def until_gone(client: asyncio.Task[None]) -> None:
    """A client ends when the service is gone; that it does not answer is written down."""
    with suppress(*LOST):
        await client
