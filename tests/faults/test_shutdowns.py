"""Told to stop in the middle of work, the service drops nothing."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from faults import impatient
from faults.desk import Desk, desk
from faults.ledger import LOST
from faults.served import Served
from phoneprov_http.main.protocol import SILENCE_SECONDS
from phoneprov_http.main.server import STOP_SECONDS
from races.wire import Line, Reply
from support.scale import chances, note, rounds, spread

XML = "<device><deviceProtocol>SCCP</deviceProtocol></device>"
MAC = "00:1B:D4:12:34:56"
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
        """Has a switch under way when the service is told to stop."""
        async with self.served.line() as line:
            body = {"profile_uuid": self.profile, "mac": MAC}
            path = "/phone-profiles/switch"
            switch = asyncio.create_task(self.ask(line, "switch", "POST", path, body))
            await asyncio.wait_for(outside.begun.wait(), 10)
            await told.wait()
            await asyncio.sleep(SOON)
            outside.open.set()
            assert (await switch).data["profile"] == "Ada"


async def until_gone(client: asyncio.Task[None]) -> None:
    """A client ends when the service is gone; that it does not answer is written down."""
    with suppress(*LOST):
        await client


@pytest.fixture(params=[1, 2])
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Served]:
    """A service with one process, or with two."""
    service = Served(tmp_path, workers=request.param)
    yield service
    service.kill()


async def test_nothing_is_dropped_when_it_is_told_to_stop(served: Served, tmp_path: Path) -> None:
    times = rounds(1, 50)
    stops: list[float] = []
    answered = 0
    async with desk(tmp_path / "files") as outside:
        served.environment |= outside.settings()
        await asyncio.to_thread(served.start)
        token = await served.token()
        profile = await prepare(served, token)
        for number in range(times):
            chance = chances(f"stop {number}")
            office, told = Office(served, token, profile), asyncio.Event()
            outside.open.clear()
            outside.begun.clear()
            clients = [
                *(office.keeps_its_connection(chance) for _ in range(12)),
                *(office.comes_anew() for _ in range(4)),
                office.sends_slowly(told),
                office.switches(outside, told),
            ]
            async with served.lines(1):
                pass  # Every process is at work.
            at_work = [asyncio.create_task(client) for client in clients]
            await asyncio.wait_for(outside.begun.wait(), 20)
            await asyncio.sleep(chance.uniform(0, 0.5))
            served.tell(signal.SIGINT if number % 2 else signal.SIGTERM)
            told.set()
            code, seconds = await served.ended(STOP_SECONDS + 5)
            await asyncio.gather(*(until_gone(client) for client in at_work))
            assert office.dropped == []
            assert code == 0
            stops.append(seconds)
            answered += office.answered
            if number + 1 < times:
                await asyncio.to_thread(served.start)
    assert "Traceback" not in served.said()
    note(
        f"told to stop, {served.workers} processes: {times} times under load, {answered} requests, "
        f"none dropped, exit code 0; ended after {spread(stops)}"
    )


async def prepare(served: Served, token: str) -> str:
    """A phone in the inventory, and the uuid of a profile that fits it."""
    async with served.line() as line:
        phone = {"mac": MAC, "phone_ip": "127.0.0.1"}
        await line.ask("POST", "/phones", phone, token=token)
        me = (await line.ask("GET", "/me", token=token)).data["uuid"]
        profile = {"user_uuid": me, "name": "Ada", "cnf_xml": XML}
        return str((await line.ask("POST", "/phone-profiles", profile, token=token)).data["uuid"])


async def test_who_waits_to_be_accepted_is_answered(served: Served) -> None:
    await asyncio.to_thread(served.start)
    token = await served.token()
    async with served.lines(1):
        pass  # Every process is at work.
    with frozen(served):
        # The kernel makes the connections, and takes the requests; the service knows nothing.
        lines = [await Line.open(served.port) for _ in range(30)]
        for line in lines:
            line.send("GET", "/me", token=token)
        served.tell(signal.SIGTERM)
    for line in lines:
        assert (await line.reply()).status == 200
        await line.close()
    assert (await served.ended(30))[0] == 0


@contextmanager
def frozen(served: Served) -> Iterator[None]:
    """The service stands still."""
    pids = {served.pid, *served.pids}
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


async def test_nobody_new_is_let_in(served: Served) -> None:
    await asyncio.to_thread(served.start)
    async with served.line() as line:
        assert (await line.ask("GET", "/nothing")).status == 404
        served.tell(signal.SIGTERM)
        await asyncio.sleep(SOON)
        # To be refused may take a second, in which who is there would have been silent too long.
        knocking = asyncio.create_task(asyncio.to_thread(served.listens))
        reply = await line.ask("GET", "/nothing")
        assert (reply.status, reply.headers["connection"]) == (404, "close")
        assert not await knocking
    assert (await served.ended(30))[0] == 0


@pytest.fixture
def impatient_service(tmp_path: Path) -> Iterator[Served]:
    """A service that waits less long for what goes on."""
    service = Served(tmp_path, command=impatient.COMMAND)
    yield service
    service.kill()


async def test_who_never_ends_its_request_holds_it_up_for_so_long(
    impatient_service: Served,
) -> None:
    served = impatient_service
    await asyncio.to_thread(served.start)
    _, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(
        b"POST /api/v1/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n"
    )
    await asyncio.sleep(0.3)
    served.tell(signal.SIGTERM)
    code, seconds = await served.ended(impatient.STOP_SECONDS + 5)
    writer.close()
    assert code == 0
    assert seconds > impatient.STOP_SECONDS - 0.5
