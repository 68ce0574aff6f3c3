"""What is measured, and on whom."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import argon2
import msgspec
from msgspec import Struct

from bench.load import Load, Measured, plain, round_of, start, told
from bench.process import Server, pinned, server
from bench.world import KEY, PASSWORD, SESSIONS, World, person
from phoneprov_adapters.security.argon2 import PARAMETERS

OURS, PEER, FLOOR = "phoneprov", "peer", "floor"
SERVING, ASKING = 0, 1
"""Processors."""

PEOPLE = 1_000
MANY_PEOPLE = 10_000
Say = Callable[[str], None]


class Plan(Struct, frozen=True):
    """How long to measure what; ``only`` names cases, all of them when it is empty, and
    ``service`` the Python that runs ours."""

    rounds: int
    seconds: float
    only: frozenset[str]
    rows: int
    service: str

    def wants(self, name: str) -> bool:
        """Whether a case is to be measured."""
        return not self.only or name in self.only


class Figures(Struct):
    """What was found on one database. ``cases`` has medians by case and stack, ``memory`` the
    mebibytes of the largest process by stack; ``notes`` are single figures by their name."""

    database: str
    cases: dict[str, dict[str, Measured]] = {}
    memory: dict[str, float] = {}
    notes: dict[str, float] = {}

    def ratio(self, case: str, to: str) -> float | None:
        """How many times the rate of another stack ours is."""
        found = self.cases.get(case, {})
        if OURS not in found or to not in found:
            return None
        return found[OURS].rate / found[to].rate


def measure(world: World, plan: Plan, folder: Path, say: Say) -> Figures:
    """All cases that are wanted, on one database."""
    figures = Figures(world.name)
    world.fill(PEOPLE)
    figures.notes["start"], figures.notes["idle"] = _started(world, plan, folder)
    with _stacks(world, plan, folder, (OURS, PEER, FLOOR)) as stacks:
        for name, load in {
            "read": lambda _: Load(_reads(world, PEOPLE)),
            "list of 1,000": lambda _: Load(_lists(world), connections=8),
            "create": lambda number: Load(_creations(world), first_number=number),
            "refresh": lambda _: Load(world.fresh_refresh_tokens(), "refresh", connections=16),
        }.items():
            if plan.wants(name):
                figures.cases[name] = _in_turn(name, load, stacks, plan, folder, say)
        if plan.wants("login"):
            some = {name: stacks[name] for name in (OURS, PEER)}
            logins = Load(_logins(), connections=16)
            figures.cases["login"] = _in_turn("login", lambda _: logins, some, plan, folder, say)
            figures.notes["bare hashes"] = _bare_hashes(plan.seconds)
            _reads_beside_logins(world, stacks[OURS], plan, folder, figures)
        figures.memory = {name: one.memory_mib() for name, one in stacks.items()}
    if plan.wants("list of 10,000"):
        world.fill(MANY_PEOPLE)
        with _stacks(world, plan, folder, (OURS, PEER, FLOOR)) as stacks:
            lists = Load(_lists(world), connections=4)
            figures.cases["list of 10,000"] = _in_turn(
                "list of 10,000", lambda _: lists, stacks, plan, folder, say
            )
            figures.memory |= {f"{name}, 10,000": one.peak_mib() for name, one in stacks.items()}
    if plan.wants("workers"):
        _two_workers(world, plan, folder, figures, say)
    if plan.wants("large"):
        _large(world, plan, folder, figures, say)
    return figures


def _in_turn(
    name: str,
    load: Callable[[int], Load],
    stacks: Mapping[str, Server],
    plan: Plan,
    folder: Path,
    say: Say,
) -> dict[str, Measured]:
    rounds: dict[str, list[Measured]] = {stack: [] for stack in stacks}
    number = 0
    for _ in range(plan.rounds):
        for stack, running in stacks.items():
            number += 10_000_000
            found = round_of(load(number), running, plan.seconds, ASKING, folder / "requests")
            rounds[stack].append(found)
            say(f"{name}, {stack}: {found.rate:.0f} a second, p99 {found.p99:.1f} ms")
    return {stack: _median(found) for stack, found in rounds.items()}


def _median(found: list[Measured]) -> Measured:
    fields = {
        name: statistics.median(getattr(one, name) for one in found)
        for name in Measured.__struct_fields__
    }
    return Measured(**{**fields, "failed": sum(one.failed for one in found)})


def _reads(world: World, people: int) -> list[str]:
    tokens = world.tokens()
    step = max(1, people // len(tokens))
    return [
        plain("GET", f"/api/v1/users/{person(number * step)}", token)
        for number, token in enumerate(tokens)
    ]


def _lists(world: World) -> list[str]:
    return [plain("GET", "/api/v1/users", token) for token in world.tokens()[:16]]


def _creations(world: World) -> list[str]:
    phone = {"mac": "@MAC@", "brand": "Cisco", "model": "CP-7945G", "phone_ip": "10.1.2.3"}
    body = msgspec.json.encode(phone).decode()
    return [plain("POST", "/api/v1/phones", token, body) for token in world.tokens()]


def _logins() -> list[str]:
    return [
        plain("POST", "/api/v1/auth/login", "", msgspec.json.encode(sent).decode())
        for sent in ({"username": f"person{n}", "password": PASSWORD} for n in range(SESSIONS))
    ]


def _bare_hashes(seconds: float) -> float:
    """Passwords checked a second by the library alone, in one thread on the same processor."""
    hasher = argon2.PasswordHasher.from_parameters(PARAMETERS)
    encoded = hasher.hash(PASSWORD)

    def check() -> float:
        with pinned({SERVING}):
            began, times = time.perf_counter(), 0
            while (took := time.perf_counter() - began) < seconds:
                hasher.verify(encoded, PASSWORD)
                times += 1
            return times / took

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(check).result()


def _reads_beside_logins(
    world: World, ours: Server, plan: Plan, folder: Path, figures: Figures
) -> None:
    """The p99 of a few readers, by themselves and while logins fill the hashing pool."""
    reads = Load(_reads(world, PEOPLE), connections=4)
    alone, beside = [], []
    for _ in range(plan.rounds):
        alone.append(round_of(reads, ours, plan.seconds, ASKING, folder / "requests").p99)
        logins = start(
            Load(_logins(), connections=16), ours.url, plan.seconds + 2, ASKING, folder / "logins"
        )
        time.sleep(1)
        beside.append(round_of(reads, ours, plan.seconds, ASKING, folder / "requests").p99)
        told(logins, plan.seconds)
    figures.notes["reads alone, p99"] = statistics.median(alone)
    figures.notes["reads beside logins, p99"] = statistics.median(beside)


def _two_workers(world: World, plan: Plan, folder: Path, figures: Figures, say: Say) -> None:
    """One worker and two, on both processors, the load beside them."""
    for workers in (1, 2):
        with _serving(
            world, plan, OURS, folder, processors={SERVING, ASKING}, workers=workers
        ) as ours:
            median = _reading(world, PEOPLE, ours, plan, folder)
        figures.notes[f"{workers} worker(s), rate"] = median.rate
        figures.notes[f"{workers} worker(s), processor"] = median.cpu
        say(f"{workers} worker(s): {median.rate:.0f} a second, {median.cpu:.0f} us of processor")


def _large(world: World, plan: Plan, folder: Path, figures: Figures, say: Say) -> None:
    """A read among few records, and among very many."""
    for people in (world.people, plan.rows):
        world.fill(people)
        with _serving(world, plan, OURS, folder) as ours:
            rate = _reading(world, people, ours, plan, folder).rate
        figures.notes[f"rate among {people:,}"] = rate
        say(f"read among {people:,}: {rate:.0f} a second")


def _reading(world: World, people: int, ours: Server, plan: Plan, folder: Path) -> Measured:
    reads = Load(_reads(world, people))
    return _median(
        [
            round_of(reads, ours, plan.seconds, ASKING, folder / "requests")
            for _ in range(plan.rounds)
        ]
    )


def _started(world: World, plan: Plan, folder: Path) -> tuple[float, float]:
    """Seconds from the command to the first answer, and the mebibytes it then takes."""
    took, memory = [], []
    for _ in range(plan.rounds + 1):
        began = time.perf_counter()
        with _serving(world, plan, OURS, folder) as ours:
            took.append(time.perf_counter() - began)
            memory.append(ours.memory_mib())
    # The first has to compile and to read from the disk.
    return statistics.median(took[1:]), statistics.median(memory)


@contextmanager
def _stacks(
    world: World, plan: Plan, folder: Path, names: tuple[str, ...]
) -> Iterator[dict[str, Server]]:
    with ExitStack() as all_:
        yield {name: all_.enter_context(_serving(world, plan, name, folder)) for name in names}


@contextmanager
def _serving(
    world: World,
    plan: Plan,
    name: str,
    folder: Path,
    *,
    processors: set[int] | None = None,
    workers: int = 1,
) -> Iterator[Server]:
    environment = {
        "PHONEPROV_DATABASE_URL": world.url,
        "PHONEPROV_SECRET_KEYS": KEY,
        "PHONEPROV_DATA_DIR": str(folder),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    usual = ["--port", "{port}", "--no-access-log", "--log-level", "warning"]
    command = {
        OURS: ["-m", "phoneprov_http.main", "serve", "--port", "{port}", "--workers", str(workers)],
        PEER: ["-m", "uvicorn", "bench.stacks.peer:app", *usual],
        FLOOR: ["-m", "uvicorn", "bench.stacks.floor:app", "--lifespan", "off", *usual],
    }[name]
    with server(
        name,
        [plan.service if name == OURS else sys.executable, *command],
        environment,
        processors=processors or {SERVING},
        folder=folder,
        ready="/health/ready",
    ) as running:
        yield running
