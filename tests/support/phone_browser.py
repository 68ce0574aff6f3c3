"""A phone's browser: it fetches pages, follows menus and sends forms as a phone does."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree

import httpx

from support import phone_schema


@dataclass
class Shown:
    """The page on the screen.

    ``items`` are names and addresses of a menu, ``entries`` names and numbers, ``keys`` names and
    addresses of soft keys; ``form`` is the address of a form.
    """

    kind: str
    title: str
    text: str
    prompt: str = ""
    items: dict[str, str] = field(default_factory=dict)
    entries: list[tuple[str, str]] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    form: str = ""
    posts: bool = False
    fields: dict[str, str] = field(default_factory=dict)
    reply: httpx.Response | None = None

    @property
    def content(self) -> bytes:
        assert self.reply is not None
        return self.reply.content


class PhoneBrowser:
    """A phone at an address. Its name is appended to the first address only."""

    def __init__(
        self, app: Any, mac: str, ip: str, *, headers: dict[str, str] | None = None
    ) -> None:
        self.name = f"SEP{mac.replace(':', '')}"
        transport = httpx.ASGITransport(app=app, client=(ip, 50123))
        self.client = httpx.AsyncClient(
            transport=transport,
            base_url="http://phoneprov.test:8000",
            headers={"x-CiscoIPPhoneModelName": "CP-7945G", **(headers or {})},
        )

    async def first(self, path: str = "/phone/services") -> Shown:
        """Fetch an entry point."""
        return await self.fetch(f"{path}?locale=English_United_States&name={self.name}")

    async def choose(self, page: Shown, item: str) -> Shown:
        """Choose the item whose name starts with this text."""
        name = next(name for name in page.items if name.startswith(item))
        return await self.fetch(page.items[name])

    async def follow(self, page: Shown, path: str) -> Shown:
        """Choose the item that leads to this page, in any language."""
        return await self.fetch(next(url for url in page.items.values() if f"/{path}?" in url))

    async def submit(self, page: Shown, **values: str) -> Shown:
        """Send a form with values for the fields of these names."""
        assert set(values) <= set(page.fields), page.fields
        return await self.send(page, {page.fields[name]: values[name] for name in values})

    async def send(self, page: Shown, values: dict[str, str]) -> Shown:
        """Send a form with values for the parameters of these names."""
        sent = {name: values.get(name, "") for name in page.fields.values()}
        if page.posts:
            body = urlencode(sent)
            assert len(body) <= 512
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            return read(await self.client.post(page.form, content=body, headers=headers))
        joint = "&" if urlsplit(page.form).query else "?"
        return await self.fetch(f"{page.form}{joint}{urlencode(sent)}")

    async def fetch(self, url: str) -> Shown:
        return read(await self.client.get(url))

    async def log_in(self, user: str, pin: str) -> Shown:
        """Open the form of a menu and send it; the response."""
        form = await self.choose(await self.first(), "Log in")
        return await self.submit(form, User=user, PIN=pin)

    async def log_out(self) -> Shown:
        return await self.choose(await self.choose(await self.first(), "Log out"), "Log out")


def read(reply: httpx.Response) -> Shown:
    """The page in a reply, checked against the schema of phones."""
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/xml; charset=")
    root = ElementTree.fromstring(reply.content)  # noqa: S314 - our own pages
    phone_schema.check(root)
    shown = Shown(
        root.tag.removeprefix("CiscoIPPhone"),
        root.findtext("Title") or "",
        root.findtext("Text") or "",
        root.findtext("Prompt") or "",
        reply=reply,
    )
    for item in root.iter("MenuItem"):
        shown.items[item.findtext("Name") or ""] = item.findtext("URL") or ""
    for entry in root.iter("DirectoryEntry"):
        name, number = entry.findtext("Name") or "", entry.findtext("Telephone") or ""
        shown.entries.append((name, number))
    for key in root.iter("SoftKeyItem"):
        shown.keys[key.findtext("Name") or ""] = key.findtext("URL") or ""
    for one in root.iter("InputItem"):
        shown.fields[one.findtext("DisplayName") or ""] = one.findtext("QueryStringParam") or ""
    if (url := root.find("URL")) is not None:
        shown.form, shown.posts = url.text or "", url.get("method") == "post"
    for address in [*shown.items.values(), *shown.keys.values(), shown.form]:
        assert not address.startswith("http") or "device=SEP" in address, address
    return shown
