"""A retention pass over phones with many old deployments: its time grows with their number, not
with its square. ``python -m bench.questions.retention``."""

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from bench.process import cpu_seconds, descendants
from bench.questions import scale
from bench.world import World
from phoneprov_adapters.runtime.tasks import system_clock
from phoneprov_adapters.sql import tables
from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from phoneprov_adapters.sql.engines.sqlite import SqliteDatabase
from phoneprov_adapters.sql.tables.columns import SealedColumn
from phoneprov_core.features.retention import Expiring, KeepDays, Prune

COUNTS = (365, 730, 1500, 3000)
MOST_GROWTH = 3
"""Largest growth of the time for one deployment from the smallest number to the largest, on a
machine with other work; with the square of the number it would grow by 8."""

TEXTS: dict[str, Callable[[int], tuple[int, int]]] = {
    "other texts of one size": lambda number: (number, number),
    "one text of many revisions": lambda number: (number, 0),
    "one revision again and again": lambda _: (1, 0),
    "two revisions in turn": lambda number: (number % 2 + 1, number % 2),
}
"""Revision and text of a deployment of a phone, by its number; all texts have one size."""


def rows(phones: int, count: int, text: Callable[[int], tuple[int, int]]) -> Iterator[scale.Row]:
    """Deployments that are older than a year, but for the last one of each phone."""
    hashes = SealedColumn(tables.metadata.tables["deployments"], "sha256")
    every = scale._deployments(phones, phones * count)
    for row in every:
        revision, content = text(row["number"])
        age = 366 + (count - row["number"]) / 1440 if row["number"] < count else 1
        digest = bytes.fromhex(f"{content:064x}")
        yield row | {
            "revision": revision, "size": 8192, "created_at": scale._moment(age),
            **hashes.seal(scale._BOX, digest, row["uuid"]),
        }  # fmt: skip


def processor_seconds(world: World) -> float:
    """Processor time of this process and of the server of the database."""
    first = getattr(world, "_pid", None)
    servers = [] if first is None else [first, *descendants(first)]
    return time.process_time() + sum(map(cpu_seconds, servers))


async def at_once(_seconds: float) -> None:
    """No pause."""


async def passed(world: World) -> tuple[float, int]:
    """The processor time of a pass, and the number of deployments that it removed."""
    database: Any
    if world.url.startswith("sqlite"):
        database = SqliteDatabase(Path(world.url.removeprefix("sqlite+aiosqlite:///")), scale._BOX)
    else:
        database = PostgresDatabase(world.url, scale._BOX)
    await database.open()
    try:
        began = processor_seconds(world)
        done = await Prune(database, KeepDays(), system_clock, at_once)()
        taken = processor_seconds(world) - began
    finally:
        await database.close()
    return taken, next(one.count for one in done if one.kind is Expiring.DEPLOYMENTS)


@click.command()
@click.option("--phones", default=200, show_default=True)
@click.option("--count", "counts", type=int, multiple=True, default=COUNTS, show_default=True)
@click.option("--database", "names", type=click.Choice(sorted(scale.DATABASES)), multiple=True)
def retention(phones: int, counts: tuple[int, ...], names: tuple[str, ...]) -> None:
    """Print the processor time of a pass for each number of deployments a phone. Exits with 1 if
    the time for one deployment grows."""
    grows = False
    for name in names or sorted(scale.DATABASES):
        for what, text in TEXTS.items():
            each = []
            for count in counts:
                with tempfile.TemporaryDirectory(prefix="phoneprov-bench-") as folder:
                    Path(folder).chmod(0o755)
                    with scale.DATABASES[name](Path(folder)) as world:
                        found = scale._values("deployments", rows(phones, count, text))
                        world.load("deployments", found)
                        world.run("ANALYZE")
                        first, removed = asyncio.run(passed(world))
                        again, more = asyncio.run(passed(world))
                each.append(first / count)
                click.echo(
                    f"{name}, {phones} phones, {count} deployments each, {what}: {first:.1f} s, "
                    f"{removed} removed; again: {again:.2f} s, {more} removed"
                )
            grows |= each[-1] > each[0] * MOST_GROWTH
    if grows:
        sys.exit(1)


if __name__ == "__main__":
    retention()
