"""How far a schema has come, without the tools that take it further: those take a fifth of a
second to load, and are seldom needed."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from functools import cache
from pathlib import Path
from urllib.parse import quote

from phoneprov_adapters.sql.engines.choice import embedded_file

STEPS = Path(__file__).parents[1] / "migrations" / "versions"


@cache
def newest() -> str:
    """The name of the newest step of the schema's history. Files are called by their step's
    name and what it does: ``0001_the_first_schema.py``."""
    return max(file.name for file in STEPS.glob("[0-9]*_*.py")).partition("_")[0]


async def bring_up_to_date(url: str) -> None:
    """Bring the database at ``url`` up to the newest step, if it is not there. Raises
    ``Unavailable``."""
    file = embedded_file(url)
    if file is not None and await asyncio.to_thread(_stands_at, file) == newest():
        return
    from phoneprov_adapters.sql.maintenance import migrate  # noqa: PLC0415 - see above

    await migrate.upgrade(url)


def _stands_at(file: Path) -> str | None:
    """The step that a database of our own stands at; None when it is none, or not readable."""
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(
            sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=1)
        ) as connection,
    ):
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return None if row is None else str(row[0])
    return None
