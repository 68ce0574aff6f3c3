"""A real pgbouncer in transaction mode before the PostgreSQL of the tests."""

import atexit
import os
import shutil
import socket
import subprocess
import time
from functools import cache
from pathlib import Path

from support import postgres
from support.postgres_binaries import as_server_user, make_folder

REQUIRED = bool(os.environ.get("PHONEPROV_TEST_PGBOUNCER"))
"""Whether tests with pgbouncer must run; otherwise they run if it is installed."""

MISSING = "There is no pgbouncer to test with; install it, or let make test-pgbouncer do it."

# Few connections for many clients, so that transactions share connections.
_CONFIGURATION = """
[databases]
* = host={server} user=postgres

[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
logfile = {folder}/log
"""

# Like the server, it ends with the process of the tests in every case.
_KEEPER = """trap '' INT; "$@" >>"$0/out" 2>&1 & cat >/dev/null; kill "$!"; wait; rm -rf -- "$0" """


def binary() -> str | None:
    """The path of pgbouncer, whose folder is often not on PATH."""
    return shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def url(address: str) -> str:
    """The URL of a database through pgbouncer."""
    return address.replace(f"host={postgres.server().folder}", f"host={_folder()}&pgbouncer=true")


@cache
def _folder() -> Path:
    found = binary()
    if found is None:
        raise RuntimeError(MISSING)
    folder = make_folder("phoneprov-pgbouncer-")
    configuration = folder / "pgbouncer.ini"
    server = postgres.server().folder
    configuration.write_text(_CONFIGURATION.format(server=server, folder=folder))
    keeper = subprocess.Popen(
        ["sh", "-c", _KEEPER, str(folder), found, str(configuration)],
        stdin=subprocess.PIPE,
        start_new_session=True,
        **as_server_user(folder),
    )
    atexit.register(_close, keeper)
    deadline = time.monotonic() + 60
    while not _listens(folder / ".s.PGSQL.5432"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"pgbouncer did not start: {(folder / 'out').read_text()}")
        time.sleep(0.005)
    return folder


def _listens(path: Path) -> bool:
    # The file exists before pgbouncer listens on it.
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(path)) == 0


def _close(keeper: subprocess.Popen[bytes]) -> None:
    assert keeper.stdin is not None
    keeper.stdin.close()
    keeper.wait(30)
