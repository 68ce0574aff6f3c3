"""The OpenAPI document, and a page that shows it. Everything on the page is served from here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import resources
from typing import Any

import msgspec
from litestar import Litestar, Request, Router, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_http.openapi.document import document

# The style sheet draws its arrows and marks from images that it holds itself, as data.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_OWN = {"docs.css": "text/css", "docs.js": "text/javascript"}
_SWAGGER_UI = {
    "favicon-32x32.png": "image/png",
    "swagger-ui.css": "text/css",
    "swagger-ui-bundle.js": "text/javascript",
}


def docs_routes() -> Router:
    """``/docs``."""
    kept: dict[str, bytes] = {}

    @get("/")
    async def docs_page() -> ASGIResponse:
        """A page that shows the document and sends requests."""
        return ASGIResponse(
            body=await asyncio.to_thread(_own, "docs.html"),
            media_type="text/html",
            headers={"Content-Security-Policy": _POLICY},
        )

    @get("/openapi.json")
    async def openapi_json(request: Request[Any, Any, Any]) -> ASGIResponse:
        """The document."""
        if "document" not in kept:
            kept["document"] = await asyncio.to_thread(_encoded, request.app)
        return ASGIResponse(body=kept["document"], media_type="application/json")

    @get("/{name:str}")
    async def own_asset(name: FromPath[str]) -> ASGIResponse:
        """A part of the page."""
        return await _asset(name, _OWN, _own)

    @get("/swagger-ui/{name:str}")
    async def swagger_ui_asset(name: FromPath[str]) -> ASGIResponse:
        """A file of Swagger UI, from the package that ships it."""
        return await _asset(name, _SWAGGER_UI, _swagger_ui)

    return Router(
        "/docs",
        route_handlers=[docs_page, openapi_json, own_asset, swagger_ui_asset],
        include_in_schema=False,
    )


async def _asset(name: str, types: dict[str, str], read: Callable[[str], bytes]) -> ASGIResponse:
    if name not in types:
        raise NotFoundException
    return ASGIResponse(
        body=await asyncio.to_thread(read, name),
        media_type=types[name],
        headers={"Cache-Control": "public, max-age=3600"},
    )


def _own(name: str) -> bytes:
    return resources.files("phoneprov_http").joinpath("static", name).read_bytes()


def _swagger_ui(name: str) -> bytes:
    return resources.files("swagger_ui").joinpath("static", name).read_bytes()


def _encoded(app: Litestar) -> bytes:
    return msgspec.json.encode(document(app))
