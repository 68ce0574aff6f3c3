"""One million phones and four million deployments.

``python -m bench.questions.scale fill|measure FOLDER``.

``fill`` creates the database in FOLDER, which takes minutes; ``measure`` starts the service on it,
sends requests and prints a table. The database is kept until ``remove``. Run ``measure`` alone on
the machine.
"""

import contextlib
import http.client
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import msgspec

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from bench.batch_rate import surroundings
from bench.process import Server, descendants, server
from bench.report import put_between
from bench.world import KEY, PostgresWorld, SqliteWorld, World, person
from phoneprov_adapters.security.crypto import SecretBox
from phoneprov_adapters.security.keys import SecretKeys
from phoneprov_adapters.sql import tables
from phoneprov_adapters.sql.tables.columns import SealedColumn
from phoneprov_core.inventory.phones.model import PHONE_FIELDS, Phone
from support.postgres_binaries import as_server_user, binaries

PAGE = Path("docs/explanation/scale.md")
PEOPLE = 1_000
PROFILES = 10_000
YEARS_DAYS = 730
CONFIGURATION = "<device><deviceProtocol>SCCP</deviceProtocol>" + " " * 8000 + "</device>\n"
_BOX = SecretBox(SecretKeys.parse(KEY))
_NOW = datetime.now(UTC)
_STEPS = json.dumps(
    [
        {"name": name, "ok": True, "message": None, "duration_ms": 40}
        for name in ("upload", "clear_session", "restart")
    ]
)
Row = dict[str, Any]


def mac(number: int) -> str:
    """The MAC of a phone."""
    digits = f"00{number:010X}"
    return ":".join(digits[at : at + 2] for at in range(0, 12, 2))


def uuid(number: int, kind: str) -> str:
    """An identifier whose order differs from that of the numbers, like those of the service."""
    return f"{number * 2654435761 % 2**32:08x}-0000-4000-{kind}-{number:012x}"


def _moment(days_ago: float) -> str:
    return (_NOW - timedelta(days=days_ago)).isoformat(timespec="milliseconds")[:23] + "Z"


def _phones(count: int, turns: int) -> Iterator[Row]:
    luck = random.Random(1)
    for number in range(count):
        at = _moment(YEARS_DAYS * (1 - number / count))
        phone = Phone(
            mac(number), "Cisco", f"CP-79{luck.choice((45, 65, 75))}G", None,
            f"Desk {number} {luck.choice(('Ada', 'Grace', 'Emilie', 'Linus'))}",
            f"SEP{mac(number).replace(':', '')}", f"floor {luck.randrange(90)}",
            f"127.{number >> 16}.{number >> 8 & 255}.{number & 255}", None,
            "SCCP45.9-4-2SR3-1S", "SCCP", True, at, at,
        )  # fmt: skip
        yield {
            **msgspec.structs.asdict(phone), "search": PHONE_FIELDS.text(phone),
            "last_outcome": "deployed", "last_number": turns, "noted": "",
        }  # fmt: skip


def _profiles(count: int) -> Iterator[Row]:
    for number in range(count):
        at = _moment(YEARS_DAYS)
        yield {
            "uuid": uuid(number, "a001"), "user_uuid": person(number % PEOPLE),
            "name": f"Profile {number}", "description": None, "compatible_models": "[]",
            "software_type": None, "created_at": at, "updated_at": at,
            "search": f"profile {number}",
        }  # fmt: skip


def _revisions(count: int) -> Iterator[Row]:
    hashes = SealedColumn(tables.metadata.tables["profile_revisions"], "sha256")
    configurations = SealedColumn(tables.metadata.tables["profile_revisions"], "cnf_xml")
    for number in range(count):
        key = uuid(number, "a002")
        yield {
            "uuid": key, "profile_uuid": uuid(number, "a001"), "number": 1,
            **hashes.seal(_BOX, bytes.fromhex(f"{number:064x}"), key),
            "size": len(CONFIGURATION) + number % 97,
            **configurations.seal(_BOX, CONFIGURATION.encode(), key),
            "created_at": _moment(YEARS_DAYS), "created_by": None,
        }  # fmt: skip


