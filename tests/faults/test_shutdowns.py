"""Stops and restarts during requests."""

import asyncio
import itertools
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from faults import impatient, patient
from faults.clients import LEFT_ALONE, LEFT_ALONE_FILE, MAC, SOON, Office
from faults.desk import desk
from faults.served import SERVE, Served
from phoneprov_core.switching.deployments.model import DeploymentFilter, Outcome
from phoneprov_http.main.server.protocol import SILENCE_SECONDS
from phoneprov_http.main.server.server import STOP_SECONDS
from races.direct import password_hash
from races.wire import HALF, REST, Line
from support.polling import until
from support.scale import LONG, note, random_choices, rounds, spread

XML = "<device><deviceProtocol>SCCP</deviceProtocol></device>"
SIGNALS = itertools.cycle([signal.SIGHUP, signal.SIGTERM, signal.SIGINT])

Start = Callable[..., Served]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a service."""
    started: list[Served] = []
    password_hash()  # needs its own loop, and is kept

    def start_one(**options: object) -> Served:
        started.append(Served(tmp_path, **options))  # type: ignore[arg-type]
        return started[-1]

    yield start_one
    for service in started:
        service.close()


@pytest.mark.parametrize(
    ("workers", "holds_socket"), rounds([(1, "systemd")], [(1, "fd"), (2, "systemd")])
)
async def test_restart_with_inherited_socket_drops_and_refuses_nothing(
    start: Start, tmp_path: Path, workers: int, holds_socket: str
) -> None:
    times = rounds(1, 6)
    stops: list[float] = []
    answered = 0
    served = start(
        workers=workers, holds_socket=holds_socket, command=SERVE if LONG else patient.COMMAND
    )
    async with desk(tmp_path / "files") as outside:
        # Lasts longer than the last connection, which does not wait for it.
        outside.pauses[LEFT_ALONE_FILE] = SILENCE_SECONDS + SOON
        # Both uploads wait for the stop: half the time of a step at its default.
        served.environment |= outside.settings() | {"PHONEPROV_FTP_TIMEOUT": "15"}
        await asyncio.to_thread(served.start)
        token = await served.token()
        profile = await prepare(served, token)
        for number in range(times):
            chance = random_choices(f"stop {number}")
            office = Office(served, token, profile)
            stopped, over = asyncio.Event(), asyncio.Event()
            outside.open.clear()
            outside.begun.clear()
            try:
                async with asyncio.TaskGroup() as clients:
                    for client in (
                        *(office.reuse_connection(chance, over) for _ in range(12)),
                        *(office.connect_for_each_request(over) for _ in range(4)),
                        office.sends_slowly(stopped),
                        office.switches(outside, stopped),
                    ):
                        clients.create_task(client)
                    await asyncio.wait_for(office.switching.wait(), 120)
                    await asyncio.sleep(chance.uniform(0, 0.5))
                    served.tell(next(SIGNALS))
                    stopped.set()
                    code, seconds = await served.ended(STOP_SECONDS + 30)
                    assert code == 0
                    # No process serves: these requests wait in the socket.
                    waiting = [await Line.open(served.port) for _ in range(5)]
                    for line in waiting:
                        line.send("GET", "/me", token=token)
                    await asyncio.to_thread(served.start)
                    for line in waiting:
                        assert (await line.reply()).status == 200
                        await line.close()
                    over.set()
            finally:
                assert (office.dropped, office.refused) == ([], [])
            # Both switches were completed, with and without a client that waits.
            assert await outcomes(served) == [Outcome.DEPLOYED] * 2 * (number + 1)
            stops.append(seconds)
            answered += office.answered
    assert "Traceback" not in served.log_text()
    note(
        f"restart with a socket of {holds_socket}, {workers} processes: {times} times under load, "
        f"{answered} requests, 0 dropped, 0 refused; ended after {spread(stops)}"
    )


async def outcomes(served: Served) -> list[Outcome]:
    async with served.direct() as direct, direct.database.read() as tx:
        return [
            deployment.outcome
            for deployment in await tx.deployments.matching(DeploymentFilter()).rows(1000)
        ]


async def prepare(served: Served, token: str) -> str:
    """Add two phones to the inventory, and a profile for them; its uuid."""
    async with served.line() as line:
        for mac in (MAC, LEFT_ALONE):
            phone = {"mac": mac, "phone_ip": "127.0.0.1"}
            await line.ask("POST", "/phones", phone, token=token)
        me = (await line.ask("GET", "/me", token=token)).data["uuid"]
        profile = {"user_uuid": me, "name": "Ada", "cnf_xml": XML}
        return str((await line.ask("POST", "/phone-profiles", profile, token=token)).data["uuid"])


@pytest.mark.parametrize("workers", rounds([1], [1, 2]))
async def test_stop_finishes_accepted_requests_and_refuses_connections(
    start: Start, workers: int
) -> None:
    served = start(workers=workers)
    await asyncio.to_thread(served.start)
    await until(lambda: served.log_text().count('"event":"serving"') == workers, 60)
    async with served.line() as line:
        assert (await line.ask("GET", "/nothing")).status == 404
        line.write(HALF)
        served.tell(signal.SIGTERM)
        await until(lambda: asyncio.to_thread(lambda: not served.listens()), 60)
        line.write(REST)
        reply = await line.reply()
        assert (reply.status, reply.headers["connection"]) == (404, "close")
    assert (await served.ended(60))[0] == 0
    log = served.log_text()
    assert log.count("stopping: accepted requests are finished") == workers
    assert log.count('"event":"stopped","unfinished_requests":0') == workers


async def test_stop_waits_for_unfinished_request_until_its_deadline(start: Start) -> None:
    served = start(command=impatient.COMMAND)
    await asyncio.to_thread(served.start)
    async with served.line() as line:
        assert (await line.ask("GET", "/nothing")).status == 404
        line.write(HALF)
        served.tell(signal.SIGTERM)
        code, seconds = await served.ended(impatient.STOP_SECONDS + 30)
    assert code == 0
    assert seconds > impatient.STOP_SECONDS - 0.5
