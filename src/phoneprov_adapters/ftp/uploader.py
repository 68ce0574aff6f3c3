"""The FTP adapter of ``ConfigUploader``."""

import asyncio
import hashlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from phoneprov_adapters.ftp.listings import (
    FtpFiles,
    Listings,
    Names,
    hidden_names,
    is_left_test,
    name_of_test,
    plain_names,
)
from phoneprov_adapters.ftp.replace import (
    FOUND_LATER,
    NOT_ATOMIC,
    Replacement,
    clean_up,
    is_in_place,
)
from phoneprov_adapters.ftp.session import FtpServer, FtpSession
from phoneprov_adapters.ftp.steps import RENAMING, FtpSettings, ServerRefused, Steps
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.switching.devices.names import check_segments
from phoneprov_core.switching.devices.ports import (
    REPLACED_ANOTHER,
    ConfigUploader,
    ReadsFiles,
    Upload,
    Uploaded,
)
from phoneprov_core.switching.errors import OUTCOME_UNKNOWN, AddressNotConfirmed, NoAddress

_MOST_LEFTOVERS = 32

NOT_TIDY = "temporary files of earlier attempts could not be removed"

NOT_HIDDEN = (
    "the server refuses names that begin with a dot, so the temporary file had a visible name"
)

UNREADABLE = (
    "a TFTP or HTTP server that runs as another user cannot read it; set the umask of the FTP "
    "server to 022 (vsftpd: local_umask=022, anon_umask=022), or allow SITE CHMOD (vsftpd: "
    "chmod_enable=YES)"
)

NO_LOOK = (
    "The files on the phone's own FTP server are not read: PHONEPROV_FTP_PASSWORD is sent to the "
    "phone only for an upload."
)

KEPT_SECONDS = 5.0
"""Seconds for which an idle session is kept for the next upload of a batch."""

_READ_AND_WRITE = 0o666
# With its default umask 077, vsftpd gives an uploaded file the mode 0600, so a TFTP server that
# runs as another user cannot read it. The first file of a name gets 0644.
_OWN, _FIRST = 0o600, 0o644


