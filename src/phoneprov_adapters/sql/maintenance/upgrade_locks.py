"""The locks of an upgrade on PostgreSQL.

The upgrade locks all tables before its first change, so that it cannot stop in its middle to wait
for a lock. Every query waits meanwhile; therefore each attempt is short, and the queries of the
service run between two of them.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import asyncpg
from sqlalchemy import Connection, exc, inspect
from sqlalchemy.util import await_only

from phoneprov_adapters.sql.engines.revisions import revision_table
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
