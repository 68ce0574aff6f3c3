"""Upgrades of the schema, and the locks that they wait for."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import asyncpg
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, NullPool, event, exc, inspect
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.util import await_only

from phoneprov_adapters.sql.engines import revisions
from phoneprov_adapters.sql.engines.address import (
    POSTGRES,
    PostgresAddress,
    embedded_file,
    embedded_url,
)
from phoneprov_adapters.sql.engines.hosts import Hosts
from phoneprov_adapters.sql.engines.postgres import Deadlines
from phoneprov_adapters.sql.engines.postgres_writing import unavailable as unavailable_server
from phoneprov_adapters.sql.engines.processes import alone
from phoneprov_adapters.sql.engines.revisions import REVISION, newest, revision_table
from phoneprov_adapters.sql.engines.sqlite_file import create, require_content, revision_of
from phoneprov_adapters.sql.engines.sqlite_writing import unavailable as unavailable_file
from phoneprov_adapters.sql.maintenance.schema import derive
from phoneprov_adapters.sql.tables import metadata
from phoneprov_core.kernel.errors import Unavailable

Tell: TypeAlias = Callable[[str], None]

ATTEMPT_SECONDS = 2.0
PAUSE_SECONDS = 1.0
DEADLINE_SECONDS = 60.0

# Advisory locks have two numbers here, of which the first one is ours.
_TRY = "SELECT pg_try_advisory_xact_lock(1886415973, hashtext('schema'))"
_WAIT = "SELECT pg_advisory_xact_lock(1886415973, hashtext('schema'))"
_SETTINGS = (
    "SET LOCAL application_name = 'phoneprov db upgrade'",
    "SET LOCAL statement_timeout = '600s'",
    "SET LOCAL lock_timeout = '600s'",
)
_NOT_OBTAINED = (asyncpg.LockNotAvailableError, asyncpg.DeadlockDetectedError)

# Other users' sessions show their process and user only.
_HOLDERS = """
    SELECT DISTINCT a.pid, a.usename, a.application_name, host(a.client_addr),
           extract(epoch FROM clock_timestamp() - a.xact_start)::int AS seconds
    FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
    WHERE l.granted AND a.datname = current_database()
      AND l.pid <> pg_backend_pid()
      AND (l.relation IN (SELECT to_regclass(quote_ident(t)) FROM unnest($1::text[]) AS t)
           OR l.locktype = 'advisory' AND l.classid = 1886415973)
      AND coalesce(a.xact_start < clock_timestamp() - interval '1 second', true)
    ORDER BY seconds DESC NULLS LAST LIMIT 3"""


@contextmanager
def locked(
    connection: Connection, is_needed: Callable[[Connection], bool], tell: Tell
) -> Iterator[None]:
    """A transaction that excludes other upgrades and, if one is needed, holds the locks of all
    tables of the schema. Raises ``Unavailable`` if others hold one for too long."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    named: list[Any] = []
    while True:
        with connection.begin() as transaction:
            try:
                _lock(connection, is_needed, tell)
            except exc.DBAPIError as error:
                if not isinstance(error.driver_exception, _NOT_OBTAINED):
                    raise
                transaction.rollback()
            else:
                yield
                return
        rows = _holders(connection)
        holders = ", ".join(map(_described, rows)) or "a session that has just ended"
        if time.monotonic() > deadline:
            raise Unavailable(
                f"The upgrade waited {DEADLINE_SECONDS:.0f} seconds for a lock of {holders}. "
                "Nothing was changed. End that session or wait for its end, and repeat the upgrade."
            )
        if named != (pids := [row.pid for row in rows]):
            tell(f"The upgrade waits for a lock of {holders}.")
            named = pids
        await_only(asyncio.sleep(PAUSE_SECONDS))