class FtpUploader(ConfigUploader, ReadsFiles):
    """Uploads over FTP; the ports' docstrings are the contract. Each upload has its own login,
    except in a batch to a configured server: there one login serves many uploads in sequence.

    The address of a configured server is not checked. A phone's address is checked against
    ``networks`` at each upload, because the inventory may hold addresses from before a change of
    the setting. Unchanged content is uploaded and verified again, because another program may have
    changed the file.

    Leftover files of earlier attempts are found in listings that concurrent uploads share (see
    ``listings``). After an error that follows the rename, the state of the file is read over a new
    connection (see ``is_in_place``), which may take 2 seconds more than ``total``. Deleting the
    temporary file of a failed upload may take 8 seconds more than ``total``.

    Sockets are closed at once when the caller is cancelled, with one exception: on a server that
    does not rename onto an existing file (a note says so), a replacement in progress is finished
    first, which may take one ``timeout`` more than ``total``.

    The constructor reads ``tls_ca`` from disk. Raises OSError if the file does not exist, and
    ssl.SSLError if it contains no certificate.
    """

    def __init__(self, settings: FtpSettings, networks: PhoneNetworks) -> None:
        self._settings = settings
        self._networks = networks
        self._listings = Listings()
        self._kept = _KeptSessions()
        self._context: ssl.SSLContext | None = None
        if settings.tls != "off":
            self._context = ssl.create_default_context(cafile=settings.tls_ca)

    async def upload(self, upload: Upload) -> Uploaded:
        check_segments(upload.filename, upload.attempt)
        server = self._server(upload.phone_ip)
        with self._listings.upload():
            steps = server.steps(self._settings.timeout, self._settings.total)
            is_kept = upload.more_follow and self._settings.host is not None
            opened = self._kept.opened(server, steps) if is_kept else server.opened(steps)
            async with opened as session:
                old = upload.replaces
                notes: tuple[str, ...] = ()
                if old is not None and await session.is_another(upload.filename, old):
                    notes = (REPLACED_ANOTHER,)
                if session.idle:
                    return await self._replace(server, session, upload, notes)
            # The old file is longer, and some servers end the session after an aborted transfer.
            async with server.opened(steps) as session:
                return await self._replace(server, session, upload, notes)

    async def _replace(
        self, server: FtpServer, session: FtpSession, upload: Upload, notes: tuple[str, ...]
    ) -> Uploaded:
        digest = hashlib.sha256(upload.content).hexdigest()
        names, more = await _put(server, session, upload, digest)
        aside = names.aside if NOT_ATOMIC in more else None
        notes += more + await self._tidy(server, session, upload, aside)
        place = server.name + self._settings.path_of(upload.filename)
        return Uploaded(place, len(upload.content), digest, notes)

    def close(self) -> None:
        """End the sessions that are kept for further uploads."""
        self._kept.close()

    def server_of(self, phone_ip: str | None) -> str:
        server = self._server(phone_ip)
        if self._settings.host is None and self._settings.password:
            raise AddressNotConfirmed(NO_LOOK)
        return server.name

    @asynccontextmanager
    async def opened(
        self, phone_ip: str | None, seconds: float | None = None
    ) -> AsyncIterator[FtpFiles]:
        self.server_of(phone_ip)
        server, timeout = self._server(phone_ip), self._settings.timeout
        total = self._settings.total if seconds is None else seconds
        async with server.opened(server.steps(min(timeout, total), total)) as session:
            yield FtpFiles(server, session, has_own_deadlines=seconds is None)

    async def try_upload(self, attempt: str) -> tuple[str, ...]:
        """Upload a test file to the configured server in the same way as a configuration. Then
        delete the test file, and leftover test files of killed processes. ``attempt`` is an ordered
        id. Returns the notes of the upload. Raises like ``upload``."""
        test = Upload("", name_of_test(attempt), b"phoneprov doctor", attempt)
        uploaded = await self.upload(test)
        server = self._server(None)
        steps = server.steps(self._settings.timeout, self._settings.total)
        async with server.opened(steps) as session:
            await session.remove(test.filename)
            with suppress(PhoneprovError):
                left = [name for name in await session.names() if is_left_test(name, test.filename)]
                for name in left[:_MOST_LEFTOVERS]:
                    await session.remove(name)
        return uploaded.notes

    def _server(self, phone_ip: str | None) -> FtpServer:
        host = self._settings.host
        if host is None:
            if phone_ip is None:
                raise NoAddress
            host = self._networks.allowed(phone_ip)
        return FtpServer(host, self._settings, self._context)

    async def _tidy(
        self, server: FtpServer, session: FtpSession, upload: Upload, aside: str | None
    ) -> tuple[str, ...]:
        """Delete the leftover files of earlier attempts for this name. ``aside`` is the name of the
        old file if it was renamed.

        To be called after the new file is in place: a leftover of a killed attempt may be the only
        complete copy of the old file. After a lost connection, a new connection is opened once. A
        failure becomes a note, because the upload has succeeded.
        """
        with suppress(PhoneprovError):
            if session.idle:
                if aside is not None:
                    await session.remove(aside)
                    aside = None
                await self._remove_leftovers(session, upload)
                return ()
        with suppress(PhoneprovError):
            if not session.idle:
                async with server.opened(session.steps) as fresh:
                    if aside is not None:
                        # Refused if the file was deleted and only the reply was lost.
                        await fresh.removed(aside)
                    await self._remove_leftovers(fresh, upload)
                return ()
        return (NOT_TIDY,)

    async def _remove_leftovers(self, session: FtpSession, upload: Upload) -> None:
        left = await self._listings.leftovers(session, upload)
        for name in left[:_MOST_LEFTOVERS]:
            await session.remove(name)


