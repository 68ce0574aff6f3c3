"""The ``ConfigUploader`` that speaks FTP."""

from __future__ import annotations

import hashlib
import ssl

from phoneprov_adapters.ftp.listings import Listings
from phoneprov_adapters.ftp.names import aside_name, check_names, temporary_name
from phoneprov_adapters.ftp.replace import NOT_ATOMIC, Replacement
from phoneprov_adapters.ftp.session import FtpSession
from phoneprov_adapters.ftp.settings import FtpSettings
from phoneprov_adapters.ftp.steps import Steps
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.devices.ports import ConfigUploader, Upload, Uploaded
from phoneprov_core.kernel.errors import Conflict, PhoneprovError

_MOST_LEFTOVERS = 32


class FtpUploader(ConfigUploader):
    """Uploads over FTP, one login an upload; the port's docstring is the contract.

    A server that is configured is taken as it is; a phone's address is asked of ``networks``
    at each upload, since the inventory may hold older ones. Content that is there already is
    uploaded and verified all the same: then it is true whoever changed the file meanwhile.

    What earlier attempts left behind is looked for in listings that uploads under way share (see
    ``listings``).

    Sockets are closed at once when the caller is cancelled, with one exception: on a server
    that does not rename onto an existing file (a note says so) the replacement begun is
    brought to an end first, which may take one ``timeout`` beyond ``total``.

    Making one reads ``tls_ca`` from disk: OSError when it is not there, ssl.SSLError when it
    holds no certificate.
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
        session = await self._open(host, steps)
        try:
            notes = await self._put(session, upload, digest, host, steps)
            notes += await self._tidy(session, upload, steps, moved_aside=NOT_ATOMIC in notes)
            await session.quit()
        finally:
            session.drop()
        place = server + self._settings.path_of(upload.filename)
        return Uploaded(place, len(upload.content), digest, notes)

    async def log_in(self, phone_ip: str | None, seconds: float) -> str:
        """Log in where a file for this phone would go, and leave: ``host:port``. Nothing is
        written. Raises like ``upload``; all of it ends within ``seconds``."""
        host = self._host(phone_ip)
        server = self._settings.server_of(host)
        steps = Steps(server, min(self._settings.timeout, seconds), seconds)
        session = await self._open(host, steps)
        try:
            await session.quit()
        finally:
            session.drop()
        return server

    def _host(self, phone_ip: str | None) -> str:
        if self._settings.host is not None:
            return self._settings.host
        if phone_ip is None:
            raise Conflict(
                "The phone has no IP address in the inventory, so there is nowhere to upload to.",
                code="no_address",
            )
        return self._networks.allowed(phone_ip)

    async def _open(self, host: str, steps: Steps) -> FtpSession:
        return await FtpSession.open(host, self._settings, self._context, steps)

    async def _put(
        self, session: FtpSession, upload: Upload, digest: str, host: str, steps: Steps
    ) -> tuple[str, ...]:
        temporary, size = temporary_name(upload), len(upload.content)
        notes: tuple[str, ...] = ()
        try:
            await session.store(temporary, upload.content)
            await session.verify(temporary, size, digest)
            if not await session.rename(temporary, upload.filename):
                await self._replacement(upload, host, steps).perform(session)
                notes = (NOT_ATOMIC,)
        except PhoneprovError:
            await self._clean_up(session, temporary, host, steps)
            raise
        await session.verify(upload.filename, size, digest)
        return notes

    def _replacement(self, upload: Upload, host: str, steps: Steps) -> Replacement:
        timeout = self._settings.timeout
        return Replacement(
            steps.server,
            lambda: self._open(host, Steps(steps.server, timeout, timeout)),
            temporary=temporary_name(upload),
            final=upload.filename,
            aside=aside_name(upload),
        )

    async def _clean_up(self, session: FtpSession, temporary: str, host: str, steps: Steps) -> None:
        """Delete the temporary file after a failure, if that is possible in one more step.

        A connection that is out of step after the failure cannot be asked: another is made.
        """
        rest = steps.rest()
        try:
            if session.idle:
                await session.remove(temporary)
                return
            session.drop()
            if rest <= 0:
                return
            fresh = await self._open(host, Steps(steps.server, rest, rest))
            try:
                await fresh.remove(temporary)
                await fresh.quit()
            finally:
                fresh.drop()
        except PhoneprovError:
            pass  # The next attempt removes it; what is raised is why this one failed.

    async def _tidy(
        self, session: FtpSession, upload: Upload, steps: Steps, *, moved_aside: bool
    ) -> tuple[str, ...]:
        """Delete what attempts for this file left behind, now that the new file is in place.

        Last, and not first: an attempt that was killed may have left the only whole copy of
        the old file under such a name. A failure is a note, for the upload is done.
        """
        try:
            if moved_aside:
                await session.remove(aside_name(upload))
            left = await self._listings.leftovers(session, steps, upload)
            for name in left[:_MOST_LEFTOVERS]:
                await session.remove(name)
        except PhoneprovError:
            return ("temporary files of earlier attempts could not be removed",)
        return ()
