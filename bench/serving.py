"""The commands that start the service, the peer and the floor."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.process import Server, server
from bench.world import KEY, World

OURS, PEER, FLOOR = "phoneprov", "peer", "floor"
SERVING, ASKING = {0}, {1}
"""Processors."""


@contextmanager
def serving(
    name: str,
    world: World,
    service: str,
    folder: Path,
    *,
    processors: set[int] | None = None,
    workers: int = 1,
) -> Iterator[Server]:
    """Run one of the stacks on a database. ``service`` is the Python that runs the service; without
    ``processors`` the stack runs on the first alone."""
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
        FLOOR: [
            *("-m", "uvicorn", "bench.stacks.floor:app", "--lifespan", "off", *usual),
            *("--workers", str(workers)),
        ],
    }[name]
    with server(
        name,
        [service if name == OURS else sys.executable, *command],
        environment,
        processors=processors or SERVING,
        folder=folder,
        ready="/health/ready",
    ) as running:
        yield running