class _KeptSessions:
    """Idle sessions on one server; the most recently used session is reused first. Their number
    never exceeds the number of concurrent uploads. A session is tested before it is reused."""

    def __init__(self) -> None:
        self._idle: dict[FtpSession, asyncio.TimerHandle] = {}

    @asynccontextmanager
    async def opened(self, server: FtpServer, steps: Steps) -> AsyncIterator[FtpSession]:
        """An idle session, or a new session. It is kept for reuse unless there is an error."""
        session = await self._resumed(steps) or await server.session(steps)
        try:
            yield session
        except BaseException:
            session.drop()
            raise
        if session.idle:
            later = asyncio.get_running_loop().call_later
            self._idle[session] = later(KEPT_SECONDS, self._leave, session)
        else:
            session.drop()

    async def _resumed(self, steps: Steps) -> FtpSession | None:
        if not self._idle:
            return None
        session, timer = self._idle.popitem()
        timer.cancel()
        is_alive = False
        try:
            is_alive = await session.resume(steps)
        finally:
            if not is_alive:
                session.drop()
        if is_alive:
            return session
        self.close()  # If the server was restarted, the other sessions have ended, too.
        return None

    def close(self) -> None:
        while self._idle:
            session, timer = self._idle.popitem()
            timer.cancel()
            session.leave()

    def _leave(self, session: FtpSession) -> None:
        del self._idle[session]
        session.leave()


async def _put(
    server: FtpServer, session: FtpSession, upload: Upload, digest: str
) -> tuple[Names, tuple[str, ...]]:
    """Put the file in place; returns the names that were used, and notes."""
    names, size, steps = hidden_names(upload), len(upload.content), session.steps
    notes: tuple[str, ...] = ()
    try:
        try:
            await session.store(names.temporary, upload.content)
        except ServerRefused as refused:
            if refused.reply not in {"550", "553"}:
                raise
            names = plain_names(upload)
            await session.store(names.temporary, upload.content)
            notes += (NOT_HIDDEN,)
        began = steps.left()
        await session.verify(names.temporary, size, digest)
        notes += await kept_mode(session, names.temporary, upload.filename)
        if steps.left() < 2 * (began - steps.left()):
            # The rename and the second read back would exceed the deadline. Without the rename the
            # outcome is certain: the old file is in place.
            raise steps.late(RENAMING)
        await upload.proceed()  # another process may have removed the temporary file
        if not await session.rename(names.temporary, upload.filename, upload.proceed):
            notes += (NOT_ATOMIC,)
            await Replacement(server, upload.filename, names).perform(session, upload.proceed)
        await session.verify(upload.filename, size, digest)
    except PhoneprovError as error:
        if error.code == OUTCOME_UNKNOWN:
            raise
        if not session.rename_sent:
            await clean_up(server, session, names.temporary, error)
            raise
        if not await is_in_place(server, session, upload, names.temporary, digest, error):
            raise
        notes += (FOUND_LATER,)
    return names, notes


async def kept_mode(session: FtpSession, name: str, final: str) -> tuple[str, ...]:
    """Give the file ``name`` the mode of the file ``final``, which it will replace, by SITE CHMOD:
    a TFTP server that runs as another user may have to read the file. Returns the notes for the
    step. Raises like ``FtpSession.mode``."""
    found = await session.mode(name) if session.shows_modes else None
    if found is None:
        session.shows_modes = False  # The file exists, so the server shows no modes at all.
        return ()
    old = await session.mode(final)
    new = found & _READ_AND_WRITE
    wanted = new
    if old is not None:
        wanted |= old & _READ_AND_WRITE
    elif new == _OWN:
        wanted = _FIRST
    if wanted != new and await session.change_mode(name, wanted):
        new = (await session.mode(name) or wanted) & _READ_AND_WRITE
    if wanted != new:
        was = "" if old is None else f", the old file had {old:04o}"
        return (f"the new file has the mode {new:04o}{was}: {UNREADABLE}",)
    if new != _OWN:
        return ()
    return (f"only its owner can read the file (mode {new:04o}): {UNREADABLE}",)
