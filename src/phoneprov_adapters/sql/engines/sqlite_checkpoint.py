"""Checkpoints of a SQLite file: the write-ahead log is copied into the database file.

A checkpoint writes and flushes both files, which takes up to 300 ms on a slow disk. By default the
commit that finds 1,000 pages in the log does it while its caller waits. Here another thread does
it, and other transactions commit meanwhile.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing

COMMITS = 100
"""Number of commits between two checkpoints."""

PAGES = 8_000
"""Pages in the log (32 MiB) from which a commit checkpoints itself, so that the log stays bounded
when the thread does not keep up."""

log = logging.getLogger("phoneprov.database")


class Checkpoints:
    """Runs a checkpoint after every ``COMMITS`` commits of this process."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._commits = 0
        self._running: asyncio.Task[None] | None = None

    def committed(self) -> None:
        """Count a commit."""
        self._commits += 1
        if self._commits >= COMMITS and (self._running is None or self._running.done()):
            self._commits = 0
            self._running = asyncio.create_task(asyncio.to_thread(self._run))

    async def close(self) -> None:
        """Wait for the running checkpoint."""
        if self._running is not None:
            await self._running

    def _run(self) -> None:
        try:
            with closing(self._connect()) as connection:
                # PASSIVE waits for no reader and no writer, and none of them waits for it.
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error as error:
            # The log still holds all changes.
            log.warning("A checkpoint of the database failed: %s", error)
