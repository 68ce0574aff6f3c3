"""Replacing a file on an FTP server, and the state of the files after an interrupted rename."""

import asyncio
import hashlib
from contextlib import suppress

from phoneprov_adapters.ftp.listings import Names
from phoneprov_adapters.ftp.session import FtpServer, FtpSession
from phoneprov_adapters.ftp.steps import ADVICE, NEW_NAME, RENAMING
from phoneprov_adapters.runtime.tasks import to_its_end
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut
from phoneprov_core.switching.devices.ports import Proceed, Upload
from phoneprov_core.switching.errors import RefusedMidway, TimedOutMidway

FOUND_LATER = (
    "the connection failed after the rename; the new file was read back over another connection"
)

_CLEAN_UP_SECONDS, _NEW_SESSION_SECONDS = 5.0, 3.0
"""Seconds to delete the temporary file: in the session of the upload, and in a new session."""

_GRACE_SECONDS = 2.0
"""Seconds after the deadline of the upload. All deadlines of a switch together are below 30 s."""

_PAUSES = (0.2, 0.4, 0.8, 0.0)
"""Seconds after each attempt: a server may be restarting."""


async def clean_up(
    server: FtpServer, session: FtpSession, temporary: str, error: PhoneprovError
) -> None:
    """Delete the temporary file after ``error``, if the server permits it within a few seconds.

    It has its own deadlines, because the deadline of the upload may have passed. A slow server may
    still reply to the last command, which is faster than a new login. If it does not reply, or if
    the session cannot be used, a new session is opened.
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
    """Whether the new file has the final name, after an ``error`` that followed the rename command.

    False if the old file still has the final name. Raises an error with the code
    ``OUTCOME_UNKNOWN`` if the server does not answer this question.
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
    """Whether the new file has the final name; None if the replies of the server do not show it.

    A slow server may still carry out the rename later, unless the temporary file has been deleted.
    So the temporary file is deleted first: if that succeeds, no rename has taken place.
    """
    if await session.removed(temporary):
        return False
    return await session.holds(upload.filename, len(upload.content), digest) or None


NOT_ATOMIC = (
    "the server does not rename onto an existing file, so the old one was moved aside first: "
    "the replacement was not atomic"
)

_OLD_LIMIT = 16 * 1024 * 1024


class Replacement:
    """Replaces a file on a server that does not rename onto an existing file: renames the old file
    ``final`` to ``aside``, then ``temporary`` to ``final``.

    If the session is lost, the old file is restored over a new session, which has its own
    deadlines because the deadlines of the upload may have passed.
    """

    def __init__(self, server: FtpServer, final: str, names: Names) -> None:
        self._server = server
        self._final = final
        self._temporary, self._aside = names
        self._overwritten = False
        self._may_move_later = False

    async def perform(self, session: FtpSession, proceed: Proceed) -> None:
        """Replace the old file. After an error ``final`` is the complete old file or, if only a
        reply was lost, the complete new file.

        Raises ``Refused`` if the server refuses, and ``TimedOut`` if it does not answer. With the
        code ``OUTCOME_UNKNOWN``: ``Refused`` if the old file could not be restored, ``TimedOut`` if
        the server may still rename the old file. A cancellation takes effect after the replacement
        has finished or the old file is restored.
        """
        old = await session.read(self._final, _OLD_LIMIT, RENAMING)
        if old is None:
            raise self._refused()  # There is no old file: the name itself is refused.
        await proceed()
        await to_its_end(self._swap(session, old))

    async def _swap(self, session: FtpSession, old: bytes) -> None:
        try:
            try:
                renamed = await session.rename(self._final, self._aside)
            except TimedOut:
                self._may_move_later = not session.rename_refused  # RNTO was sent
                raise
            if not renamed:
                raise self._refused()
            renamed = await session.rename(self._temporary, self._final)
            if not renamed:
                raise self._refused()
        except BaseException:
            await self._put_back(session, old)
            raise

    async def _put_back(self, session: FtpSession, old: bytes) -> None:
        """Restore the old file under its final name, by a rename or by an upload."""
        if session.idle:
            try:
                await self._restore(session, old)
            except PhoneprovError:
                pass  # The deadline of the session may have passed; a new session has its own.
            else:
                return
        session.drop()
        try:
            timeout = self._server.settings.timeout
            async with self._server.opened(self._server.steps(timeout, timeout)) as fresh:
                await self._restore(fresh, old)
                if self._may_move_later:
                    await fresh.removed(self._temporary)
        except PhoneprovError:
            raise RefusedMidway(
                f"The FTP server {self._server.name} failed while renaming, and the old file could "
                f"not be put back: look there for {self._final} and {self._aside}."
            ) from None
        if self._may_move_later:
            raise TimedOutMidway(
                f"The FTP server {self._server.name} did not answer in time while renaming. It may "
                f"still rename the old file: look there for {self._final} and {self._aside}."
            ) from None

    async def _restore(self, session: FtpSession, old: bytes) -> None:
        found = await session.read(self._final, _OLD_LIMIT, RENAMING)
        if found is not None and not self._overwritten:
            return  # The old file was not renamed, or the new file has the final name.
        self._may_move_later = False
        try:
            if await session.rename(self._aside, self._final):
                return
        except Refused:
            if not session.idle:
                raise
        self._overwritten = True  # From here on, the file may be incomplete.
        await session.store(self._final, old, RENAMING)
        await session.verify(self._final, len(old), hashlib.sha256(old).hexdigest(), RENAMING)

    def _refused(self) -> Refused:
        return Refused(
            f"The FTP server {self._server.name} refused {NEW_NAME} to {self._final} while"
            f" renaming. {ADVICE[NEW_NAME]}"
        )
