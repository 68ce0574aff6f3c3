"""Pages for phones, a read over the API, and many logins: python -m bench.questions.phone_pages.

One service on one processor answers ``GET /phones/{mac}``, the menu of services, and a directory
page of 32 among 10,000 contacts, in turn. The pages must reach 60 % of the rate of the read. A
search among 100,000 contacts may take at most 3 times as long as one among 1,000. Then LOGINS
phones log in within SECONDS, on two workers: a login waits only for the hashes before it
(``phone_logins``). Each part runs on SQLite and on PostgreSQL. Exits with 1 if a goal is missed.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

import click

from bench.load import Load, plain, round_of
from bench.process import Server
from bench.questions.phone_logins import BOTH, logins
from bench.questions.phone_office import DATABASES, device, office
from support.records import a_mac

READ_GOAL, SEARCH_GOAL = 0.6, 3.0
ASKING = {1}
"""The processor of the load and of PostgreSQL, except while phones log in."""
SEARCHES = {
    "one name": {"q": "lovelace"},
    "beginning of many names": {"q": "ma"},
    "two words that many have": {"q": "ma be"},
    "three words, few matches": {"q": "ada lovelace zo"},
    "end of a number": {"n": "0017"},
    "no match": {"q": "zzzz"},
    "everyone": {},
}


def page(path: str, **parameters: str) -> str:
    """The path of a page of the first phone."""
    return f"/phone/{path}?{urlencode({'device': device(1), **parameters})}"


def median_rates(
    loads: Mapping[str, tuple[Server, Load]], seconds: float, rounds: int
) -> dict[str, float]:
    """Responses per second: the median of alternating rounds."""
    found: dict[str, list[float]] = {name: [] for name in loads}
    with tempfile.NamedTemporaryFile(prefix="phoneprov-bench-") as file:
        for number in range(rounds + 1):
            for name, (started, load) in loads.items():
                one = round_of(load, started, seconds, ASKING, Path(file.name))
                if one.failed:
                    raise click.ClickException(f"{name}: {one.failed} requests failed")
                if number:  # the first only fills caches
                    found[name].append(one.rate)
    return {name: statistics.median(each) for name, each in found.items()}


def rates(
    started: Server, loads: Mapping[str, Load], seconds: float, rounds: int
) -> dict[str, float]:
    """Responses per second of one server."""
    return median_rates({name: (started, load) for name, load in loads.items()}, seconds, rounds)


def reads(folder: Path, kind: str, seconds: float, rounds: int) -> bool:
    """Pages compared with a read over the API."""
    with office(folder, kind, 10_000) as (started, token):
        paths = {
            "menu": page("services"),
            "directory page": page("directories/company/list", q="", n=""),
        }
        loads = {"GET /phones/{mac}": Load([plain("GET", f"/api/v1/phones/{a_mac(1)}", token)])}
        loads |= {name: Load([plain("GET", path)]) for name, path in paths.items()}
        found = rates(started, loads, seconds, rounds)
    base = found["GET /phones/{mac}"]
    click.echo(f"{kind}: requests a second")
    for name, rate in found.items():
        click.echo(f"  {name:26} {rate:6.0f}  {rate / base:6.0%}")
    return all(rate >= READ_GOAL * base for rate in found.values())


def searches(folder: Path, kind: str, seconds: float, rounds: int) -> bool:
    """Searches in a small and in a large directory."""
    loads = {
        name: Load([plain("GET", page("directories/company/list", **asked))], connections=4)
        for name, asked in SEARCHES.items()
    }
    with (
        office(folder / "small", kind, 1_000) as (small, _),
        office(folder / "large", kind, 100_000) as (large, _),
    ):
        among = [rates(one, loads, seconds, rounds) for one in (small, large)]
    worst = 0.0
    click.echo(f"{kind}: searches a second among 1,000 and among 100,000 contacts")
    for name in SEARCHES:
        few, many = among[0][name], among[1][name]
        worst = max(worst, few / many)
        click.echo(f"  {name:26} {few:6.0f} {many:6.0f}  {few / many:.2f} times as long")
    return worst <= SEARCH_GOAL


@click.command()
@click.option("--only", type=click.Choice(["reads", "searches", "logins"]), multiple=True)
@click.option("--database", type=click.Choice(DATABASES), multiple=True)
@click.option("--seconds", default=3.0, show_default=True, help="Duration of a round.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--logins", "count", default=500, show_default=True)
@click.option("--within", default=60.0, show_default=True, help="Seconds for all logins.")
def phone_pages(
    only: tuple[str, ...],
    database: tuple[str, ...],
    seconds: float,
    rounds: int,
    count: int,
    within: float,
) -> None:
    """Measure pages for phones."""
    good = True
    with tempfile.TemporaryDirectory(prefix="phoneprov-bench-") as name:
        for kind in database or DATABASES:
            folder = Path(name) / kind
            os.sched_setaffinity(0, ASKING)
            if not only or "reads" in only:
                good &= reads(folder / "reads", kind, seconds, rounds)
            if not only or "searches" in only:
                good &= searches(folder / "searches", kind, seconds, rounds)
            os.sched_setaffinity(0, BOTH)
            if not only or "logins" in only:
                good &= logins(folder / "logins", kind, count, within, rounds)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    phone_pages()
