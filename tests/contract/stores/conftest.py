"""The databases of suites over every database, from ``support.stores``."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from phoneprov_adapters.sql.engines.transaction import Database
from support.kinds import KINDS, Kind, add
from support.stores import DATABASES


@pytest.fixture(params=sorted(DATABASES))
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    async with DATABASES[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture(params=KINDS, ids=repr)
async def kind(request: pytest.FixtureRequest, database: Database) -> Kind:
    """A kind of record; the records that it refers to exist."""
    kind: Kind = request.param
    await add(database, *kind.others)
    return kind
