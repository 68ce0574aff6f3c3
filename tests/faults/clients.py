"""Clients of a service that restarts; they record dropped and refused requests."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from faults.desk import Desk
from faults.ledger import LOST
from faults.served import Served
from phoneprov_http.main.server.protocol import SILENCE_SECONDS
from races.wire import Line, Reply
from support.polling import until

MAC = "00:1B:D4:12:34:56"
LEFT_ALONE = "00:1B:D4:12:34:57"
LEFT_ALONE_FILE = "SEP001BD4123457.cnf.xml"
SOON = SILENCE_SECONDS / 2
"""Maximum seconds between two uses of a kept connection."""


class Office:
    """Running clients.

    ``dropped`` are requests that were sent on a connection that was open, as far as the client
    knew, and got no response; ``refused`` are refused connections.
    """

    def __init__(self, served: Served, token: str, profile: str) -> None:
        self.served = served
        self.token = token
        self.profile = profile
        self.answered = 0
        self.dropped: list[str] = []
        self.refused: list[str] = []
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

    @asynccontextmanager
    async def line(self) -> AsyncIterator[Line]:
        """A new connection."""
        try:
            line = await Line.open(self.served.port)
        except OSError as error:
            self.refused.append(repr(error))
            raise
        try:
            yield line
        finally:
            await line.close()

    async def reuse_connection(self, chance: random.Random, over: asyncio.Event) -> None:
        """Sends requests on one connection until the server closes it, then on the next."""
        while not over.is_set():
            async with self.line() as line:
                reply = None
                while reply is None or reply.headers.get("connection") != "close":
                    body = {"name": "Grace Hopper"}
                    request = chance.choice(
                        [("GET", "/me", None), ("POST", "/company-directory", body)]
                    )
                    reply = await self.ask(line, "kept", *request)
                    if over.is_set():
                        break
                    await asyncio.sleep(chance.choice([0, 0, 0.01, SOON]))

    async def connect_for_each_request(self, over: asyncio.Event) -> None:
        """Opens a connection for every request."""
        while not over.is_set():
            async with self.line() as line:
                await self.ask(line, "new", "GET", "/me")

    async def sends_slowly(self, stop: asyncio.Event) -> None:
        """Sends the first half of a request before the stop of the service, the second after it."""
        content = json.dumps({"name": "Grace Hopper"}).encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", self.served.port)
        try:
            writer.write(
                b"POST /api/v1/company-directory HTTP/1.1\r\nhost: localhost\r\n"
                b"content-type: application/json\r\nauthorization: Bearer %b\r\n"
                b"content-length: %d\r\n\r\n%b" % (self.token.encode(), len(content), content[:5])
            )
            await stop.wait()
            await asyncio.sleep(SOON)
            writer.write(content[5:])
            reply = await Line(reader, writer).reply()
            assert (reply.status, reply.headers.get("connection")) == (201, "close")
            self.answered += 1
        except LOST as error:
            self.dropped.append(f"slow: {error!r}")
        finally:
            writer.close()

    async def switches(self, outside: Desk, stop: asyncio.Event) -> None:
        """Two switches run when the service stops."""
        path = "/phone-profiles/switch"
        async with self.served.line() as line:
            # The client does not wait for this response.
            body = {"profile_uuid": self.profile, "mac": LEFT_ALONE}
            line.send("POST", path, body, token=self.token)
            await until(lambda: outside.is_at_work(LEFT_ALONE_FILE))
        outside.begun.clear()
        async with self.served.line() as line:
            body = {"profile_uuid": self.profile, "mac": MAC}
            switch = asyncio.create_task(self.ask(line, "switch", "POST", path, body))
            await asyncio.wait_for(outside.begun.wait(), 60)
            self.switching.set()
            await stop.wait()
            await asyncio.sleep(SOON)
            outside.open.set()
            assert (await switch).data["profile"] == "Ada"