def _deployments(phones: int, count: int) -> Iterator[Row]:
    """Deployments in the order of time. Each phone alternates between two profiles, as at a shared
    desk."""
    hashes = SealedColumn(tables.metadata.tables["deployments"], "sha256")
    for number in range(count):
        phone, turn = number % phones, number // phones
        profile = (phone + turn % 2) % PROFILES
        at = _moment(YEARS_DAYS * (1 - number / count))
        key = uuid(number, "a003")
        yield {
            "uuid": key, "mac": mac(phone), "number": turn + 1, "action": "switch",
            "profile_uuid": uuid(profile, "a001"), "profile_name": f"Profile {profile}",
            "revision": 1, **hashes.seal(_BOX, bytes.fromhex(f"{profile:064x}"), key),
            "size": len(CONFIGURATION) + profile % 97, "owner_uuid": person(profile % PEOPLE),
            "user_uuid": person(profile % PEOPLE),
            "filename": f"SEP{mac(phone).replace(':', '')}.cnf.xml", "place": "ftp://10.0.0.1:21/",
            "outcome": "deployed", "failed_step": None, "message": None, "steps": _STEPS,
            "restart": "ok", "confirmation": "confirmed", "confirmation_message": None,
            "confirmation_by": at, "confirmation_at": at, "created_at": at, "ended_at": at,
        }  # fmt: skip


def _leases(phones: int, count: int) -> Iterator[Row]:
    """A released lease of each phone; its fence is the number of the last deployment."""
    for phone in range(min(phones, count)):
        fence = (count - phone - 1) // phones + 1
        yield {
            "mac": mac(phone), "holder": uuid(phone, "a003"), "process": "", "fence": fence,
            "expires_at": 0,
        }  # fmt: skip


def _current(phones: int, count: int) -> Iterator[Row]:
    for number in range(max(0, count - phones), count):
        yield {
            "mac": mac(number % phones), "number": number // phones + 1,
            "created_at": _moment(YEARS_DAYS * (1 - number / count)),
            "uuid": uuid(number, "a003"), "owner_uuid": person(number % phones % PEOPLE),
            "profile_name": f"Profile {(number % phones + number // phones % 2) % PROFILES}",
        }  # fmt: skip


def _audit(phones: int, count: int) -> Iterator[Row]:
    for number in range(count):
        changes = {"location": {"old": None, "new": f"floor {number % 90}"}}
        yield {
            "uuid": uuid(number, "a004"), "at": _moment(YEARS_DAYS * (1 - number / count)),
            "actor_uuid": person(number % PEOPLE), "actor": f"person{number % PEOPLE}",
            "client_ip": "192.0.2.1", "request_id": f"{number:032x}", "action": "phone.updated",
            "resource": "phone", "resource_id": mac(number % phones),
            "changes": json.dumps(changes), "traceparent": None,
        }  # fmt: skip


def _values(table: str, rows: Iterator[Row]) -> Iterator[tuple[Any, ...]]:
    names = tables.metadata.tables[table].columns.keys()
    return (tuple(row.get(name) for name in names) for row in rows)


