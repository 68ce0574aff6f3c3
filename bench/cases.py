"""The cases, and the stacks on which they are measured."""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import argon2
from msgspec import Struct

from bench.load import Load, Measured, figures_of, round_beside, round_of, start
from bench.load.lines import creations, lists, logins, reads
from bench.process import Server, pinned
from bench.serving import ASKING, FLOOR, OURS, PEER, SERVING, serving
from bench.world import PASSWORD, World
from phoneprov_adapters.security.credentials import PARAMETERS

WARM_SECONDS = 1.0

PEOPLE = 1_000
MANY_PEOPLE = 10_000
Say = Callable[[str], None]


class Plan(Struct, frozen=True):
    """Duration and number of the rounds. ``only`` names the cases that are measured, empty for all;
    ``service`` is the Python that runs the service."""

    rounds: int
    seconds: float
    only: frozenset[str]
    rows: int
    service: str

    def wants(self, name: str) -> bool:
        """Whether a case is selected."""
        return not self.only or name in self.only


class Beside(Struct, frozen=True):
    """Reads alone, and reads while logins fill the hashing pool; ``logins`` is the rate of those
    logins, per second."""

    alone: Measured
    beside: Measured
    logins: float


class Figures(Struct):
    """The figures of one database. ``cases`` has medians by case and stack, ``readers`` the effect
    of logins by number of readers, ``memory`` the mebibytes of the largest process by stack,
    ``workers`` reads by stack, workers and processors; ``notes`` are single figures by their
    name."""

    database: str
    cases: dict[str, dict[str, Measured]] = {}
    readers: dict[int, Beside] = {}
    memory: dict[str, float] = {}
    workers: dict[str, Measured] = {}
    notes: dict[str, float] = {}

    def ratio(self, case: str, to: str) -> float | None:
        """The rate of the service divided by that of another stack."""
        found = self.cases.get(case, {})
        if OURS not in found or to not in found:
            return None
        return found[OURS].rate / found[to].rate


def measure(world: World, plan: Plan, folder: Path, say: Say) -> Figures:
    """Measure all selected cases on one database."""
    figures = Figures(world.name)
    world.fill(PEOPLE)
    figures.notes["start"], figures.notes["idle"] = _started(world, plan, folder)
    with _stacks(world, plan, folder, (OURS, PEER, FLOOR)) as stacks:
        for name, load in {
            "read": lambda _: Load(reads(world, PEOPLE)),
            "list of 1,000": lambda _: Load(lists(world), connections=8),
            "create": lambda number: Load(creations(world), first_number=number),
            "refresh": lambda _: Load(world.fresh_refresh_tokens(), "refresh", connections=16),
        }.items():
            if plan.wants(name):
                figures.cases[name] = _in_turn(name, load, stacks, plan, folder, say)
        if plan.wants("login"):
            _logins_and_hashes(stacks, plan, folder, figures, say)
            for readers in (4, 32):
                figures.readers[readers] = _reads_beside_logins(
                    world, stacks[OURS], plan, folder, readers, say
                )
        figures.memory = {name: one.memory_mib() for name, one in stacks.items()}
    if plan.wants("list of 10,000"):
        world.fill(MANY_PEOPLE)
        with _stacks(world, plan, folder, (OURS, PEER, FLOOR)) as stacks:
            asked = Load(lists(world), connections=4)
            figures.cases["list of 10,000"] = _in_turn(
                "list of 10,000", lambda _: asked, stacks, plan, folder, say
            )
            figures.memory |= {f"{name}, 10,000": one.peak_mib() for name, one in stacks.items()}
    if plan.wants("workers"):
        _workers(world, plan, folder, figures, say)
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
    """The medians of all rounds."""
    rounds: dict[str, list[Measured]] = {stack: [] for stack in stacks}
    number = 0
    for number_of_round in range(plan.rounds + 1):
        # The first round only fills caches.
        seconds = plan.seconds if number_of_round else WARM_SECONDS
        for stack, running in stacks.items():
            number += 10_000_000
            found = round_of(load(number), running, seconds, ASKING, folder / "requests")
            if number_of_round:
                rounds[stack].append(found)
                say(f"{name}, {stack}: {found.rate:.0f} a second, p99 {found.p99:.1f} ms")
    return {stack: _median(found) for stack, found in rounds.items()}


def _median(found: list[Measured]) -> Measured:
    fields = {
        name: statistics.median(getattr(one, name) for one in found)
        for name in Measured.__struct_fields__
    }
    return Measured(**{**fields, "failed": sum(one.failed for one in found)})


