"""The login on an FTP server, and a session with one method for each operation of an upload."""

import hashlib
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

from aioftp.client import DataConnectionThrottleStreamIO

from phoneprov_adapters.ftp.client import FtpClient
from phoneprov_adapters.ftp.steps import (
    CONNECTING,
    LOGGING_IN,
    NEW_NAME,
    RENAMING,
    TEMPORARY,
    TLS,
    UPLOADING,
    VERIFYING,
    FtpSettings,
    ServerRefused,
    Steps,
)
from phoneprov_adapters.runtime.networks import looked_up
from phoneprov_core.kernel.errors import PhoneprovError, Refused
from phoneprov_core.switching.devices.ports import Content

BLOCK = 64 * 1024
_LISTING_LIMIT = 1024 * 1024
_SHORT_SECONDS = 1.0
_UNIX_MODE = re.compile(r"unix\.mode=([0-7]{3,6});", re.IGNORECASE)
_LS_LINE = re.compile(r"-([r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-])[+.@]?\s")


class FtpSession:
    """A session on a server, with an open login. Names are names of files in the configured folder.

    Every method raises like ``Steps.step``; the message names the step. ``steps`` has the
    deadlines. ``rename_sent`` is true once RNTO was sent: the target may then be the renamed file.
    ``rename_refused`` is true if the server refused the last RNTO. ``shows_modes`` is false if the
    server does not show the permissions of files.
    """

    def __init__(self, client: FtpClient, steps: Steps) -> None:
        self.steps = steps
        self.rename_sent = False
        self.rename_refused = False
        self._client = client
        self.shows_modes = True
        self._has_mlst = True

    @property
    def idle(self) -> bool:
        """Whether the server waits for a command, so that another command can be sent."""
        return self._client.idle

    def drop(self) -> None:
        """Close every socket at once."""
        self._client.drop()

    async def finish_command(self, doing: str = "removing") -> None:
        """Abort a transfer, and wait until the next command can be sent."""
        async with self.steps.step(doing):
            await self._client.finish_command()

    async def resume(self, steps: Steps) -> bool:
        """Begin another upload with the deadlines ``steps``. False if the server does not answer
        with success: it may have ended the session."""
        self.rename_sent = self.rename_refused = False
        self._client.forget_closed()
        self.steps = Steps(steps.server, _SHORT_SECONDS, steps.rest())
        try:
            async with self.steps.step(LOGGING_IN):
                await self._client.command("TYPE I", "200")
        except PhoneprovError:
            return False
        self.steps = steps
        return True

    def leave(self) -> None:
        """Send QUIT without waiting for its reply, and close the connection."""
        self._client.leave()

    async def quit(self) -> None:
        """Send QUIT if the server waits for a command; a missing or late reply is no error."""
        if self.idle:
            with suppress(PhoneprovError):  # The file is in place.
                async with Steps(self.steps.server, _SHORT_SECONDS, self.steps.rest()).step(
                    "leaving"
                ):
                    await self._client.command("QUIT", "2xx")

    async def store(self, name: str, content: bytes, doing: str = UPLOADING) -> None:
        """Write a file, and read the server's reply that the transfer is complete."""
        what = TEMPORARY if name.endswith(".tmp") else "the file"
        async with self.steps.step(doing, what):
            stream = await self._client.get_stream(f"STOR {name}", "1xx")
        for start in range(0, len(content), BLOCK):
            try:
                async with self.steps.step(doing):
                    await stream.write(content[start : start + BLOCK])
            except Refused:
                break  # The reply below has the reason, such as a full disk.
        async with self.steps.step(doing, "the file"):
            await stream.finish()

    async def verify(self, name: str, size: int, sha256: str, doing: str = VERIFYING) -> None:
        """Read a file back. Raises ``Refused`` unless it has this size and SHA-256."""
        if not await self._is_as_sent(name, size, sha256, doing):
            raise Refused(
                f"The FTP server {self.steps.server} returned different content than was "
                f"uploaded while {doing}."
            )

    async def holds(self, name: str, size: int, sha256: str) -> bool:
        """Whether a file of this size and SHA-256 exists."""
        try:
            return await self._is_as_sent(name, size, sha256, VERIFYING)
        except ServerRefused as refused:
            if refused.reply != "550":
                raise
            return False

    async def is_another(self, name: str, content: Content) -> bool:
        """Whether the content of the file differs, or the server refuses to send the file. If the
        file is longer, the transfer is aborted, and the session is not ``idle`` if the server has
        ended it."""
        try:
            is_same = await self._is_as_sent(name, content.size, content.sha256, VERIFYING)
        except ServerRefused:
            return True
        if not self.idle:  # The file is longer and was not read to its end.
            with suppress(PhoneprovError):
                await self.finish_command(VERIFYING)
        return not is_same

    async def _is_as_sent(self, name: str, size: int, sha256: str, doing: str) -> bool:
        digest = hashlib.sha256()
        received = 0

        def take(block: bytes) -> None:
            nonlocal received
            received += len(block)
            digest.update(block)
            if received > size:
                raise _Longer

        try:
            await self.retrieve(f"RETR {name}", doing, take)
        except _Longer:
            return False
        return received == size and digest.hexdigest() == sha256

    async def read(self, name: str, limit: int, doing: str) -> bytes | None:
        """The content of a file; None if the server refuses to send it. Raises ``Refused`` if the
        file has more than ``limit`` bytes."""
        content = bytearray()

        def take(block: bytes) -> None:
            content.extend(block)
            if len(content) > limit:
                raise Refused(
                    f"The old file on the FTP server {self.steps.server} is too large to be kept "
                    f"for a restore (more than {limit:,} bytes) while {doing}."
                )

        try:
            await self.retrieve(f"RETR {name}", doing, take)
        except ServerRefused:
            return None
        return bytes(content)

    async def rename(
        self, source: str, target: str, proceed: Callable[[], Awaitable[None]] | None = None
    ) -> bool:
        """Rename a file. False if the server refuses the new name (550, 553): some servers do so
        if a file with this name exists. ``proceed`` is awaited before RNTO, the command that
        changes the files."""
        async with self.steps.step(RENAMING, NEW_NAME):
            await self._client.command(f"RNFR {source}", "350")
        if proceed is not None:
            await proceed()
        self.rename_sent, self.rename_refused = True, False
        try:
            async with self.steps.step(RENAMING, NEW_NAME):
                await self._client.command(f"RNTO {target}", "2xx")
        except ServerRefused as refused:
            self.rename_refused = True
            if refused.reply not in {"550", "553"}:
                raise
            return False
        return True

    async def remove(self, name: str) -> None:
        """Delete a file."""
        async with self.steps.step("removing"):
            await self._client.command(f"DELE {name}", "2xx")

    async def removed(self, name: str) -> bool:
        """Delete a file. False if the server refuses, as it does when the file does not exist."""
        try:
            await self.remove(name)
        except ServerRefused:
            return False
        return True

    async def mode(self, name: str) -> int | None:
        """The permissions of a file; None if the file does not exist or the server does not show
        permissions. MLST has them in the fact UNIX.mode, LIST in the first word of a line, like
        ``ls``."""
        if self._has_mlst:
            try:
                async with self.steps.step(VERIFYING):
                    reply = await self._client.command(f"MLST {name}", "250")
            except ServerRefused as refused:
                self._has_mlst = refused.reply == "550"
                if self._has_mlst:
                    return None
            else:
                if found := _UNIX_MODE.search(" ".join(reply[1] if reply else ())):
                    return int(found[1], 8) & 0o777
                self._has_mlst = False
        listing = bytearray()
        try:
            await self.retrieve(f"LIST {name}", VERIFYING, listing.extend)
        except ServerRefused:
            return None
        line = _LS_LINE.match(listing.decode(errors="replace"))
        bits = "".join("0" if letter == "-" else "1" for letter in line[1]) if line else ""
        return int(bits, 2) if bits else None

    async def change_mode(self, name: str, mode: int) -> bool:
        """Change the permissions of a file. False if the server refuses."""
        try:
            async with self.steps.step(VERIFYING):
                await self._client.command(f"SITE CHMOD {mode:o} {name}", "2xx")
        except ServerRefused:
            return False
        return True

    async def names(self) -> list[str]:
        """The names of the files in the folder, with hidden files if the server lists them. Empty
        if the server supports no listing.

        The name is the last word of a line in every format, after facts, permissions and dates (RFC
        3659, section 7; RFC 959, section 4.1.3). So names with spaces are not supported.
        """
        for command in ("MLSD", "NLST -a", "LIST -a"):
            listing = bytearray()

            def take(block: bytes, listing: bytearray = listing) -> None:
                listing.extend(block)
                if len(listing) > _LISTING_LIMIT:
                    raise Refused("The folder is too large to be listed.")

            try:
                await self.retrieve(command, "listing", take)
            except ServerRefused as refused:
                if not refused.reply.startswith("5"):
                    raise
                continue
            words = (line.split() for line in listing.decode(errors="replace").splitlines())
            return [line[-1].rpartition("/")[2] for line in words if line]
        return []

    async def retrieve(self, command: str, doing: str, take: Callable[[bytes], None]) -> None:
        """Pass the data of a command to ``take``, in blocks of at most 64 KiB. An error that
        ``take`` raises interrupts the transfer: the caller must then call ``finish_command``."""
        async with self.steps.step(doing):
            stream = await self._client.get_stream(command, "1xx")
        while True:
            async with self.steps.step(doing):
                block = await _block(stream)
            if not block:
                break
            take(block)
        async with self.steps.step(doing):
            await stream.finish()


