"""Where the time of a request goes: python -m bench.questions.hot_paths.

Calls the application without a server, one request after another, and shows in which packages the
thread of the event loop spends its time. A switch is one of a batch of switches. A profiler costs
time itself, more of it in small functions: use its shares, and the times, which are measured
without it, for the totals.
"""

import asyncio
import cProfile
import itertools
import os
import pstats
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import msgspec

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from bench import batch_rate
from bench.report import put_between
from bench.world import KEY, PASSWORD, SESSIONS, PostgresWorld, SqliteWorld, World, person
from phoneprov_http.main.server.asgi import make_app
from support.postgres import Server

PAGE = Path("docs/explanation/performance.md")
PEOPLE = 1_000
PHONES = 200
REST = "the rest"
_PACKAGES = (
    "phoneprov_core", "phoneprov_adapters", "phoneprov_http", "litestar", "asyncpg",
    "aioftp", "asyncio", "logging", "joserfc",
)  # fmt: skip

Asked = tuple[str, str, bytes]


class Seen(NamedTuple):
    """Microseconds that one request of a kind took, microseconds that the thread of the loop worked
    for it, and the shares of the latter by package."""

    took: float
    worked: float
    shares: dict[str, float]


@click.command()
@click.option("--times", default=4000, show_default=True, help="Number of records that are read.")
@click.option("--write", is_flag=True, help=f"Write {PAGE}.")
def hot_paths(times: int, *, write: bool) -> None:
    """Print where the time of each kind of request goes, on both databases."""
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        sqlite = seen_on(SqliteWorld(Path(folder)), folder, times)
    with tempfile.TemporaryDirectory() as folder:
        sqlite["switch"] = _seen_switch(Path(folder))
    tables += ["### Where the time goes on SQLite", *_table(sqlite)]
    server = Server("fsync=on", "shared_buffers=128MB")
    with tempfile.TemporaryDirectory() as folder:
        world = PostgresWorld(server.url("postgres"), server.pid)
        tables += ["### Where the time goes on PostgreSQL", *_table(seen_on(world, folder, times))]
    server.close()
    click.echo("\n".join(tables))
    if write:
        put_between(PAGE, "hot paths", "\n".join(tables))


