"""The OpenAPI document, and a page that shows it; everything on it is served from here."""

from __future__ import annotations

import asyncio
from importlib import resources

import msgspec
from litestar import Litestar, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_http.openapi.document import document
from phoneprov_http.requests import AnyRequest
from phoneprov_http.routes.router import Router

# The style sheet draws its arrows and marks from images that it holds itself, as data.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ASSETS = {
    "docs.css": "text/css",
    "docs.js": "text/javascript",
    "swagger-ui/favicon-32x32.png": "image/png",
    "swagger-ui/swagger-ui.css": "text/css",
    "swagger-ui/swagger-ui-bundle.js": "text/javascript",
}


def docs_routes() -> Router:
    """``/docs``."""
    kept: dict[str, bytes] = {}

    @get("/")
    async def page() -> ASGIResponse:
        """A page that shows the document and lets one try it."""
        return ASGIResponse(
            body=await asyncio.to_thread(_read, "docs.html"),
            media_type="text/html",
            headers={"Content-Security-Policy": _POLICY},
        )

    @get("/openapi.json")
    async def openapi_json(request: AnyRequest) -> ASGIResponse:
        """The document."""
        if "document" not in kept:
            kept["document"] = await asyncio.to_thread(_encoded, request.app)
        return ASGIResponse(body=kept["document"], media_type="application/json")

    async def asset(name: str) -> ASGIResponse:
        if name not in _ASSETS:
            raise NotFoundException
        return ASGIResponse(
            body=await asyncio.to_thread(_read, name),
            media_type=_ASSETS[name],
            headers={"Cache-Control": "public, max-age=3600"},
        )

    @get("/{name:str}")
    async def own_asset(name: FromPath[str]) -> ASGIResponse:
        """A part of the page."""
        return await asset(name)

    @get("/swagger-ui/{name:str}")
    async def swagger_ui_asset(name: FromPath[str]) -> ASGIResponse:
        """A part of Swagger UI."""
        return await asset(f"swagger-ui/{name}")

    return Router("/docs", route_handlers=[page, openapi_json, own_asset, swagger_ui_asset])


def _read(name: str) -> bytes:
    return resources.files("phoneprov_http").joinpath("static", name).read_bytes()


def _encoded(app: Litestar) -> bytes:
    return msgspec.json.encode(document(app))
