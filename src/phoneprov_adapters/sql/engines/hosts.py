"""Connections to the host of a PostgreSQL URL that accepts changes."""

import asyncio
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

import asyncpg

from phoneprov_adapters.sql.engines.address import Host, PostgresAddress
from phoneprov_adapters.sql.engines.connection import log_failure
from phoneprov_adapters.sql.engines.postgres_writing import FAILURES, unavailable
from phoneprov_adapters.sql.engines.revisions import Timelines
from phoneprov_core.kernel.errors import Unavailable

STAGGER_SECONDS = 0.5
"""Time without an answer after which the next host is tried, too."""
PROBE_SECONDS = 1.5
"""A host that does not answer a new connection within this time counts as down."""

# Names in ``version()`` of other servers that use the protocol of PostgreSQL.
_OTHER_SERVERS = re.compile(
    r"CockroachDB|CrateDB|Materialize|QuestDB|Redshift|RisingWave|Spanner", re.IGNORECASE
)
_TIMELINE = """
    SELECT (SELECT system_identifier FROM pg_control_system())::text,
           ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint
    WHERE NOT pg_is_in_recovery()"""

_ENCODING = "SELECT current_setting('server_encoding'), current_database()"
_STANDBY = asyncpg.TargetServerAttributeNotMatched


class NotPostgres(Unavailable):
    """The server is not PostgreSQL: it lacks locks, isolation or types that the statements rely on.
    The message contains its version."""


class NotUtf8(NotPostgres):
    """The database cannot store every character. The message has the statement that creates a
    database in UTF-8."""


class OldTimeline(Exception):
    """The server was replaced by a newer primary."""


_REFUSALS = (*FAILURES, ValueError, NotPostgres, OldTimeline)


class Opened(NamedTuple):
    """A connection, its host, and the timeline it is on (0 if unknown)."""

    driver: asyncpg.Connection
    host: Host
    cluster: str = ""
    timeline: int = 0


