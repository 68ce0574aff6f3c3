"""Where the time of a request goes: python -m bench.hot_paths.

Asks the application without a server before it, one request after another, and shows what the
thread of the event loop spends in whose code. Profiling itself takes time, and more of it where
functions are small: read the shares, not the sums.
"""

from __future__ import annotations

import asyncio
import cProfile
import itertools
import os
import pstats
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bench.world import KEY, SESSIONS, PostgresWorld, SqliteWorld, World, person
from phoneprov_http.main.asgi import make_app
from support.postgres import Server

PEOPLE = 1_000
_PACKAGES = (
    "phoneprov_core", "phoneprov_adapters", "phoneprov_http", "litestar", "asyncpg",
    "sqlalchemy", "asyncio", "logging", "joserfc",
)  # fmt: skip

Asked = tuple[str, str, bytes]


@click.command()
@click.option("--times", default=4000, show_default=True)
def hot_paths(times: int) -> None:
    """Print the shares of TIMES requests of each kind, on both databases."""
    with tempfile.TemporaryDirectory() as folder:
        show(SqliteWorld(Path(folder)), folder, times)
    server = Server("fsync=on", "shared_buffers=128MB")
    with tempfile.TemporaryDirectory() as folder:
        show(PostgresWorld(server.url("postgres")), folder, times)
    server.close()


def show(world: World, folder: str, times: int) -> None:
    """The shares on one database."""
    world.fill(PEOPLE)
    os.environ |= {
        "PHONEPROV_DATABASE_URL": world.url,
        "PHONEPROV_SECRET_KEYS": KEY,
        "PHONEPROV_DATA_DIR": folder,
    }
    for name, kind, number in (
        ("read of one record", _reads, times),
        ("list of 1,000", _lists, times // 40),
        ("create", _creations, times // 4),
    ):
        profile = asyncio.run(_profiled(kind(), world.tokens(), number))
        click.echo(f"\n{world.name}, {name}: microseconds a request under the profiler")
        for whose, seconds in _shares(profile).most_common(12):
            click.echo(f"{seconds / number * 1e6:10.1f}  {whose}")


async def _profiled(asked: Iterator[Asked], tokens: list[str], number: int) -> cProfile.Profile:
    app = make_app()
    incoming: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    told: asyncio.Queue[Any] = asyncio.Queue()
    lifespan = asyncio.ensure_future(app({"type": "lifespan", "state": {}}, incoming.get, told.put))  # type: ignore[arg-type,typeddict-item]
    await incoming.put({"type": "lifespan.startup"})
    assert (await told.get())["type"] == "lifespan.startup.complete"
    bearers = itertools.cycle(tokens)
    for _ in range(number // 10):
        await _ask(app, next(asked), next(bearers))
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(number):
        await _ask(app, next(asked), next(bearers))
    profile.disable()
    await incoming.put({"type": "lifespan.shutdown"})
    await lifespan
    return profile


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


def _shares(profile: cProfile.Profile) -> Counter[str]:
    """Seconds by whose code they were spent in; what is built in counts for who called it."""
    shares = Counter[str]()
    stats: Any = pstats.Stats(profile)
    for function, (_, _, own, _, callers) in stats.stats.items():
        if function[0] != "~":
            shares[_whose(function)] += own
            continue
        for caller, (_, _, spent, _) in callers.items():
            by = (
                f"{_whose(caller)}: {function[2].strip('<>')}"
                if spent > own / 4
                else _whose(caller)
            )
            shares[by] += spent
    return shares


def _whose(function: tuple[str, int, str]) -> str:
    for package in _PACKAGES:
        if f"{os.sep}{package}{os.sep}" in function[0]:
            return package
    return "the rest"


if __name__ == "__main__":
    hot_paths()
