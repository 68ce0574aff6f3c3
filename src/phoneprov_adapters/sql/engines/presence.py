"""The processes that use an embedded database, by a lock on a file. The system releases the lock
when a process ends, for any reason."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from phoneprov_core.kernel.errors import Unavailable

if sys.platform != "win32":
    import fcntl

_TURN_SECONDS = 0.02


class Presence:
    """Register as a process that uses the database at ``path``, inside this context.

    A process that enters when no other one is registered is the ``first``: work that earlier
    processes started will not be finished by them. Until the first has called ``admit``, all others
    wait. On systems without such locks no process is ever the first. Raises ``Unavailable``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-users")
        self._file = -1
        self.first = False

    async def __aenter__(self) -> Self:
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise Unavailable("The database's folder cannot be written to.") from error
        try:
            self.first = self._locked(alone=True)
            if not self.first:
                await self.admit()
        except BaseException:
            os.close(self._file)
            raise
        return self

    async def admit(self) -> None:
        """Admit the other processes."""
        # The others are separate processes: there is no event to wait for.
        while not self._locked(alone=False):  # noqa: ASYNC110
            await asyncio.sleep(_TURN_SECONDS)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def _locked(self, *, alone: bool) -> bool:
        if sys.platform == "win32":
            return not alone
        try:
            fcntl.flock(self._file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
