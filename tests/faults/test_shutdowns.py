"""Told to stop in the middle of work, the service drops nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from faults import impatient
from faults.clients import LEFT_ALONE, LEFT_ALONE_FILE, MAC, SOON, Office, until_gone
from faults.desk import desk
from faults.served import Served
from phoneprov_core.deployments.model import Outcome, Wanted
from phoneprov_http.main.serving.listener import bound, let_nobody_in, somebody_waits
from phoneprov_http.main.serving.protocol import SILENCE_SECONDS
from phoneprov_http.main.serving.server import STOP_SECONDS
from races.wire import Line
from support.scale import chances, note, rounds, spread

XML = "<device><deviceProtocol>SCCP</deviceProtocol></device>"


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
        # When the last connection is closed, it is not done yet.
        outside.pauses[LEFT_ALONE_FILE] = SILENCE_SECONDS + SOON
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
            await asyncio.wait_for(office.switching.wait(), 40)
            await asyncio.sleep(chance.uniform(0, 0.5))
            served.tell(signal.SIGINT if number % 2 else signal.SIGTERM)
            told.set()
            code, seconds = await served.ended(STOP_SECONDS + 5)
            await asyncio.gather(*(until_gone(client) for client in at_work))
            assert office.dropped == []
            assert code == 0
            # Both switches came to their end, whoever waited for it.
            assert await outcomes(served) == [Outcome.DEPLOYED] * 2 * (number + 1)
            stops.append(seconds)
            answered += office.answered
            if number + 1 < times:
                await asyncio.to_thread(served.start)
    assert "Traceback" not in served.said()
    note(
        f"told to stop, {served.workers} processes: {times} times under load, {answered} requests, "
        f"none dropped, exit code 0; ended after {spread(stops)}"
    )


async def outcomes(served: Served) -> list[Outcome]:
    async with served.behind() as behind, behind.database.read() as tx:
        return [
            deployment.outcome for deployment in await tx.deployments.matching(Wanted()).rows(1000)
        ]


async def prepare(served: Served, token: str) -> str:
    """Two phones in the inventory, and the uuid of a profile that fits them."""
    async with served.line() as line:
        for mac in (MAC, LEFT_ALONE):
            phone = {"mac": mac, "phone_ip": "127.0.0.1"}
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


def test_the_kernel_makes_no_connection_for_whoever_comes_too_late() -> None:
    listener = bound("127.0.0.1", 0)
    listener.listen()
    address = listener.getsockname()
    with listener, socket.create_connection(address):
        let_nobody_in(listener)
        # Who waits in the queue is still accepted; who comes now is not even told.
        assert somebody_waits(listener)
        listener.accept()[0].close()
        with pytest.raises(TimeoutError):
            socket.create_connection(address, timeout=0.3)
        assert not somebody_waits(listener)


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
