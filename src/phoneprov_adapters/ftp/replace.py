"""Replaces a file on a server that does not rename onto an existing one.

The old file is renamed aside, the new one takes its name, and the caller deletes the old one
when the new one has been verified. Compared with deleting first, a failure (or a power cut)
between the two renames costs one more rename instead of the file. Its bytes are kept in memory
too, for a server that renames a file and then refuses to rename it back. Between the two
renames no file has the final name: a caller that is cancelled waits until one has.
"""

import hashlib

from phoneprov_adapters.ftp.listings import Names
from phoneprov_adapters.ftp.session import FtpServer, FtpSession
from phoneprov_adapters.ftp.steps import ADVICE, NEW_NAME, RENAMING
from phoneprov_adapters.runtime.tasks import to_its_end
from phoneprov_core.devices.errors import RefusedMidway, TimedOutMidway
from phoneprov_core.devices.ports import Proceed
from phoneprov_core.kernel.errors import PhoneprovError, Refused, TimedOut

NOT_ATOMIC = (
    "the server does not rename onto an existing file, so the old one was moved aside first: "
    "the replacement was not atomic"
)

_OLD_LIMIT = 16 * 1024 * 1024


class Replacement:
    """One such replacement: ``temporary`` takes the name ``final`` from the old file, which gets
    the name ``aside``.

    A session that was lost is opened once more to restore the old file, with deadlines of its own,
    since those of the upload may have passed.
    """

    def __init__(self, server: FtpServer, final: str, names: Names) -> None:
        self._server = server
        self._final = final
        self._temporary, self._aside = names
        self._overwritten = False
        self._may_move_later = False

    async def perform(self, session: FtpSession, proceed: Proceed) -> None:
        """Makes ``final`` the new file. After an error it is the old one or, when only a reply was
        lost, the new one, whole.

        Raises ``Refused`` when the server refuses, ``TimedOut`` when it does not answer;
        ``Refused`` with the code ``OUTCOME_UNKNOWN`` when the old file could not be restored,
        ``TimedOut`` with it when the server may still rename the old file. A cancellation is passed
        on when the files are in order.
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
        """Restores the old file under the final name, by rename or by writing it."""
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
            return  # The old file was not renamed, or the new one has its name.
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
