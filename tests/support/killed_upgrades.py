"""Runs upgrades in processes that are killed, each one statement later than the one before.

Arguments: the URL, the folder of the revisions, and how many statements the next process executes
more than the one before. Prints the revision and the number of rows after each, as one JSON line.
"""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from sqlalchemy import Connection, Engine, event

from phoneprov_adapters.sql.engines import revisions
from phoneprov_adapters.sql.maintenance import migrate
from support.schemas import counts


def upgrade_until(url: str, statements: int) -> None:
    """Upgrade; this process is killed after a number of statements. A commit is two: before it,
    and after it."""
    left = statements

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "after_cursor_execute", count)
    event.listen(Engine, "commit", count)
    asyncio.run(migrate.upgrade(url))
    count()


def _state(connection: Connection) -> tuple[str | None, dict[str, int]]:
    found = migrate._current(connection)
    connection.rollback()
    return found, counts(connection)


def main(url: str, steps: str, stride: int) -> None:
    revisions.STEPS = Path(steps)
    revisions.known.cache_clear()
    statements, ended = 1, False
    while not ended:
        pid = os.fork()
        if pid == 0:
            upgrade_until(url, statements)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        ended = not os.WIFSIGNALED(status)
        if ended and os.waitstatus_to_exitcode(status):
            sys.exit("an upgrade failed")
        if not url.startswith("sqlite") or Path(url.partition("///")[2]).exists():
            found = asyncio.run(migrate.with_connection(url, _state))
            sys.stdout.write(json.dumps([statements, *found]) + "\n")
            sys.stdout.flush()
        statements += stride


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