@contextlib.contextmanager
def _postgres(folder: Path) -> Iterator[World]:
    """Run a server on a folder that is kept; creates the folder if it does not exist."""
    data = folder / "data"
    as_user = as_server_user(folder)
    if os.geteuid() == 0:
        os.chown(folder, as_user["user"], as_user["group"])
    if not data.exists():
        made = [str(binaries() / "initdb"), "-D", str(data), "-U", "postgres", "--auth=trust"]
        subprocess.run(
            [*made, "--no-locale", "-E", "UTF8"], check=True, stdout=sys.stderr, **as_user
        )
    settings = ("shared_buffers=1GB", "maintenance_work_mem=512MB", "max_wal_size=8GB",
                "listen_addresses=")  # fmt: skip
    options = [option for one in settings for option in ("-c", one)]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [str(binaries() / "postgres"), "-D", str(data), "-k", str(folder), *options],
            stdout=log, stderr=log, start_new_session=True, **as_user,
        )  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        status = data / "postmaster.pid"
        while not (status.exists() and "ready" in status.read_text()):
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError(f"PostgreSQL did not start: see {folder / 'log'}")
            time.sleep(0.05)
        yield PostgresWorld(f"postgresql+asyncpg://postgres@/postgres?host={folder}", process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(120)


@contextlib.contextmanager
def _sqlite(folder: Path) -> Iterator[World]:
    yield SqliteWorld(folder)


DATABASES = {"sqlite": _sqlite, "postgresql": _postgres}
_database = click.option("--database", type=click.Choice(sorted(DATABASES)), default="sqlite")
_folder = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))


@click.group()
def scale() -> None:
    """Figures of a large installation."""


@scale.command()
@_folder
@_database
@click.option("--phones", default=1_000_000, show_default=True)
@click.option("--deployments", default=4_000_000, show_default=True)
@click.option("--audit", default=1_000_000, show_default=True)
def fill(folder: Path, database: str, phones: int, deployments: int, audit: int) -> None:
    """Fill a new database in FOLDER."""
    folder.mkdir(parents=True)
    began = time.monotonic()
    with DATABASES[database](folder) as world:
        world.fill(PEOPLE)
        for table, rows in {
            "phones": _phones(phones, deployments // phones),
            "profiles": _profiles(PROFILES),
            "profile_revisions": _revisions(PROFILES),
            "deployments": _deployments(phones, deployments),
            "leases": _leases(phones, deployments),
            "current_deployments": _current(phones, deployments),
            "audit": _audit(phones, audit),
        }.items():
            start = time.monotonic()
            world.load(table, _values(table, rows))
            click.echo(f"{table}: {time.monotonic() - start:.0f} s", err=True)
        world.run("ANALYZE")
        seconds = time.monotonic() - began
    (folder / "filled.json").write_text(
        json.dumps({"seconds": seconds, "phones": phones, "deployments": deployments})
    )
    click.echo(f"{database}: filled in {seconds:.0f} s, {_size(folder) / 1e9:.2f} GB")


def _size(folder: Path) -> int:
    """Bytes of the database, without the log of PostgreSQL."""
    files = (file for file in folder.rglob("*") if file.is_file() and "pg_wal" not in file.parts)
    return sum(file.stat().st_size for file in files if file.name not in {"log", "filled.json"})


class Asker:
    """A caller with level 0 on one connection."""

    def __init__(self, running: Server, token: str) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=300)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def __call__(self, method: str, path: str, body: object = None) -> tuple[float, bytes]:
        """Send a request; milliseconds, and the body of the response. Raises RuntimeError for an
        error response."""
        content = None if body is None else json.dumps(body)
        began = time.perf_counter()
        self._connection.request(method, f"/api/v1{path}", content, self._headers)
        reply = self._connection.getresponse()
        said = reply.read()
        if reply.status >= 300:
            raise RuntimeError(f"{method} {path}: {reply.status} {said[:300]!r}")
        return (time.perf_counter() - began) * 1000, said