class Hosts:
    """The hosts of an address.

    Tries the last working host first. After any refusal the next host is tried; also after
    ``STAGGER_SECONDS`` without an answer, while the attempt at the slow host continues until its
    own deadline. Refuses a primary whose timeline is older than the newest known timeline, and a
    server that is not PostgreSQL.
    """

    def __init__(self, address: PostgresAddress, timelines: Timelines | None = None) -> None:
        self._address = address
        self._order = list(address.hosts)
        self._timelines = timelines or Timelines()
        self._known_postgres: set[Host] = set()

    @property
    def several(self) -> bool:
        """Whether the address names more than one host."""
        return len(self._order) > 1

    async def connect(
        self, connect_seconds: float, answer_seconds: float, settings: dict[str, str]
    ) -> Opened:
        """A new connection to the first host that accepts changes; each host has
        ``connect_seconds``. Raises ``Unavailable`` and ``NotPostgres``."""
        attempts: dict[asyncio.Task[Opened], Host] = {}
        waiting = list(self._order)
        errors: list[Exception] = []
        try:
            while waiting or attempts:
                if waiting:
                    host = waiting.pop(0)
                    attempt = self._open(host, connect_seconds, answer_seconds, settings)
                    attempts[asyncio.create_task(attempt)] = host
                stagger = STAGGER_SECONDS if waiting else None
                done, _ = await asyncio.wait(
                    attempts, timeout=stagger, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    host, error = attempts.pop(task), task.exception()
                    if error is None:
                        self._put_first(host)
                        return task.result()
                    if not isinstance(error, _REFUSALS):
                        raise error
                    log_host_failure(host, error)
                    errors.append(error)
        finally:
            await _give_up(attempts)
        raise _joint_error(errors)

    async def _open(
        self, host: Host, connect_seconds: float, answer_seconds: float, settings: dict[str, str]
    ) -> Opened:
        async with asyncio.timeout(connect_seconds):
            driver = await self._address.connect(host, connect_seconds, answer_seconds, settings)
            try:
                return await self._checked(Opened(driver, host))
            except BaseException:
                driver.terminate()
                raise

    async def _checked(self, opened: Opened) -> Opened:
        driver, host = opened.driver, opened.host
        if host not in self._known_postgres:
            version = str(await driver.fetchval("SELECT version()"))
            if not version.startswith("PostgreSQL ") or _OTHER_SERVERS.search(version):
                raise NotPostgres(
                    f"PHONEPROV_DATABASE_URL names a server that is not PostgreSQL: {version[:80]}"
                )
            await _require_utf8(driver)
            self._known_postgres.add(host)
        try:
            row = await driver.fetchrow(_TIMELINE)
        except asyncpg.PostgresError as error:
            if error.severity_en != "ERROR":
                raise
            row = None  # The user has no permission, or a hosted service hides the timeline.
        if row is None:
            return opened
        cluster, timeline = str(row[0]), int(row[1])
        newest = await asyncio.to_thread(self._timelines.newest, cluster)
        if timeline < newest:
            raise OldTimeline(f"it is on timeline {timeline}, and {newest} was seen before")
        if timeline > newest:
            await asyncio.to_thread(self._timelines.saw, cluster, timeline)
        return Opened(driver, host, cluster, timeline)

    async def is_replaced(self, opened: Opened) -> bool:
        """Whether a newer timeline was seen since the connection was made."""
        newest = await asyncio.to_thread(self._timelines.newest, opened.cluster)
        return 0 < opened.timeline < newest

    async def answers(self, host: Host) -> bool:
        """Whether a host answers a new connection in time, even with a refusal."""
        try:
            driver = await self._address.connect(host, PROBE_SECONDS, PROBE_SECONDS, {})
        except OSError as error:  # TimeoutError too
            log_host_failure(host, error)
            return False
        except FAILURES:
            return True
        driver.terminate()
        return True

    def put_last(self, host: Host) -> None:
        """Try this host last from now on."""
        self._order.remove(host)
        self._order.append(host)

    def _put_first(self, host: Host) -> None:
        self._order.remove(host)
        self._order.insert(0, host)


async def _require_utf8(driver: asyncpg.Connection) -> None:
    encoding, name = await driver.fetchrow(_ENCODING)
    if encoding != "UTF8":
        quoted = '"' + name.replace('"', '""') + '_utf8"'
        raise NotUtf8(
            f"The database {name} has the encoding {encoding}, and phoneprov needs UTF8. Create a "
            f"new database and name it in PHONEPROV_DATABASE_URL: CREATE DATABASE {quoted} "
            "ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;"
        )


def log_host_failure(host: Host, error: Exception) -> None:
    """Log why a host cannot be used."""
    log_failure(f"host {host}", _cause(error))


def _cause(error: Exception) -> str:
    """The text of the error, without values from statements."""
    if isinstance(error, asyncpg.PostgresError):
        message = (error.args or ("",))[0]
        return f"{error.sqlstate} {message}" if _is_of_server(error) else str(error.sqlstate)
    if isinstance(error, TimeoutError):
        return "no response in time"
    if isinstance(error, OldTimeline):
        return f"{error}; fence it, or use Patroni"
    if isinstance(error, NotPostgres):
        return error.message
    if isinstance(error, OSError | asyncpg.InterfaceError):
        return f"{type(error).__name__}: {error}"
    # The driver's message may quote a part of the address.
    return type(error).__name__


def _is_of_server(error: asyncpg.PostgresError) -> bool:
    return (error.sqlstate or "")[:2] in {"08", "25", "28", "3D", "42", "53", "57", "58", "XX"}


def _joint_error(errors: Sequence[Exception]) -> Exception:
    """The error if no host can be used: the error of a standby only if all hosts are standbys."""
    for error in errors:
        if isinstance(error, NotPostgres):
            return error
    error = next((error for error in errors if not isinstance(error, _STANDBY)), errors[0])
    if isinstance(error, _STANDBY):
        failure = Unavailable("No host of the database accepts changes at the moment; try again.")
    elif isinstance(error, OldTimeline):
        failure = Unavailable(
            "The only database server that answers was replaced by a newer primary; fence it."
        )
    else:
        failure = unavailable(error if isinstance(error, FAILURES) else None)
    # Other errors are not chained: the driver's message may contain a part of the URL.
    failure.__cause__ = error if isinstance(error, FAILURES) else None
    return failure


async def _give_up(attempts: Collection[asyncio.Task[Opened]]) -> None:
    """Cancel attempts that are no longer needed. Connections that still succeed are closed."""
    for task in attempts:
        task.add_done_callback(_close)
        task.cancel()
    if attempts:
        await asyncio.wait(attempts)


def _close(task: asyncio.Task[Opened]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().driver.terminate()
