"""The databases of suites over every database, from ``support.stores``.

Each is opened once and emptied for each test; so the tests share an event loop.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from phoneprov_adapters.sql.engines.transaction import Database
from support.kinds import KINDS, Kind, add
from support.stores import DATABASES, emptied


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session", params=sorted(DATABASES))
async def opened_database(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Database]:
    async with DATABASES[request.param](tmp_path_factory.mktemp("database")) as opened:
        yield opened


@pytest_asyncio.fixture(loop_scope="session")
async def database(opened_database: Database) -> Database:
    return await emptied(opened_database)


@pytest_asyncio.fixture(loop_scope="session", params=KINDS, ids=repr)
async def kind(request: pytest.FixtureRequest, database: Database) -> Kind:
    """A kind of record; the records that it refers to exist."""
    kind: Kind = request.param
    await add(database, *kind.others)
    return kind
