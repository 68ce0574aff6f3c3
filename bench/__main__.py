"""Measure the service, a peer and the floor: make bench."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bench.cases import Figures, Plan, measure
from bench.report import as_markdown, chart, write_page
from bench.world import PostgresWorld, SqliteWorld, World
from support.postgres import Server

PAGE = Path("docs/explanation/performance.md")
CHART = Path("docs/explanation/performance.svg")


@click.command()
@click.option("--database", type=click.Choice(["sqlite", "postgresql", "both"]), default="both")
@click.option(
    "--rounds", default=3, show_default=True, help="Number of rounds; the median is reported."
)
@click.option("--seconds", default=4.0, show_default=True, help="Duration of a round.")
@click.option("--only", multiple=True, help="Names of cases; all of them by default.")
@click.option("--rows", default=1_000_000, show_default=True, help="For the cost in a large table.")
@click.option(
    "--service",
    default=sys.executable,
    help="The Python that phoneprov is installed for, without what the peer needs.",
)
@click.option("--write", is_flag=True, help=f"Write {PAGE} and {CHART}.")
def bench(
    database: str,
    rounds: int,
    seconds: float,
    only: tuple[str, ...],
    rows: int,
    service: str,
    *,
    write: bool,
) -> None:
    """Start the service as a user would, a peer and the floor, and measure each in turn.

    Each server runs on the first processor alone; the load and PostgreSQL run on the second. Only
    the cases with workers use as many processors for everything as there are workers.
    """
    if shutil.which("wrk") is None:
        raise click.ClickException("wrk is needed: apt-get install wrk")
    if len(os.sched_getaffinity(0)) < 2:
        raise click.ClickException("two processors are needed: one serves, one asks")
    # Processes that start from here on run on the second processor, unless they are pinned.
    os.sched_setaffinity(0, {1})
    plan = Plan(rounds, seconds, frozenset(only), rows, service)
    measured: list[Figures] = []
    worlds = {"sqlite": _sqlite, "postgresql": _postgres}
    for open_world in [worlds[database]] if database in worlds else worlds.values():
        with (
            tempfile.TemporaryDirectory(prefix="phoneprov-bench-") as folder,
            open_world(Path(folder)) as world,
        ):
            measured.append(measure(world, plan, Path(folder), _say))
    switches = _switches(service) if plan.wants("switch") else []
    click.echo("\n".join([as_markdown(measured), *switches]))
    if write:
        chart(measured, CHART)
        write_page(PAGE, measured, switches)


def _switches(service: str) -> list[str]:
    """The rate of a batch of switches, and of a bare FTP loop, on both processors."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    return subprocess.run(
        [service, "-m", "bench.batch_rate"], check=False, capture_output=True, text=True
    ).stdout.splitlines()


def _say(progress: str) -> None:
    click.echo(progress, err=True)


@contextlib.contextmanager
def _sqlite(folder: Path) -> Iterator[World]:
    yield SqliteWorld(folder)


@contextlib.contextmanager
def _postgres(_: Path) -> Iterator[World]:
    # Commits are as durable as in production.
    server = Server("fsync=on", "full_page_writes=on", "shared_buffers=256MB")
    try:
        yield PostgresWorld(server.url("postgres"), server.pid)
    finally:
        server.close()


if __name__ == "__main__":
    bench()