def seen_on(world: World, folder: str, times: int) -> dict[str, Seen]:
    """The figures of one database, by kind of request."""
    world.fill(PEOPLE)
    os.environ |= {
        "PHONEPROV_DATABASE_URL": world.url,
        "PHONEPROV_SECRET_KEYS": KEY,
        "PHONEPROV_DATA_DIR": folder,
    }
    kinds: dict[str, tuple[Callable[[], Iterator[Asked]], int]] = {
        "read": (_reads, times),
        "list of 1,000": (_lists, times // 40),
        "create": (_creations, times // 4),
        "refresh": (lambda: _refreshes(world), SESSIONS // 3),
        "login": (_logins, times // 40),
    }
    return {name: _seen(kind(), world.tokens(), number) for name, (kind, number) in kinds.items()}


def _seen(asked: Iterator[Asked], tokens: list[str], number: int) -> Seen:
    profile = cProfile.Profile(time.thread_time)
    took, worked = asyncio.run(_asked(asked, tokens, number, profile))
    return Seen(took / number * 1e6, worked / number * 1e6, _shares(profile))


async def _asked(
    asked: Iterator[Asked], tokens: list[str], number: int, profile: cProfile.Profile
) -> tuple[float, float]:
    """Seconds that ``number`` requests took, and seconds that the thread worked. As many requests
    again are profiled."""
    app = make_app()
    incoming: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    sent: asyncio.Queue[Any] = asyncio.Queue()
    lifespan = asyncio.ensure_future(app({"type": "lifespan", "state": {}}, incoming.get, sent.put))  # type: ignore[arg-type]
    await incoming.put({"type": "lifespan.startup"})
    assert (await sent.get())["type"] == "lifespan.startup.complete"
    bearers = itertools.cycle(tokens)
    for _ in range(number // 10):
        await _ask(app, next(asked), next(bearers))
    began, at_work = time.perf_counter(), time.thread_time()
    for _ in range(number):
        await _ask(app, next(asked), next(bearers))
    took, worked = time.perf_counter() - began, time.thread_time() - at_work
    profile.enable()
    for _ in range(number):
        await _ask(app, next(asked), next(bearers))
    profile.disable()
    await incoming.put({"type": "lifespan.shutdown"})
    await lifespan
    return took, worked


async def _ask(app: Any, asked: Asked, token: str) -> None:
    method, path, body = asked
    headers = [(b"host", b"bench"), (b"authorization", b"Bearer " + token.encode())]
    if body:
        headers += [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    answered = asyncio.Event()
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> dict[str, Any]:
        for message in messages:
            return message
        await answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        assert message.get("status", 200) < 400, message
        if message["type"] == "http.response.body" and not message.get("more_body"):
            answered.set()

    await app(
        {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
            "method": method, "path": path, "raw_path": path.encode(), "root_path": "",
            "query_string": b"", "headers": headers, "state": {},
            "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 5000),
        },
        receive, send,
    )  # fmt: skip


def _reads() -> Iterator[Asked]:
    for number in itertools.count():
        yield "GET", f"/api/v1/users/{person(number % SESSIONS)}", b""


def _lists() -> Iterator[Asked]:
    while True:
        yield "GET", "/api/v1/users", b""


def _creations() -> Iterator[Asked]:
    for number in itertools.count():
        body = b'{"mac":"02%010x","model":"CP-7945G","phone_ip":"10.1.2.3"}' % number
        yield "POST", "/api/v1/phones", body


def _refreshes(world: World) -> Iterator[Asked]:
    # Created before a loop runs.
    bodies = [msgspec.json.encode({"refresh_token": t}) for t in world.fresh_refresh_tokens()]
    return (("POST", "/api/v1/auth/refresh", body) for body in bodies)


def _logins() -> Iterator[Asked]:
    for number in itertools.count():
        credentials = {"username": f"person{number % SESSIONS}", "password": PASSWORD}
        yield "POST", "/api/v1/auth/login", msgspec.json.encode(credentials)


def _seen_switch(folder: Path) -> Seen:
    """A switch as one of a batch: a single switch mostly waits."""
    batch_rate.remove_pauses()
    profile = cProfile.Profile(time.thread_time)
    with batch_rate.surroundings(folder) as (environment, _):
        took = batch_rate.measured(environment, PHONES, 40)
    with (
        tempfile.TemporaryDirectory() as another,
        batch_rate.surroundings(Path(another)) as (environment, _),
    ):
        batch_rate.measured(environment, PHONES, 40, profile)
    return Seen(took.seconds / PHONES * 1e6, took.processor / PHONES * 1e6, _shares(profile))


def _shares(profile: cProfile.Profile) -> dict[str, float]:
    """The shares of the total time by package. A built-in function counts for the package that
    called it."""
    spent_in = dict.fromkeys((*_PACKAGES, REST), 0.0)
    stats: Any = pstats.Stats(profile)
    for function, (_, _, own, _, callers) in stats.stats.items():
        if function[0] != "~":
            spent_in[_whose(function)] += own
            continue
        for caller, (_, _, spent, _) in callers.items():
            spent_in[_whose(caller)] += spent
    whole = sum(spent_in.values())
    return {whose: spent / whole for whose, spent in spent_in.items()}


def _whose(function: tuple[str, int, str]) -> str:
    for package in _PACKAGES:
        if f"{os.sep}{package}{os.sep}" in function[0]:
            return package
    return REST


def _table(seen: dict[str, Seen]) -> Iterator[str]:
    def row(name: str, cells: Iterable[str]) -> str:
        return f"| {name} | {' | '.join(cells)} |"

    yield ""
    yield row("", seen)
    yield f"|---|{'---:|' * len(seen)}"
    yield row("it took, us", (f"{one.took:,.0f}" for one in seen.values()))
    yield row("the loop's thread worked, us", (f"{one.worked:,.0f}" for one in seen.values()))
    for whose in (*_PACKAGES, REST):
        shares = [one.shares[whose] for one in seen.values()]
        if any(share >= 0.005 for share in shares):
            yield row(whose, (f"{share:.0%}" for share in shares))
    yield ""


if __name__ == "__main__":
    hot_paths()
