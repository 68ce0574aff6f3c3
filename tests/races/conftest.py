"""Services for races: one for each database, shared by all tests that do not damage it."""

import asyncio
from collections.abc import Iterator

import pytest

from races.harness import WORKERS, Service, running
from support.postgres import new_database

DATABASES = ["sqlite", "postgres"]
NO_LIMIT = {"PHONEPROV_GUESSES_PER_ADDRESS": "0"}
"""All guesses come from one address, whose own limit is tested elsewhere."""


@pytest.fixture(scope="session", params=DATABASES)
def database(request: pytest.FixtureRequest) -> Iterator[str | None]:
    """The URL of a temporary database; None stands for the service's own file."""
    if request.param == "sqlite":
        yield None
        return
    with asyncio.Runner() as runner:
        made = new_database()
        yield runner.run(made.__aenter__())
        runner.run(made.__aexit__(None, None, None))


@pytest.fixture(scope="session")
def service(database: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with as many worker processes as race, under the strict rule."""
    folder = tmp_path_factory.mktemp("service")
    with running(folder, database, WORKERS, PHONEPROV_LEVEL_RULE="strict", **NO_LIMIT) as service:
        yield service


@pytest.fixture(scope="session")
def hierarchical(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with two workers and the same database, under the interface's own rule."""
    folder = tmp_path_factory.mktemp("hierarchical")
    with running(folder, service.settings.database_url, 2, **NO_LIMIT) as hierarchical:
        yield hierarchical
