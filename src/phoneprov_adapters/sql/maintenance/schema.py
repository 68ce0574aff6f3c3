"""The version of a schema, without importing alembic, which takes a fifth of a second and is rarely
needed."""

import asyncio
import contextlib
import sqlite3
from functools import cache
from pathlib import Path

from phoneprov_adapters.sql.engines.sqlite_file import read_only
from phoneprov_adapters.sql.engines.urls import embedded_file

STEPS = Path(__file__).parents[1] / "migrations" / "versions"


@cache
def newest() -> str:
    """The name of the newest revision. A file is named by its revision and its content:
    ``0001_the_first_schema.py``."""
    return max(file.name for file in STEPS.glob("[0-9]*_*.py")).partition("_")[0]


async def bring_up_to_date(url: str) -> None:
    """Upgrade the database at ``url``, unless it has the newest revision. Raises
    ``Unavailable``."""
    file = embedded_file(url)
    if file is not None and await asyncio.to_thread(_stands_at, file) == newest():
        return
    from phoneprov_adapters.sql.maintenance import migrate  # noqa: PLC0415 - see above

    await migrate.upgrade(url)


def _stands_at(file: Path) -> str | None:
    """The revision of an embedded database; None if it has none or cannot be read."""
    with contextlib.suppress(sqlite3.Error), read_only(file) as connection:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return None if row is None else str(row[0])
    return None
