"""Locks of the processes that use an embedded database, on files beside it. The system releases a
lock when its process ends, for any reason."""

import asyncio
import contextlib
import fcntl
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

from phoneprov_core.kernel.errors import Unavailable

_LOCK_SECONDS = 120.0
_POLL_SECONDS = 0.02


class Presence:
    """A process that is registered as a user of a database.

    A process that registers when no other one is registered is the ``first``: work that earlier
    processes started will not be finished by them. Until the first has called ``admit``, all others
    wait.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self.first = _locked(file, fcntl.LOCK_EX)

    async def admit(self) -> None:
        """Admit the other processes."""
        # The others are separate processes: there is no event to wait for.
        while not _locked(self._file, fcntl.LOCK_SH):  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)


@contextlib.asynccontextmanager
async def present(path: Path) -> AsyncIterator[Presence]:
    """Register as a process that uses the database at ``path``. Raises ``Unavailable``."""
    file = _lock_file(path.with_name(f"{path.name}-users"))
    try:
        presence = Presence(file)
        if not presence.first:
            await presence.admit()
        yield presence
    finally:
        os.close(file)


@contextlib.asynccontextmanager
async def alone(path: Path) -> AsyncIterator[None]:
    """Lock: one process at a time creates or migrates the database. Raises ``Unavailable``."""
    lock = _lock_file(path.with_name(f"{path.name}-schema"))
    try:
        deadline = time.monotonic() + _LOCK_SECONDS
        while not _locked(lock, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                raise Unavailable("Another process is migrating the database; try again later.")
            await asyncio.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(lock)


def _lock_file(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Unavailable("The database's folder cannot be written to.") from error


def _locked(file: int, kind: int) -> bool:
    """Lock a file, unless another process holds a lock that excludes it."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
