"""The schema, and whether it has to be upgraded, without importing alembic (see
``engines/revisions.py``)."""

import asyncio
from collections.abc import Callable
from typing import Any

from sqlalchemy import create_mock_engine

from phoneprov_adapters.sql.engines.address import embedded_file
from phoneprov_adapters.sql.engines.revisions import newest, revision_table
from phoneprov_adapters.sql.engines.sqlite_file import revision_of
from phoneprov_adapters.sql.tables import metadata


def statements_of(dialect: str) -> list[str]:
    """The statements that create all tables and indexes of the newest schema."""
    statements: list[Any] = []
    engine = create_mock_engine(f"{dialect}://", lambda one, *_: statements.append(one))
    metadata.create_all(engine, checkfirst=False)
    revision_table.create(engine, checkfirst=False)
    return [str(one.compile(dialect=engine.dialect)) for one in statements]


async def bring_up_to_date(url: str, tell: Callable[[str], None] = lambda _: None) -> None:
    """Upgrade the database at ``url``, unless it has the newest revision; ``tell`` is called with
    what it waits for. Raises ``Unavailable``."""
    file = embedded_file(url)
    if file is not None and await asyncio.to_thread(revision_of, file) == newest():
        return
    from phoneprov_adapters.sql.maintenance import migrate  # noqa: PLC0415 - see above

    await migrate.upgrade(url, tell)


async def create_missing(url: str) -> None:
    """Create an embedded database that does not exist; any other is not changed. Raises
    ``Unavailable``."""
    file = embedded_file(url)
    if file is not None and not await asyncio.to_thread(file.exists):
        await bring_up_to_date(url)
