"""The console's files, as they are in the package, under ``/console/``."""

import asyncio
import gzip
import hashlib
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from litestar import Request, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response.base import ASGIResponse
from msgspec import Struct

PAGE = "index.html"

_TYPES = {
    "css": "text/css",
    "html": "text/html",
    "js": "text/javascript",
    "md": "text/markdown",
    "svg": "image/svg+xml",
}

_HELP = ("how-to", "explanation", "reference")

# Styles are set by script, through the object model, and never as text.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Asset(Struct, frozen=True):
    """One file. ``tag`` is its entity tag, derived from the content."""

    media_type: str
    content: bytes
    compressed: bytes
    tag: str

    def __repr__(self) -> str:
        return f"Asset({self.media_type!r}, {len(self.content)} bytes)"


def assets() -> dict[str, Asset]:
    """All files of the console by their paths below ``/console/``."""
    folder = resources.files("phoneprov_http.console").joinpath("static")
    return {name: _asset(name, file.read_bytes()) for name, file in _files(folder)}


def help_pages() -> dict[str, Asset]:
    """The pages of the documentation by their paths below ``/console/``. A wheel has them in the
    folder ``help``, the sources beside ``src``."""
    packed = resources.files("phoneprov_http.console").joinpath("help")
    folder = packed if packed.is_dir() else Path(__file__).parents[3] / "docs"
    return {
        name: _asset(name, file.read_bytes())
        for part in _HELP
        if folder.joinpath(part).is_dir()
        for name, file in _files(folder.joinpath(part), f"help/{part}/")
        if name.endswith(".md")
    }


def _files(folder: Traversable, before: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{before}{entry.name}/")
        elif entry.name.rpartition(".")[2] in _TYPES:
            yield before + entry.name, entry


def _asset(name: str, content: bytes) -> Asset:
    return Asset(
        media_type=_TYPES[name.rpartition(".")[2]],
        content=content,
        compressed=gzip.compress(content, mtime=0),
        tag=f'"{hashlib.sha256(content).hexdigest()[:32]}"',
    )


def file_handlers() -> list[HTTPRouteHandler]:
    """``/console/`` and the files below it. A browser asks again whether a file changed, so that
    all files of a page are of one version."""
    kept: dict[str, Asset] = {}

    async def send(request: Request[Any, Any, Any], name: str) -> ASGIResponse:
        if not kept:
            kept.update(await asyncio.to_thread(lambda: assets() | help_pages()))
        asset = kept.get(name)
        if asset is None:
            raise NotFoundException
        headers = {"Cache-Control": "no-cache", "ETag": asset.tag, "Vary": "Accept-Encoding"}
        if name == PAGE:
            headers["Content-Security-Policy"] = _POLICY
        if _has(request.headers.get("if-none-match", ""), asset.tag):
            return ASGIResponse(body=b"", status_code=304, headers=headers)
        body = asset.content
        if _accepts_gzip(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"] = "gzip"
            body = asset.compressed
        return ASGIResponse(body=body, media_type=asset.media_type, headers=headers)

    @get("/")
    async def console_page(request: Request[Any, Any, Any]) -> ASGIResponse:
        """The page. Its files are named relative to ``/console/``, with the slash."""
        if not (request.scope.get("raw_path") or b"/").endswith(b"/"):
            return ASGIResponse(body=b"", status_code=308, headers={"Location": "console/"})
        return await send(request, PAGE)

    @get("/{path:path}")
    async def console_file(request: Request[Any, Any, Any], path: FromPath[str]) -> ASGIResponse:
        """A file beside the page, or in a folder beside it."""
        return await send(request, path.removeprefix("/"))

    return [console_page, console_file]


def _has(field: str, tag: str) -> bool:
    """Whether an ``If-None-Match`` names this tag (RFC 9110 section 13.1.2)."""
    tags = [one.strip().removeprefix("W/") for one in field[:4096].split(",")]
    return tag in tags or tags == ["*"]


def _accepts_gzip(field: str) -> bool:
    """Whether an ``Accept-Encoding`` names gzip, with a weight other than 0."""
    for coding in field[:4096].lower().split(","):
        name, _, weight = coding.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "").rstrip("0.") != "q="
    return False
