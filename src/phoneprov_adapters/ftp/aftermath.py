"""After a failed upload: removes its temporary file, and finds out whether its rename happened."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from phoneprov_adapters.ftp.session import FtpSession
from phoneprov_adapters.ftp.steps import Steps
from phoneprov_core.devices.errors import RefusedMidway, TimedOutMidway
from phoneprov_core.devices.ports import Upload
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut

FOUND_LATER = (
    "the connection failed after the rename; the new file was read back over another connection"
)

_CLEAN_UP_SECONDS = 3.0
_GRACE_SECONDS = 2.0
"""Seconds beyond the deadline of the upload. All deadlines of a switch together stay below 30 s."""

_PAUSES = (0.2, 0.4, 0.8, 0.0)
"""Seconds after each attempt: a server may be restarting."""


class Aftermath:
    """``steps`` is the clock of the upload that failed, ``opened`` logs in with another clock."""

    def __init__(
        self, steps: Steps, opened: Callable[[Steps], AbstractAsyncContextManager[FtpSession]]
    ) -> None:
        self._steps = steps
        self._opened = opened

    async def clean_up(self, session: FtpSession, temporary: str) -> None:
        """Delete the temporary file, if the server permits it within a few seconds.

        The deadline is its own: the upload may have failed because its deadline passed. A
        connection that was reset is opened once more.
        """
        seconds = min(self._steps.timeout, _CLEAN_UP_SECONDS)
        try:
            if session.idle and self._steps.rest() >= seconds:
                try:
                    await session.remove(temporary)
                except Refused:
                    if session.idle:
                        return  # The server does not permit it.
                else:
                    return
            session.drop()
            async with self._opened(Steps(self._steps.server, seconds, seconds)) as fresh:
                await fresh.remove(temporary)
        except PhoneprovError:
            pass  # The next attempt removes it; the caller raises the cause of the failure.

    async def is_in_place(
        self,
        session: FtpSession,
        upload: Upload,
        temporary: str,
        digest: str,
        error: PhoneprovError,
    ) -> bool:
        """Whether the final name is the new file, after a rename was sent and ``error`` followed.

        False when it is the old file. Raises with the code ``OUTCOME_UNKNOWN`` when that cannot
        be found out.

        """
        left = max(0.0, self._steps.left()) + _GRACE_SECONDS
        time = Steps(self._steps.server, self._steps.timeout, min(left, 2 * self._steps.timeout))
        current: FtpSession | None = session if session.idle else None
        for pause in _PAUSES:
            try:
                if current is not None:
                    found = await _found(current, upload, temporary, digest)
                else:
                    session.drop()
                    async with self._opened(time) as fresh:
                        found = await _found(fresh, upload, temporary, digest)
            except PhoneprovError:
                current = None
                if time.left() <= pause:
                    break
                await asyncio.sleep(pause)
                continue
            if found is not None:
                return found
            break
        if session.rename_refused:
            return False
        kind = TimedOutMidway if isinstance(error, TimedOut) else RefusedMidway
        raise kind(
            f"{error.message} It is not known whether {upload.filename} is the new file or the "
            "old one."
        ) from None


async def _found(session: FtpSession, upload: Upload, temporary: str, digest: str) -> bool | None:
    """Whether the final name is the new file; None if the replies of the server do not decide it.

    A server that is slow, or whose reply was lost, may carry the rename out later. It cannot after
    the temporary file was deleted; so the file is deleted first, and the reply decides.
    """
    if await session.removed(temporary):
        return False
    return await session.holds(upload.filename, len(upload.content), digest) or None
