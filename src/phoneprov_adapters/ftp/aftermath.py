"""After a failed upload: removes its temporary file, and finds out whether its rename happened."""

import asyncio
from contextlib import suppress

from phoneprov_adapters.ftp.session import FtpServer, FtpSession
from phoneprov_core.devices.errors import RefusedMidway, TimedOutMidway
from phoneprov_core.devices.ports import Upload
from phoneprov_core.kernel.errors import PhoneprovError, TimedOut

FOUND_LATER = (
    "the connection failed after the rename; the new file was read back over another connection"
)

_CLEAN_UP_SECONDS, _NEW_SESSION_SECONDS = 5.0, 3.0
"""Seconds to delete the temporary file in the session of the upload, and in a new one."""

_GRACE_SECONDS = 2.0
"""Seconds beyond the deadline of the upload. All deadlines of a switch together stay below 30 s."""

_PAUSES = (0.2, 0.4, 0.8, 0.0)
"""Seconds after each attempt: a server may be restarting."""


async def clean_up(
    server: FtpServer, session: FtpSession, temporary: str, error: PhoneprovError
) -> None:
    """Delete the temporary file after ``error``, if the server permits it within a few seconds.

    The deadlines are its own: the upload may have failed because its deadline passed. A slow server
    may still reply to the last command, and would need longer for a new login. If it does not, or
    if the session cannot be used, a new one is opened.
    """
    timeout = server.settings.timeout
    short = min(timeout, _NEW_SESSION_SECONDS)
    with suppress(PhoneprovError):
        session.steps = server.steps(short, min(timeout, _CLEAN_UP_SECONDS))
        if isinstance(error, TimedOut):
            await session.finish_command()
        if session.idle:
            await session.removed(temporary)
            return
    session.drop()
    with suppress(PhoneprovError):  # The next attempt removes it.
        async with server.opened(server.steps(short, short)) as fresh:
            await fresh.remove(temporary)


async def is_in_place(
    server: FtpServer,
    session: FtpSession,
    upload: Upload,
    temporary: str,
    digest: str,
    error: PhoneprovError,
) -> bool:
    """Whether the final name is the new file, after a rename was sent and ``error`` followed.

    False when it is the old file. Raises with the code ``OUTCOME_UNKNOWN`` when that cannot be
    found out.
    """
    left = max(0.0, session.steps.left()) + _GRACE_SECONDS
    timeout = server.settings.timeout
    steps = server.steps(timeout, min(left, 2 * timeout))
    current: FtpSession | None = session if session.idle else None
    for pause in _PAUSES:
        try:
            if current is not None:
                found = await _found(current, upload, temporary, digest)
            else:
                session.drop()
                async with server.opened(steps) as fresh:
                    found = await _found(fresh, upload, temporary, digest)
        except PhoneprovError:
            current = None
            if steps.left() <= pause:
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
        f"{error.message} It is not known whether {upload.filename} is the new file or the old one."
    ) from None


async def _found(session: FtpSession, upload: Upload, temporary: str, digest: str) -> bool | None:
    """Whether the final name is the new file; None if the replies of the server do not decide it.

    A server that is slow, or whose reply was lost, may carry the rename out later. It cannot after
    the temporary file was deleted; so the file is deleted first, and the reply decides.
    """
    if await session.removed(temporary):
        return False
    return await session.holds(upload.filename, len(upload.content), digest) or None
