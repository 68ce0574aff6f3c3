"""The screen of a simulated phone: it fetches pages and sends forms as a phone does."""

from typing import Self
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree

import httpx
from msgspec import Struct

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
