"""The numbers of a fleet of 20,000 phones with a year of deployments, and the processor time of one
round of the watch over it, with its files. ``python -m bench.questions.fleet``."""

import argparse
import asyncio
import hashlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from bench.outside import FTP_PASSWORD, FTP_USER, ftp_process, started
from bench.process import Server
from bench.questions import scale
from bench.questions.scale import Asker, Row
from bench.world import KEY, World
from faults.phones import LOAD, MODEL, Phones, host
from phoneprov_adapters.composition.lifecycle import prepare, running
from phoneprov_adapters.composition.settings import read_settings
from phoneprov_adapters.runtime.tasks import system_clock
from phoneprov_adapters.simulator.web import WebPhone
from phoneprov_adapters.sql import tables
from phoneprov_adapters.sql.tables.columns import SealedColumn

ROUND = 1800.0
"""Seconds of a round."""
SIZE = 8192
"""Bytes of a configuration."""
OUTCOMES = ("deployed",) * 17 + ("failed", "deployed", "unknown")
STATES = ("fine",) * 17 + ("unreachable", "foreign", "file_changed")


def filename(number: int) -> str:
    """The file of a phone."""
    return f"SEP{scale.mac(number).replace(':', '')}.cnf.xml"


def content(number: int) -> bytes:
    """The configuration of a phone."""
    return f"<device><number>{number}</number>".encode().ljust(SIZE - 9) + b"</device>"


def phone_rows(phones: int) -> Iterator[Row]:
    """Phones at addresses of loopback."""
    for number, row in enumerate(scale._phones(phones, 1)):
        ip, outcome = host(number), OUTCOMES[number % len(OUTCOMES)]
        found = {"phone_ip": ip, "model": MODEL, "software_version": LOAD, "last_outcome": outcome}
        yield row | found | {"created_at": scale._moment(730)}


def state_rows(phones: int) -> Iterator[Row]:
    """What was seen of all phones but a few."""
    for number in range(phones):
        if number % 50:
            at = scale._moment(number % 300)
            state = STATES[number % len(STATES)]
            yield {
                "mac": scale.mac(number), "state": state, "since": at, "seen_at": at,
                "answers": True, "misses": 0, "reported_load": f"load {number % 4}",
                "file": "unknown",
            }  # fmt: skip


def deployment_rows(phones: int, count: int, *, are_files: bool) -> Iterator[Row]:
    """Deployments of the last year; if they ``are_files``, one of the file of each phone."""
    hashes = SealedColumn(tables.metadata.tables["deployments"], "sha256")
    for number, row in enumerate(scale._deployments(phones, count)):
        at = scale._moment(365 * (1 - number / count))
        found: dict[str, Any] = {"created_at": at, "outcome": OUTCOMES[number % len(OUTCOMES)]}
        if are_files:
            digest = hashlib.sha256(content(number)).digest()
            found |= hashes.seal(scale._BOX, digest, row["uuid"])
            found |= {"size": SIZE, "filename": filename(number), "outcome": "deployed"}
        yield row | found


def fill(world: World, phones: int, deployments: int, *, is_seen: bool) -> None:
    """Fill the database."""
    world.fill(scale.PEOPLE)
    found = {
        "phones": phone_rows(phones),
        "deployments": deployment_rows(phones, deployments, are_files=not is_seen),
        "current_deployments": scale._current(phones, deployments),
    }
    if is_seen:
        found["phone_states"] = state_rows(phones)
    for table, rows in found.items():
        world.load(table, scale._values(table, rows))
    world.run("ANALYZE")


def numbers(world: World, folder: Path, phones: int, deployments: int) -> None:
    """Print how long ``GET /fleet`` takes."""
    fill(world, phones, deployments, is_seen=True)
    environment = {
        "PHONEPROV_DATABASE_URL": world.url, "PHONEPROV_SECRET_KEYS": KEY,
        "PHONEPROV_DATA_DIR": str(folder),
    }  # fmt: skip
    print(f"{world.name}, {phones:,} phones with {deployments:,} deployments of a year")
    for what in ("first start", "next start"):
        began = time.perf_counter()
        with scale._service(sys.executable, environment, folder) as service:
            ready = time.perf_counter() - began
            ask = Asker(service, world.tokens()[0])
            taken = [ask("GET", "/fleet?days=365")[0] for _ in range(51)]
            cpu = service.cpu_seconds()
            for _ in range(50):
                ask("GET", "/fleet?days=365")
            cpu = (service.cpu_seconds() - cpu) / 50 * 1000
            days = json.loads(ask("GET", "/fleet?days=365")[1])["data"]["days"]
            counted = sum(sum(one["outcomes"].values()) for one in days)
        print(
            f"{what} ({ready:.1f} s): GET /fleet?days=365: first reader {taken[0]:.1f} ms, "
            f"then {statistics.median(taken[1:]):.1f} ms (at most {max(taken[1:]):.1f}), with "
            f"{cpu:.1f} ms of processor in the service; {counted:,} in {len(days)} days"
        )


