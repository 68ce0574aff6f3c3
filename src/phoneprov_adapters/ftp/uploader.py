"""The FTP adapter of ``ConfigUploader``."""

import hashlib
import ssl
from contextlib import AbstractAsyncContextManager, suppress

from phoneprov_adapters.ftp.aftermath import FOUND_LATER, Aftermath
from phoneprov_adapters.ftp.listings import Listings
from phoneprov_adapters.ftp.names import Names, check_names, hidden_names, plain_names
from phoneprov_adapters.ftp.replace import NOT_ATOMIC, Replacement
from phoneprov_adapters.ftp.session import FtpSession
from phoneprov_adapters.ftp.settings import FtpSettings
from phoneprov_adapters.ftp.steps import RENAMING, ServerRefused, Steps
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.devices.errors import OUTCOME_UNKNOWN, NoAddress
from phoneprov_core.devices.ports import ConfigUploader, Upload, Uploaded
from phoneprov_core.kernel.errors import PhoneprovError

_MOST_LEFTOVERS = 32

NOT_TIDY = "temporary files of earlier attempts could not be removed"

NOT_HIDDEN = (
    "the server refuses names that begin with a dot, so the temporary file had a visible name"
)


class FtpUploader(ConfigUploader):
    """Uploads over FTP, one login an upload; the port's docstring is the contract.

    A configured server is not checked; a phone's address is checked against ``networks`` at each
    upload, since the inventory may hold older ones. Unchanged content is uploaded and verified
    again, since another program may have changed the file.

    Files that earlier attempts left are found in listings that concurrent uploads share (see
    ``listings``). When a fault follows the rename, the outcome is found out over a fresh
    connection (see ``aftermath``), which may take 2 seconds beyond ``total``.

    Sockets are closed at once when the caller is cancelled, with one exception: on a server
    that does not rename onto an existing file (a note says so) the replacement begun is
    brought to an end first, which may take one ``timeout`` beyond ``total``.

    Creating one reads ``tls_ca`` from disk: OSError if it does not exist, ssl.SSLError if it
    contains no certificate.
    """

    def __init__(self, settings: FtpSettings, networks: PhoneNetworks) -> None:
        self._settings = settings
        self._networks = networks
        self._listings = Listings()
        self._context: ssl.SSLContext | None = None
        if settings.tls != "off":
            self._context = ssl.create_default_context(cafile=settings.tls_ca)

    async def upload(self, upload: Upload) -> Uploaded:
        check_names(upload)
        host = self._host(upload.phone_ip)
        server = self._settings.server_of(host)
        digest = hashlib.sha256(upload.content).hexdigest()
        with self._listings.upload():
            return await self._upload(upload, host, server, digest)

    async def _upload(self, upload: Upload, host: str, server: str, digest: str) -> Uploaded:
        steps = Steps(server, self._settings.timeout, self._settings.total)
        async with self._opened(host, steps) as session:
            names, notes = await self._put(session, upload, digest, host, steps)
            aside = names.aside if NOT_ATOMIC in notes else None
            notes += await self._tidy(session, upload, steps, host, aside)
        place = server + self._settings.path_of(upload.filename)
        return Uploaded(place, len(upload.content), digest, notes)

    async def log_in(self, phone_ip: str | None, seconds: float) -> str:
        """Log in on the server for this phone, and log out; returns ``host:port``. Writes nothing.
        Raises like ``upload``; all of it ends within ``seconds``."""
        host = self._host(phone_ip)
        server = self._settings.server_of(host)
        steps = Steps(server, min(self._settings.timeout, seconds), seconds)
        async with self._opened(host, steps):
            return server

    def _host(self, phone_ip: str | None) -> str:
        if self._settings.host is not None:
            return self._settings.host
        if phone_ip is None:
            raise NoAddress
        return self._networks.allowed(phone_ip)

    def _opened(self, host: str, steps: Steps) -> AbstractAsyncContextManager[FtpSession]:
        return FtpSession.opened(host, self._settings, self._context, steps)

    async def _put(
        self, session: FtpSession, upload: Upload, digest: str, host: str, steps: Steps
    ) -> tuple[Names, tuple[str, ...]]:
        """Put the file in place; returns the names that were used, and notes."""
        names, size = hidden_names(upload), len(upload.content)
        notes: tuple[str, ...] = ()
        try:
            try:
                await session.store(names.temporary, upload.content)
            except ServerRefused as refused:
                if refused.reply not in {"550", "553"}:
                    raise
                names = plain_names(upload)
                await session.store(names.temporary, upload.content)
                notes = (NOT_HIDDEN,)
            began = steps.left()
            await session.verify(names.temporary, size, digest)
            if steps.left() < 2 * (began - steps.left()):
                # The rename and the second read back would not end in time. Without the rename, the
                # outcome is known.
                raise steps.late(RENAMING)
            if not await session.rename(names.temporary, upload.filename):
                notes += (NOT_ATOMIC,)
                await self._replacement(upload, names, host, steps).perform(session)
            await session.verify(upload.filename, size, digest)
        except PhoneprovError as error:
            if error.code == OUTCOME_UNKNOWN:
                raise
            aftermath = Aftermath(steps, lambda time: self._opened(host, time))
            if not session.rename_sent:
                await aftermath.clean_up(session, names.temporary)
                raise
            if not await aftermath.is_in_place(session, upload, names.temporary, digest, error):
                raise
            notes += (FOUND_LATER,)
        return names, notes

    def _replacement(self, upload: Upload, names: Names, host: str, steps: Steps) -> Replacement:
        timeout = self._settings.timeout
        return Replacement(
            steps.server,
            lambda: self._opened(host, Steps(steps.server, timeout, timeout)),
            temporary=names.temporary,
            final=upload.filename,
            aside=names.aside,
        )

    async def _tidy(
        self, session: FtpSession, upload: Upload, steps: Steps, host: str, aside: str | None
    ) -> tuple[str, ...]:
        """Delete the files of earlier attempts for this name, now that the new file is in place;
        ``aside`` is the old file if it was renamed.

        After the upload, since an attempt that was killed may have left the only complete copy of
        the old file under such a name. A lost connection is opened once more. A failure is only
        noted, since the upload has succeeded.
        """
        with suppress(PhoneprovError):
            if session.idle:
                if aside is not None:
                    await session.remove(aside)
                    aside = None
                await self._remove_leftovers(session, upload, steps)
                return ()
        with suppress(PhoneprovError):
            if not session.idle:
                async with self._opened(host, steps) as fresh:
                    if aside is not None:
                        await fresh.removed(aside)  # It is refused if only the reply was lost.
                    await self._remove_leftovers(fresh, upload, steps)
                return ()
        return (NOT_TIDY,)

    async def _remove_leftovers(self, session: FtpSession, upload: Upload, steps: Steps) -> None:
        left = await self._listings.leftovers(session, steps, upload)
        for name in left[:_MOST_LEFTOVERS]:
            await session.remove(name)