class Found:
    """The figures, as lines of a table."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def add(self, name: str, value: str) -> None:
        """A figure."""
        click.echo(f"{name}: {value}", err=True)
        self.lines.append((name, value))

    def times(self, name: str, ask: Callable[[int], float], rounds: int) -> None:
        """Median and maximum of several requests, after one that is not counted."""
        ask(-1)
        taken = sorted(ask(number) for number in range(rounds))
        self.add(name, f"{taken[len(taken) // 2]:.1f} ms (at most {taken[-1]:.1f})")


@scale.command()
@_folder
@_database
@click.option("--service", default=sys.executable, help="The Python that phoneprov runs with.")
@click.option("--prune-seconds", default=60, show_default=True)
@click.option("--write", is_flag=True, help=f"Write {PAGE}.")
@click.option("--part", type=click.Choice(["requests", "maintenance"]), multiple=True)
def measure(
    folder: Path,
    database: str,
    service: str,
    prune_seconds: int,
    part: tuple[str, ...],
    *,
    write: bool,
) -> None:
    """Measure the service on the database in FOLDER."""
    filled = json.loads((folder / "filled.json").read_text())
    found = Found()
    found.add("size of the database", f"{_size(folder) / 1e9:.2f} GB")
    found.add("time to fill it in bulk", f"{filled['seconds']:.0f} s")
    with (
        DATABASES[database](folder) as world,
        tempfile.TemporaryDirectory(prefix="phoneprov-scale-") as temporary,
        surroundings(Path(temporary), restart="none") as (environment, _),
    ):
        world.log_in_again()
        environment |= {
            "PHONEPROV_DATABASE_URL": world.url,
            "PHONEPROV_SECRET_KEYS": KEY,
            "PHONEPROV_DATA_DIR": temporary,
            "PHONEPROV_SWITCHES_PER_PHONE": "0",
            "PHONEPROV_PHONES_PER_CALLER": "0",
        }
        began = time.perf_counter()
        with _service(service, environment, Path(temporary)) as running:
            found.add("start to first answer", f"{(time.perf_counter() - began) * 1000:.0f} ms")
            found.add("memory when idle", f"{running.memory_mib():.0f} MiB")
            ask = Asker(running, world.tokens()[0])
            if not part or "requests" in part:
                _requests(found, ask, running, filled["phones"])
            if not part or "maintenance" in part:
                _maintenance(
                    found, ask, world, service, environment, prune_seconds, filled["phones"]
                )
            found.add("memory at the end", f"{running.memory_mib():.0f} MiB")
    lines = [
        "| Figure | |",
        "|---|---:|",
        *(f"| {name} | {value} |" for name, value in found.lines),
    ]
    click.echo("\n".join(lines))
    if write:
        put_between(PAGE, f"scale on {database}", "\n".join(lines))


@contextlib.contextmanager
def _service(python: str, environment: dict[str, str], folder: Path) -> Iterator[Server]:
    command = [python, "-m", "phoneprov_http.main", "serve", "--port", "{port}"]
    with server(
        "phoneprov", command, environment,
        processors=set(range(os.cpu_count() or 1)), folder=folder, ready="/health/ready",
    ) as running:  # fmt: skip
        yield running


def _requests(found: Found, ask: Asker, running: Server, phones: int) -> None:
    luck = random.Random(2)

    def got(path: str) -> Callable[[int], float]:
        return lambda _: ask("GET", path)[0]

    def middle(path: str) -> str:
        """The uuid of an entry in the middle of a list that is paged by key."""
        cut = _moment(YEARS_DAYS / 2)
        page = json.loads(ask("GET", path.format(cut=cut))[1])["data"]
        return str(page[-1]["uuid"])

    def read(_: int) -> float:
        return ask("GET", f"/phones/{mac(luck.randrange(phones))}")[0]

    found.times("`GET /phones/{mac}`", read, 500)
    found.times("`GET /phones?limit=100`, with its exact total", got("/phones?limit=100"), 9)
    half = f"/phones?limit=100&offset={phones // 2}"
    found.times("the same in the middle (`offset`)", got(half), 9)
    found.times("`GET /deployments?limit=100`, with its total", got("/deployments?limit=100"), 9)
    newest = json.loads(ask("GET", "/audit?limit=1")[1])["data"][0]["uuid"]
    found.times("`GET /audit?limit=100`", got("/audit?limit=100"), 30)
    found.times("page of the audit trail by key", got(f"/audit?limit=100&before={newest}"), 30)
    halfway = middle("/audit?limit=1&until={cut}")
    found.times("the same in the middle", got(f"/audit?limit=100&before={halfway}"), 30)
    first = uuid(0, "a003")
    for name, key in (("first", 4 * phones - 1), ("middle", 2 * phones)):
        path = f"/deployments?limit=100&before={uuid(key, 'a003')}"
        found.times(f"page of the deployments by key, {name}", got(path), 30)
    found.times("`GET /deployments/{uuid}`", got(f"/deployments/{first}"), 100)
    found.times(
        "deployments of a phone",
        lambda _: ask("GET", f"/phones/{mac(luck.randrange(phones))}/deployments")[0],
        100,
    )
    current = "/deployments?current=true&limit=100"
    found.times("`GET /deployments?current=true&limit=100`", got(current), 3)
    for name, query in {
        "one MAC": f"q={mac(4711)}",
        "one in four": "q=ada",
        "no match": "q=zacharias",
        "a filter, 1 in 90": "location=floor%207",
    }.items():
        found.times(f"search in phones: {name}", got(f"/phones?limit=100&{query}"), 5)
    seconds, said = ask("GET", "/phones")
    found.add(
        "`GET /phones`, all of them",
        f"{seconds / 1000:.1f} s, {len(said) / 1e6:.0f} MB; the service takes at most "
        f"{running.peak_mib():.0f} MiB",
    )
    found.times("switch: upload, read back twice, record", _switch(ask, luck, phones), 30)


def _switch(ask: Asker, luck: random.Random, phones: int) -> Callable[[int], float]:
    def switch(_: int) -> float:
        wanted = {
            "profile_uuid": uuid(luck.randrange(PROFILES), "a001"),
            "mac": mac(luck.randrange(phones)),
        }
        return ask("POST", "/phone-profiles/switch", wanted)[0]

    return switch


def _maintenance(
    found: Found,
    ask: Asker,
    world: World,
    python: str,
    environment: dict[str, str],
    prune_seconds: int,
    phones: int,
) -> None:
    inherited = {**os.environ, **environment}
    command = [python, "-m", "phoneprov_http.main"]
    with tempfile.TemporaryDirectory(prefix="phoneprov-backup-") as folder:
        target = Path(folder) / "backup"
        if isinstance(world, PostgresWorld):
            dump = str(binaries() / "pg_dump")
            address = world.url.replace("+asyncpg", "")
            backing_up = [dump, "--format=custom", f"--file={target}", address]
        else:
            backing_up = [*command, "backup", str(target)]
        with _running(backing_up, inherited) as backup:
            taken = _while(backup, _switch(ask, random.Random(3), phones))
        size = target.stat().st_size / 1e9
        found.add("backup while switching", f"{taken.seconds:.0f} s, {size:.2f} GB")
        found.add("switches meanwhile", taken.shown())
    before = world.count("deployments")
    with _running([*command, "prune"], inherited) as prune:
        threading.Timer(prune_seconds, prune.terminate).start()
        taken = _while(prune, _switch(ask, random.Random(4), phones))
    removed = before - world.count("deployments") + len(taken.times)
    found.add(
        "deployments that a retention pass removed", f"{removed / taken.seconds:,.0f} a second"
    )
    found.add("switches meanwhile", taken.shown())


class _Taken(msgspec.Struct):
    seconds: float
    times: list[float]

    def shown(self) -> str:
        times = sorted(self.times)
        return (
            f"{len(times)}, {times[len(times) // 2]:.0f} ms (at most {times[-1]:.0f})"
            if times
            else "none"
        )


def _while(process: subprocess.Popen[bytes], ask: Callable[[int], float]) -> _Taken:
    """Repeat a request until a process ends."""
    began, taken = time.monotonic(), []
    while process.poll() is None:
        taken.append(ask(0))
    return _Taken(time.monotonic() - began, taken)


@contextlib.contextmanager
def _running(command: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, env=environment, stdout=sys.stderr)
    try:
        yield process
    finally:
        for pid in descendants(process.pid):
            os.kill(pid, signal.SIGTERM)
        process.terminate()
        process.wait(30)


@scale.command()
@_folder
def remove(folder: Path) -> None:
    """Remove the database in FOLDER."""
    shutil.rmtree(folder)


if __name__ == "__main__":
    scale()