class FtpServer(NamedTuple):
    """One server with its login. ``context`` is None without TLS."""

    host: str
    settings: FtpSettings
    context: ssl.SSLContext | None

    @property
    def name(self) -> str:
        """``host:port``, an IPv6 address in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.settings.port}"

    def steps(self, timeout: float, total: float) -> Steps:
        """Deadlines that begin now: seconds for one step, and for all of them."""
        return Steps(self.name, timeout, total)

    @asynccontextmanager
    async def opened(self, steps: Steps) -> AsyncIterator[FtpSession]:
        """A session, which sends QUIT at the end unless there is an error. Closes every socket."""
        session = await self.session(steps)
        try:
            yield session
            await session.quit()
        finally:
            session.drop()

    async def session(self, steps: Steps) -> FtpSession:
        """Connect, log in and change to the folder. The caller must end the session."""
        settings = self.settings
        what = "the FTP server (PHONEPROV_FTP_HOST)"
        addresses = await looked_up(self.host, settings.port, what, steps.rest())
        client = FtpClient(settings.tls, self.context, addresses)
        is_clear = settings.tls == "off"
        try:
            async with steps.step(CONNECTING, "the connection", is_clear=is_clear):
                await client.connect(self.host, settings.port)
            if settings.tls == "explicit":
                async with steps.step(CONNECTING, TLS):
                    await client.upgrade_to_tls()
            async with steps.step(LOGGING_IN, "the user or the password", is_clear=is_clear):
                await client.login(settings.user, settings.password)
            if settings.tls == "implicit":
                async with steps.step(LOGGING_IN, "TLS for data connections"):
                    await client.protect()
            if settings.directory:
                async with steps.step(LOGGING_IN, "the configured folder"):
                    await client.command(f"CWD {settings.directory}", "2xx")
        except BaseException:
            client.drop()
            raise
        return FtpSession(client, steps)


class _Longer(Exception):
    """Ends a transfer: the file is longer than expected, and the rest is not read."""


async def _block(stream: DataConnectionThrottleStreamIO) -> bytes:
    """The next 64 KiB; fewer bytes before the end of the data, none at the end."""
    block = bytearray()
    while len(block) < BLOCK:
        part = await stream.read(BLOCK - len(block))
        if not part:
            break
        block.extend(part)
    return bytes(block)
