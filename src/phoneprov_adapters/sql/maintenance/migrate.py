"""Migrations of the database schema."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import asyncpg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.util.exc import CommandError
from sqlalchemy import Connection, NullPool, exc
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from phoneprov_adapters.sql.engines.address import POSTGRES, PostgresAddress
from phoneprov_adapters.sql.engines.hosts import Hosts
from phoneprov_adapters.sql.engines.postgres import Deadlines
from phoneprov_adapters.sql.engines.postgres_errors import unavailable
from phoneprov_adapters.sql.engines.sqlite_file import alone, create, require_content
from phoneprov_adapters.sql.engines.urls import embedded_file, embedded_url
from phoneprov_core.kernel.errors import Unavailable

T = TypeVar("T")

_HERE = Path(__file__).parents[1] / "migrations"
_STEP_SECONDS = 610.0
"""Longer than the timeout of the server; see ``migrations/env.py``."""


async def current(url: str) -> str | None:
    """The revision of the database at ``url``; None when it is empty. Raises
    ``Unavailable``."""
    file = embedded_file(url)
    if file is not None:
        require_content(file)
    return await _with_connection(url, _current)


async def upgrade(url: str, revision: str = "head") -> None:
    """Upgrade the database at ``url`` to a revision. Of concurrent processes and hosts one does it,
    and the others wait. If a step fails, a shared database is unchanged; a new file exists only
    once it is complete. Raises ``Unavailable``."""

    async def upgrade_at(url: str) -> None:
        await _with_connection(
            url, lambda connection: command.upgrade(_config(connection), revision)
        )

    file = embedded_file(url)
    if file is None:
        await upgrade_at(url)
        return
    async with alone(file):
        require_content(file)
        if await asyncio.to_thread(file.exists):
            await upgrade_at(url)
        else:
            await create(file, lambda draft: upgrade_at(embedded_url(draft)))


async def downgrade(url: str, revision: str) -> None:
    """Downgrade the database at ``url`` to a revision (``base`` empties it)."""
    await _with_connection(url, lambda connection: command.downgrade(_config(connection), revision))


async def _with_connection(url: str, work: Callable[[Connection], T]) -> T:
    engine = _engine(url)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(work)
    except exc.DBAPIError as error:
        if engine.dialect.name == "postgresql":
            raise unavailable(error.driver_exception) from error
        raise Unavailable(
            "The database file is not a SQLite database, is damaged, or cannot be written; see "
            "PHONEPROV_DATA_DIR and PHONEPROV_DATABASE_URL."
        ) from error
    except CommandError as error:
        if "Can't locate revision" not in str(error):
            raise
        raise Unavailable(
            "The database's schema is newer than this version of phoneprov. Use the newer "
            "version, or restore the backup from before the upgrade."
        ) from error
    except OSError as error:
        raise Unavailable("The database cannot be reached.") from error
    finally:
        await engine.dispose()


def _engine(url: str) -> AsyncEngine:
    if not url.startswith(POSTGRES):
        return create_async_engine(url, poolclass=NullPool)
    address = PostgresAddress.parse(url)
    # The service's own connection code, so that a URL has the same meaning. Statements are unnamed:
    # through pgbouncer, other clients might have used the names.
    hosts = Hosts(PostgresAddress(address.dsn, address.hosts, pgbouncer=True))

    async def connect() -> asyncpg.Connection:
        return (await hosts.connect(Deadlines().connect, _STEP_SECONDS, {})).driver

    return create_async_engine(
        POSTGRES,
        poolclass=NullPool,
        connect_args={
            "async_creator_fn": connect,
            "prepared_statement_cache_size": 0,
            "prepared_statement_name_func": lambda: "",
        },
    )


def _current(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_HERE))
    config.attributes["connection"] = connection
    return config
