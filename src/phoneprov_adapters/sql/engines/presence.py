"""Who works with an embedded database: told by a lock on a file, which the system takes back
from whoever ends, however that happens."""

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
    """Being one of those who work with the database at ``path``, as long as it is entered.

    Who comes in when nobody else is there is the ``first``: whatever an earlier one began and
    did not end will never be ended. Until the first has called ``admit``, all others wait to
    come in. Where the system has no such locks, nobody is ever the first. Raises
    ``Unavailable``.
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
        """Let others in."""
        # There is no event to wait for: the others are other processes.
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
