"""Fixtures of fault tests: a service of its own for each test."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from faults.served import Served
from support.postgres import new_database


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A service with one process and its own database, not yet started."""
    service = Served(tmp_path)
    yield service
    service.kill()


@pytest.fixture(params=["sqlite", "postgres"])
async def service(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Served]:
    """A service on each database, not yet started."""
    if request.param == "sqlite":
        made = await asyncio.to_thread(Served, tmp_path)
        yield made
        await asyncio.to_thread(made.kill)
        return
    async with new_database() as url:
        made = await asyncio.to_thread(Served, tmp_path, url)
        yield made
        await asyncio.to_thread(made.kill)
