"""Bringing a database's schema up to date."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, exc
from sqlalchemy.ext.asyncio import create_async_engine

from phoneprov_core.kernel.errors import Unavailable

T = TypeVar("T")

_HERE = Path(__file__).parent / "migrations"


def newest() -> str:
    """The name of the newest step of the schema's history."""
    head = ScriptDirectory(str(_HERE)).get_current_head()
    assert head is not None
    return head


async def current(url: str) -> str | None:
    """The step that the database at ``url`` stands at; None when it is empty."""
    return await _with_connection(url, _current)


async def upgrade(url: str, revision: str = "head") -> None:
    """Bring the database at ``url`` up to a step. Raises ``Unavailable``."""
    await _with_connection(url, lambda connection: command.upgrade(_config(connection), revision))


async def downgrade(url: str, revision: str) -> None:
    """Take the database at ``url`` back to a step (``base`` empties it)."""
    await _with_connection(url, lambda connection: command.downgrade(_config(connection), revision))


async def _with_connection(url: str, work: Callable[[Connection], T]) -> T:
    engine = create_async_engine(url, poolclass=NullPool)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(work)
    except (exc.OperationalError, exc.InterfaceError, OSError) as error:
        raise Unavailable("The database cannot be reached.") from error
    finally:
        await engine.dispose()


def _current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_HERE))
    config.attributes["connection"] = connection
    return config
