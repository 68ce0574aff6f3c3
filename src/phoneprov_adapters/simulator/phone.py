"""The simulated phone and its screen."""

import asyncio
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree

import httpx
from msgspec import Struct

from phoneprov_adapters.simulator.ftp import FileArrived, ftp_server
from phoneprov_adapters.simulator.web import PhoneWebServer, WebPhone
from phoneprov_core.switching.devices.commands import restart_keys
from phoneprov_core.switching.devices.names import device_name


class ScreenPage(Struct):
    """What the screen shows. ``items`` are lines to choose with their addresses, ``entries`` names
    and numbers, ``keys`` soft keys with their addresses, ``fields`` labels and parameters of a form
    that is sent to ``form``."""

    kind: str = ""
    title: str = ""
    prompt: str = ""
    text: str = ""
    items: list[tuple[str, str]] = []
    entries: list[tuple[str, str]] = []
    keys: list[tuple[str, str]] = []
    fields: list[tuple[str, str]] = []
    form: str = ""
    posts: bool = False

    def lines(self) -> list[str]:
        """The page as lines of text."""
        shown = [f"[{self.title}]"]
        shown += [self.text] if self.text else []
        shown += [f"  {place} {name}" for place, (name, _) in enumerate(self.items, 1)]
        shown += [f"  {name}: {number}" for name, number in self.entries]
        shown += [f"  {name}: ____" for name, _ in self.fields]
        shown += [f"  <{'> <'.join(name for name, _ in self.keys)}>"] if self.keys else []
        return shown


class Screen:
    """Shows the pages of one service at ``base`` for the phone ``mac`` (canonical)."""

    def __init__(self, base: str, mac: str, model: str = "CP-7945G") -> None:
        self._name = device_name(mac)
        headers = {
            "User-Agent": "Allegro-Software-WebClient/4.34",
            "Accept-Charset": "utf-8,iso-8859-1;q=0.8",
            "x-CiscoIPPhoneModelName": model,
        }
        self._client = httpx.AsyncClient(
            base_url=base, headers=headers, timeout=40, trust_env=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._client.aclose()

    async def services(self) -> ScreenPage:
        """Press the key Services."""
        return await self._fetch(f"/phone/services?locale=English&name={self._name}")

    async def choose(self, page: ScreenPage, name: str) -> ScreenPage:
        """Choose the first line or key whose name begins like this. Raises ``LookupError``."""
        for item, url in (*page.items, *page.keys):
            if item.startswith(name) and not url.startswith("SoftKey:"):
                return await self.open(url)
        raise LookupError(f"The page {page.title!r} has no line {name!r}.")

    async def open(self, url: str) -> ScreenPage:
        """Fetch the page of a line or key."""
        return await self._fetch(url)

    async def submit(self, page: ScreenPage, *values: str) -> ScreenPage:
        """Send a form with these values in the order of its fields."""
        sent = dict(zip((parameter for _, parameter in page.fields), values, strict=True))
        if page.posts:
            return _read((await self._client.post(page.form, data=sent)).content)
        joint = "&" if urlsplit(page.form).query else "?"
        return await self._fetch(f"{page.form}{joint}{urlencode(sent)}")

    async def _fetch(self, url: str) -> ScreenPage:
        return _read((await self._client.get(url)).content)


def _read(content: bytes) -> ScreenPage:
    """The page in a document. Raises ``ValueError`` for anything else."""
    try:
        root = ElementTree.fromstring(content)  # noqa: S314 - a page of this service  # nosec B314
    except ElementTree.ParseError:
        raise ValueError("XML Error[4]: the reply is not a page.") from None

    def pairs(item: str, name: str, value: str) -> list[tuple[str, str]]:
        return [(one.findtext(name, ""), one.findtext(value, "")) for one in root.iter(item)]

    return ScreenPage(
        kind=root.tag.removeprefix("CiscoIPPhone"),
        title=root.findtext("Title", ""),
        prompt=root.findtext("Prompt", ""),
        text=root.findtext("Text", ""),
        items=pairs("MenuItem", "Name", "URL"),
        entries=pairs("DirectoryEntry", "Name", "Telephone"),
        keys=pairs("SoftKeyItem", "Name", "URL"),
        fields=pairs("InputItem", "DisplayName", "QueryStringParam"),
        form=root.findtext("URL", ""),
        posts=root.find("URL[@method='post']") is not None,
    )


AWAY_SECONDS = 2.0
"""Duration of a restart in seconds; a real phone needs dozens of seconds."""


class CommandReceived(Struct, frozen=True):
    """The phone executed a command and reported success."""

    uri: str


Event = FileArrived | CommandReceived
OnEvent = Callable[[Event], None]


class SimulatedPhone:
    """Serves inside its context; the actual numbers of ports given as 0 are known there.

    Files are stored in ``folder``, which is created if needed, or in a temporary one that is
    removed at the end. ``events`` are the received files and commands in order, and ``on_event`` is
    called with each. After the complete sequence of keys that restarts this model ``restarted`` is
    true, and the web server is unreachable for ``away_seconds``. With an ``http_user`` commands
    need that login; the FTP server always needs its own.
    """

    def __init__(
        self,
        *,
        ftp_password: str,
        ftp_user: str = "phoneprov",
        host: str = "127.0.0.1",
        ftp_port: int = 0,
        http_port: int = 0,
        mac: str = "00:1B:D4:12:34:56",
        model: str = "CP-7945G",
        load: str = "",
        http_user: str = "",
        http_password: str = "",
        folder: Path | None = None,
        away_seconds: float = AWAY_SECONDS,
        on_event: OnEvent | None = None,
    ) -> None:
        self.host = host
        self.ftp_port = ftp_port
        self.http_port = http_port
        self.mac = mac
        self.model = model
        self.events: list[Event] = []
        self.restarted = False
        self._ftp_login = (ftp_user, ftp_password)
        self._folder = folder
        self._away_seconds = away_seconds
        self._on_event = on_event
        self._keys = tuple(key.uri for key in restart_keys(model))
        self._commands: list[str] = []
        self._web = PhoneWebServer(
            WebPhone(
                mac=mac,
                model=model,
                name=device_name(mac),
                load=load,
                user=http_user,
                password=http_password,
            ),
            self._receive,
        )
        self._running = AsyncExitStack()

    @property
    def folder(self) -> Path:
        """The folder of the files; RuntimeError before a temporary folder was created."""
        if self._folder is None:
            raise RuntimeError("the simulated phone is not running")
        return self._folder

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as starting:
            if self._folder is None:
                temporary = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="phone-")
                starting.push_async_callback(asyncio.to_thread, temporary.cleanup)
                self._folder = Path(temporary.name)
            await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
            ftp = ftp_server(self._folder, *self._ftp_login, self._record)
            await ftp.start(self.host, self.ftp_port)
            starting.push_async_callback(ftp.close)
            self.ftp_port = ftp.server_port
            self.http_port = await self._web.start(self.host, self.http_port)
            starting.push_async_callback(self._web.close)
            self._running = starting.pop_all()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._running.aclose()

    def _receive(self, uri: str) -> None:
        self._commands = [*self._commands, uri][-len(self._keys) :]
        if tuple(self._commands) == self._keys:
            self.restarted = True
            self._web.go_away(self._away_seconds)
        self._record(CommandReceived(uri))

    def _record(self, event: Event) -> None:
        self.events.append(event)
        if self._on_event:
            self._on_event(event)
