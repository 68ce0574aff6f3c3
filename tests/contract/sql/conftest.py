"""PostgreSQL databases of one test each."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from phoneprov_adapters.sql.engines.postgres import PostgresDatabase
from support import postgres
from support.postgres_databases import SHORT, database_at
from support.postgres_proxy import Proxy, proxy_before


@pytest.fixture
async def url() -> AsyncIterator[str]:
    """The URL of an empty database."""
    async with postgres.new_database() as made:
        yield made


@pytest.fixture(params=["postgres", "sqlite"])
async def url_without_schema(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """The URL of a database without a schema."""
    if request.param == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path / 'phoneprov.db'}"
    else:
        async with postgres.new_database(migrated=False) as made:
            yield made


@pytest.fixture
async def database(url: str) -> AsyncIterator[PostgresDatabase]:
    """An empty database."""
    opened = database_at(url)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def short_deadline_database(url: str) -> AsyncIterator[PostgresDatabase]:
    """The database of ``url``, opened with short deadlines."""
    opened = database_at(url, SHORT)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def proxy(url: str) -> AsyncIterator[Proxy]:
    """A proxy before the database."""
    async with proxy_before(postgres.server().folder) as opened:
        yield opened


@pytest.fixture
async def far(proxy: Proxy, url: str) -> AsyncIterator[PostgresDatabase]:
    """The database of ``url`` through the proxy, with short deadlines."""
    opened = database_at(proxy.url(url), SHORT)
    await opened.open()
    yield opened
    proxy.resume_forwarding()
    await opened.close()