def _logins_and_hashes(
    stacks: Mapping[str, Server], plan: Plan, folder: Path, figures: Figures, say: Say
) -> None:
    """Logins. Each round of the service runs between two rounds of bare hashing, because the speed
    of a machine changes."""
    asked = Load(logins(), connections=16)
    rounds: dict[str, list[Measured]] = {OURS: [], PEER: []}
    bare: list[float] = []
    for stack in rounds:
        round_of(asked, stacks[stack], WARM_SECONDS, ASKING, folder / "requests")
    for _ in range(plan.rounds):
        before = _bare_hashes(plan.seconds)
        for stack, found in rounds.items():
            # A login takes some hundredths of a second: a longer round counts enough of them.
            one = round_of(asked, stacks[stack], 3 * plan.seconds, ASKING, folder / "requests")
            found.append(one)
            say(f"login, {stack}: {one.rate:.1f} a second, p99 {one.p99:.1f} ms")
            if stack == OURS:
                bare.append((before + _bare_hashes(plan.seconds)) / 2)
                say(f"bare hashes: {bare[-1]:.1f} a second")
    figures.cases["login"] = {stack: _median(found) for stack, found in rounds.items()}
    figures.notes["bare hashes"] = statistics.median(bare)
    figures.notes["logins to bare hashes"] = statistics.median(
        one.rate / hashes for one, hashes in zip(rounds[OURS], bare, strict=True)
    )


def _bare_hashes(seconds: float) -> float:
    """Passwords that the library alone verifies per second, in one thread on the same processor."""
    hasher = argon2.PasswordHasher.from_parameters(PARAMETERS)
    encoded = hasher.hash(PASSWORD)

    def check() -> float:
        with pinned(SERVING):
            began, times = time.perf_counter(), 0
            while (took := time.perf_counter() - began) < seconds:
                hasher.verify(encoded, PASSWORD)
                times += 1
            return times / took

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(check).result()


def _reads_beside_logins(
    world: World, ours: Server, plan: Plan, folder: Path, readers: int, say: Say
) -> Beside:
    asked = Load(reads(world, PEOPLE), connections=readers)
    alone, beside, rates = [], [], []
    for _ in range(plan.rounds):
        alone.append(round_of(asked, ours, plan.seconds, ASKING, folder / "requests"))
        many = Load(logins(), connections=16)
        entering = start(many, ours.url, plan.seconds + 2, ASKING, folder / "logins")
        time.sleep(1)
        beside.append(round_beside(asked, ours, plan.seconds, ASKING, folder / "requests"))
        entered = figures_of(entering, plan.seconds)
        rates.append(entered["requests"] / entered["microseconds"] * 1e6)
        say(
            f"{readers} readers: p99 {alone[-1].p99:.1f} ms alone, {beside[-1].p99:.1f} beside"
            f" {rates[-1]:.1f} logins a second"
        )
    return Beside(_median(alone), _median(beside), statistics.median(rates))


def _workers(world: World, plan: Plan, folder: Path, figures: Figures, say: Say) -> None:
    """Workers on one and on two processors, which load and database share: the effect of the second
    processor on the service and on the floor."""
    found: dict[str, list[Measured]] = {}
    for _ in range(plan.rounds):
        for workers, processors in ((1, SERVING), (1, SERVING | ASKING), (2, SERVING | ASKING)):
            world.pin(processors)
            for stack in (OURS, FLOOR):
                asked = Load(reads(world, PEOPLE), connections=64 * len(processors))
                with serving(
                    stack, world, plan.service, folder, processors=processors, workers=workers
                ) as one:
                    round_of(asked, one, WARM_SECONDS, processors, folder / "requests")
                    read = round_of(asked, one, plan.seconds, processors, folder / "requests")
                name = f"{stack}, {workers} worker(s) on {len(processors)} processor(s)"
                found.setdefault(name, []).append(read)
                say(f"{name}: {read.rate:.0f} a second, {read.cpu:.0f} us of processor")
    world.pin(ASKING)
    figures.workers = {name: _median(rounds) for name, rounds in found.items()}


def _large(world: World, plan: Plan, folder: Path, figures: Figures, say: Say) -> None:
    """A read in a small and in a large table."""
    for people in (world.people, plan.rows):
        world.fill(people)
        with serving(OURS, world, plan.service, folder) as ours:
            rate = _reading(world, people, ours, plan, folder).rate
        figures.notes[f"rate among {people:,}"] = rate
        say(f"read among {people:,}: {rate:.0f} a second")


def _reading(world: World, people: int, ours: Server, plan: Plan, folder: Path) -> Measured:
    asked = Load(reads(world, people))
    return _median(
        [
            round_of(asked, ours, plan.seconds, ASKING, folder / "requests")
            for _ in range(plan.rounds)
        ]
    )


def _started(world: World, plan: Plan, folder: Path) -> tuple[float, float]:
    """Seconds from the command to the first response, and the resident mebibytes then."""
    took, memory = [], []
    for _ in range(plan.rounds + 1):
        began = time.perf_counter()
        with serving(OURS, world, plan.service, folder) as ours:
            took.append(time.perf_counter() - began)
            memory.append(ours.memory_mib())
    # The first start compiles, and reads from the disk.
    return statistics.median(took[1:]), statistics.median(memory)


@contextmanager
def _stacks(
    world: World, plan: Plan, folder: Path, names: tuple[str, ...]
) -> Iterator[dict[str, Server]]:
    with ExitStack() as all_:
        yield {
            name: all_.enter_context(serving(name, world, plan.service, folder)) for name in names
        }