def _lock(connection: Connection, is_needed: Callable[[Connection], bool], tell: Tell) -> None:
    for setting in _SETTINGS:
        connection.exec_driver_sql(setting)
    if not connection.exec_driver_sql(_TRY).scalar():
        tell("Another upgrade is running; waiting for its end.")
        connection.exec_driver_sql(_WAIT)
    if is_needed(connection) and (tables := _tables(connection)):
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{ATTEMPT_SECONDS:.0f}s'")
        connection.exec_driver_sql(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")


def _tables(connection: Connection) -> list[str]:
    ours = {*metadata.tables, revision_table.name}
    return sorted(ours.intersection(inspect(connection).get_table_names()))


def _holders(connection: Connection) -> Sequence[Any]:
    with connection.begin():
        return connection.exec_driver_sql(_HOLDERS, (_tables(connection),)).all()


def _described(row: Any) -> str:
    pid, user, application, address, seconds = row
    since = "" if seconds is None else f", for {seconds} seconds"
    return (
        f"process {pid} (user {user}, {application or 'unknown application'}, "
        f"{address or 'local'}{since})"
    )


T = TypeVar("T")

_HERE = Path(__file__).parents[1] / "migrations"
_STEP_SECONDS = 610.0
"""Longer than the timeout of the server, which is 600 seconds for a statement."""


async def current(url: str) -> str | None:
    """The revision of the database at ``url``; None when it is empty. Raises
    ``Unavailable``."""
    file = embedded_file(url)
    if file is not None:
        require_content(file)
    return await with_connection(url, _current)


async def upgrade(url: str, tell: Tell = lambda _: None) -> None:
    """Upgrade the database at ``url`` to the newest revision; ``tell`` is called with what it waits
    for. One of several processes and hosts upgrades, the others wait. If the upgrade fails or is
    killed, the database is unchanged. Raises ``Unavailable``."""
    file = embedded_file(url)
    if file is None:
        await with_connection(url, lambda connection: _upgrade_shared(connection, tell))
        return

    async def fill(draft: Path) -> None:
        await with_connection(embedded_url(draft), _upgrade_alone)

    async with alone(file, lambda: revision_of(file) == newest()) as needed:
        require_content(file)
        if not needed:
            return
        if await asyncio.to_thread(file.exists):
            await fill(file)
        else:
            await create(file, fill)


def _upgrade_alone(connection: Connection) -> None:
    with connection.begin():
        _upgrade(connection, _current(connection))


def _upgrade_shared(connection: Connection, tell: Tell) -> None:
    with locked(connection, lambda connection: _current(connection) != newest(), tell):
        _upgrade(connection, _current(connection))


def _upgrade(connection: Connection, found: str | None) -> None:
    """Upgrade within the transaction of the connection."""
    if found == newest():
        return
    if found is None:
        _create(connection)
        return
    if found not in revisions.known():
        raise Unavailable(revisions.foreign(found))
    try:
        command.upgrade(_config(connection), newest())
        derive(connection)
        _require_references(connection)
    except Exception as error:
        if _is_of_database(error):
            raise
        cause = getattr(error, "orig", None) or error
        raise Unavailable(
            f"The upgrade from schema {found} to {newest()} failed and was rolled back; nothing "
            "was changed. Continue with the earlier version, and report this: "
            f"{type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else 'no message'}"
        ) from error


def _create(connection: Connection) -> None:
    """Make the schema from the tables. Raises ``Unavailable`` if there are others of theirs."""
    if present := sorted(set(inspect(connection).get_table_names()) & set(metadata.tables)):
        raise Unavailable(
            f"The database has the table {present[0]}, but no revision of a schema: it is not one "
            "of phoneprov, or its upgrade by an unreleased version was cut off. Restore a backup, "
            "or name an empty database."
        )
    metadata.create_all(connection, checkfirst=False)
    revision_table.create(connection, checkfirst=True)
    connection.execute(revision_table.insert().values(version_num=newest()))


def _require_references(connection: Connection) -> None:
    """On SQLite references are not enforced during an upgrade, in which tables are replaced."""
    if connection.dialect.name == "sqlite":
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise ValueError(f"a row of {broken[0]} refers to no row of {broken[2]}")


def _is_of_database(error: Exception) -> bool:
    """Whether the error is of the file or of the server, and not of the revision."""
    if not isinstance(error, exc.DBAPIError):
        return isinstance(error, OSError)
    cause: Any = error.driver_exception
    if isinstance(cause, asyncpg.PostgresError):
        return (cause.sqlstate or "")[:2] in {"08", "25", "28", "53", "55", "57", "58"}
    if isinstance(cause, asyncpg.InterfaceError | OSError):
        return True
    return getattr(cause, "sqlite_errorname", "").startswith(_OF_FILE)


_OF_FILE = tuple(
    f"SQLITE_{name}"
    for name in ("CORRUPT", "NOTADB", "FULL", "IOERR", "READONLY", "CANTOPEN", "BUSY", "PERM")
)


async def with_connection(url: str, work: Callable[[Connection], T]) -> T:
    """The result of ``work`` with a connection to the database at ``url``. Raises
    ``Unavailable``."""
    engine = _engine(url)
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(work)
    except exc.DBAPIError as error:
        cause: Any = error.driver_exception
        file = embedded_file(url)
        if file is None:
            raise unavailable_server(cause) from error
        raise unavailable_file(cause, file) from error
    except OSError as error:
        raise Unavailable("The database cannot be reached.") from error
    finally:
        await engine.dispose()


def _engine(url: str) -> AsyncEngine:
    if not url.startswith(POSTGRES):
        engine = create_async_engine(url, poolclass=NullPool)
        event.listen(engine.sync_engine, "connect", _leave_transactions_to_us)
        event.listen(engine.sync_engine, "begin", _begin)
        return engine
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


def _leave_transactions_to_us(connection: Any, _: object) -> None:
    """Python's driver would commit before it changes a table."""
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=OFF").close()  # Not possible in a transaction.
    connection.execute("PRAGMA synchronous=FULL").close()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _current(connection: Connection) -> str | None:
    if not inspect(connection).has_table(revision_table.name):
        return None
    row = connection.execute(REVISION).first()
    return None if row is None else str(row[0])


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(_HERE))
    config.set_main_option("path_separator", "os")
    config.set_main_option("version_locations", str(revisions.STEPS))
    config.attributes["connection"] = connection
    return config