class Fast:
    """A clock and pauses that are ``times`` as fast."""

    def __init__(self, times: float) -> None:
        self._times = times
        self._begin, self._at = time.monotonic(), system_clock()

    def clock(self) -> datetime:
        """The time."""
        return self._at + timedelta(seconds=(time.monotonic() - self._begin) * self._times)

    async def pause(self, seconds: float) -> None:
        """A pause."""
        await asyncio.sleep(seconds / self._times)


async def rounds(environment: dict[str, str], times: float, postgres: int | None) -> None:
    """Print what three rounds cost: the first one reads each file, and has each state to store."""
    fast = Fast(times)
    container = prepare(read_settings(environment), clock=fast.clock, pause=fast.pause)
    async with running(container):
        watch = container.watch_fleet()
        assert watch.files is not None
        for number in range(1, 4):
            cpu, database, began = time.process_time(), _cpu_of(postgres), time.monotonic()
            looks, files = await asyncio.gather(
                watch.round(ROUND), watch.files.round(ROUND, watch._keep_file, lambda: True)
            )
            wall, cpu = time.monotonic() - began, time.process_time() - cpu
            database = _cpu_of(postgres) - database
            print(
                f"round {number}: {looks.requests:,} requests, {looks.changes:,} states changed, "
                f"{files.read:,} files read, {len(files.failures)} failures; {cpu:.1f} s of "
                f"processor in the service ({cpu / ROUND:.1%} of one in {ROUND / 60:.0f} minutes), "
                f"{database:.1f} s in PostgreSQL; {wall:.0f} s",
                flush=True,
            )


def _cpu_of(pid: int | None) -> float:
    if pid is None:
        return 0.0
    return Server("postgres", _Process(pid), 0, Path()).cpu_seconds()  # type: ignore[arg-type]


class _Process:
    def __init__(self, pid: int) -> None:
        self.pid = pid


def phones_process(parent: Any) -> None:
    """Run the web server of all phones; sends its port to ``parent``."""

    async def serve() -> None:
        phones = Phones(lambda n: WebPhone(mac=scale.mac(n), model=MODEL, load=LOAD, name=""))
        parent.send(await phones.start("0.0.0.0", 0))  # noqa: S104 - of every phone
        await asyncio.Event().wait()

    asyncio.run(serve())


def watched(world: World, folder: Path, phones: int, times: float) -> None:
    """Print what rounds over the fleet cost."""
    fill(world, phones, phones, is_seen=False)
    root = folder / "ftp"
    root.mkdir()
    for number in range(phones):
        (root / filename(number)).write_bytes(content(number))
    pid = getattr(world, "_pid", None)
    with started(phones_process) as web, started(ftp_process, str(root)) as ftp:
        environment = {
            "PHONEPROV_DATABASE_URL": world.url, "PHONEPROV_SECRET_KEYS": KEY,
            "PHONEPROV_DATA_DIR": str(folder), "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
            "PHONEPROV_PHONE_HTTP_PORT": str(web), "PHONEPROV_FTP_HOST": "127.0.0.1",
            "PHONEPROV_FTP_PORT": str(ftp), "PHONEPROV_FTP_USER": FTP_USER,
            "PHONEPROV_FTP_PASSWORD": FTP_PASSWORD, "PHONEPROV_FTP_TIMEOUT": "15",
        }  # fmt: skip
        print(f"{world.name}, {phones:,} phones, {phones:,} files of {SIZE:,} bytes")
        asyncio.run(rounds(environment, times, pid))


def main() -> None:
    """Measure one part on one database."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["numbers", "watch"])
    parser.add_argument("--database", choices=sorted(scale.DATABASES), default="sqlite")
    parser.add_argument("--phones", type=int, default=20_000)
    parser.add_argument("--deployments", type=int, default=300_000)
    parser.add_argument("--times", type=float, default=10.0, help="how much faster the time runs")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="phoneprov-fleet-") as made:
        folder = Path(made)
        (folder / "database").mkdir()
        folder.chmod(0o711)
        with scale.DATABASES[given.database](folder / "database") as world:
            if given.part == "numbers":
                numbers(world, folder, given.phones, given.deployments)
            else:
                watched(world, folder, given.phones, given.times)


if __name__ == "__main__":
    main()
