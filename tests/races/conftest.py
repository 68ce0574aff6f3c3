"""Services to race over: one for each database, shared by all tests that do not harm it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from races.harness import Service
from support.postgres import new_database

DATABASES = ["sqlite", "postgres"]


@pytest.fixture(scope="session", params=DATABASES)
def database(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The address of a throw-away database; None stands for the service's own file."""
    if request.param == "sqlite":
        yield None
        return
    with asyncio.Runner() as runner:
        made = new_database()
        yield runner.run(made.__aenter__())
        runner.run(made.__aexit__(None, None, None))


@contextmanager
def running(
    folder: Path, database_url: str | None, workers: int, **environment: str
) -> Iterator[Service]:
    service = Service(folder, database_url, workers, **environment)
    service.start()
    try:
        yield service
    finally:
        service.stop()


@pytest.fixture(scope="session")
def service(database: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Four worker processes, under the strict rule."""
    folder = tmp_path_factory.mktemp("service")
    with running(folder, database, 4, PHONEPROV_LEVEL_RULE="strict") as service:
        yield service


@pytest.fixture(scope="session")
def alone(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One process over the same database, under the interface's own rule; it may be
    restarted."""
    with running(tmp_path_factory.mktemp("alone"), service.settings.database_url, 1) as alone:
        yield alone
