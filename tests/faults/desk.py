"""The servers outside: an FTP server for the configurations of all phones, which records the
uploads of each, and the phones' web server."""

import asyncio
import contextlib
import functools
import io
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import aioftp

from phoneprov_adapters.simulator.ftp import ftp_server
from phoneprov_adapters.simulator.web import PhoneWebServer, WebPhone

USER, PASSWORD = "phoneprov", "ftp-secret"
_TEMPORARY = re.compile(r"\.(.+)\.([0-9a-f-]{36})\.tmp")


STRANGER = "00:1B:D4:12:34:56"


class Desk:
    """An FTP server with files in ``folder``.

    ``overlaps`` are files that a second upload started to replace during a first one; ``uploads``
    counts complete ones. Writing a file takes ``pause`` seconds, plus those that ``pauses`` has for
    its name. No file is written while ``open`` is not set, and none read under its final name while
    ``verifying`` is not set.
    """

    server: aioftp.Server
    web: PhoneWebServer

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ftp_port = 0
        self.http_port = 0
        self.pause = 0.0
        self.pauses: dict[str, float] = {}
        self.open = asyncio.Event()
        self.open.set()
        self.verifying = asyncio.Event()
        self.verifying.set()
        self.begun = asyncio.Event()
        self.overlaps: list[str] = []
        self.uploads: Counter[str] = Counter()
        self.commands: list[str] = []
        self._at_work: dict[str, str] = {}

    def settings(self) -> dict[str, str]:
        """The settings with which phoneprov reaches the servers."""
        return {
            "PHONEPROV_FTP_HOST": "127.0.0.1",
            "PHONEPROV_FTP_PORT": str(self.ftp_port),
            "PHONEPROV_FTP_USER": USER,
            "PHONEPROV_FTP_PASSWORD": PASSWORD,
            "PHONEPROV_PHONE_HTTP_PORT": str(self.http_port),
            "PHONEPROV_PHONE_NETWORKS": "127.0.0.0/8",
            "PHONEPROV_RESTART": "none",
        }

    def becomes(self, mac: str) -> None:
        """Let the phone at the address state this MAC from now on."""
        self.web._phone = WebPhone(mac=mac, model="CP-7945G", name="")

    def commanded(self, command: str) -> None:
        """Record a command. After a key another phone responds, which ends the watch at once."""
        self.commands.append(command)
        if command.startswith("Key:"):
            self.becomes(STRANGER)

    def is_at_work(self, name: str) -> bool:
        """Whether an upload of this file is running."""
        return name in self._at_work

    async def hung_up(self) -> None:
        """Wait until the FTP server has noticed disconnected clients: the commands of a killed
        client have ended then, and the server can be closed without open tasks."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(60):
                while self.server.connections:  # noqa: ASYNC110 - it has no event
                    await asyncio.sleep(0.01)

    def forget(self, name: str) -> None:
        """Remove the upload of this file, since its client was killed."""
        self._at_work.pop(name, None)

    async def writing(self, path: Path) -> None:
        """Record the start of an upload."""
        self.begun.set()
        temporary = _TEMPORARY.fullmatch(path.name)
        assert temporary, f"{path.name} is written in its place"
        name, attempt = temporary[1], temporary[2]
        if self._at_work.setdefault(name, attempt) != attempt:
            self.overlaps.append(name)
        await self.open.wait()
        await asyncio.sleep(self.pause + self.pauses.get(name, 0.0))

    def renamed(self, source: Path, target: Path) -> None:
        """Record a complete file."""
        temporary = _TEMPORARY.fullmatch(source.name)
        assert temporary
        if self._at_work.get(target.name) != temporary[2]:
            self.overlaps.append(target.name)
        self.uploads[target.name] += 1

    def read(self, path: Path) -> None:
        """Record the read back of a file, the last step of its upload."""
        if not path.name.startswith("."):
            self._at_work.pop(path.name, None)

    def forget_all(self) -> None:
        """Remove all uploads, since their clients were killed."""
        self._at_work.clear()

    def leftovers(self) -> list[str]:
        """The remaining temporary files."""
        return sorted(path.name for path in self.folder.glob(".*"))


class _Files(aioftp.PathIO):
    def __init__(self, *args: Any, desk: Desk, **options: Any) -> None:
        super().__init__(*args, **options)
        self._desk = desk

    async def _open(self, path: Path, *args: Any, **options: Any) -> io.BytesIO:
        if "w" in (args[0] if args else options.get("mode", "r")):
            await self._desk.writing(path)
        else:
            self._desk.read(path)
            if not path.name.startswith("."):
                await self._desk.verifying.wait()
        return await super()._open(path, *args, **options)

    async def rename(self, source: Path, destination: Path) -> Path:
        self._desk.renamed(source, destination)
        return await super().rename(source, destination)


@asynccontextmanager
async def desk(folder: Path) -> AsyncIterator[Desk]:
    """Running servers of a desk."""
    folder.mkdir(exist_ok=True)
    it = Desk(folder)
    it.server = ftp = ftp_server(folder, USER, PASSWORD, lambda _: None)
    files = functools.partial(_Files, desk=it)
    ftp.path_io_factory = aioftp.PathIONursery(cast("type[_Files]", files))
    it.web = web = PhoneWebServer(
        WebPhone(mac=STRANGER, model="CP-7945G", name="SEP001BD4123456"), it.commanded
    )
    await ftp.start("127.0.0.1", 0)
    try:
        it.ftp_port = ftp.server_port
        it.http_port = await web.start("127.0.0.1", 0)
        try:
            yield it
        finally:
            await web.close()
            await it.hung_up()
    finally:
        await ftp.close()
