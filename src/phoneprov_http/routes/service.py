"""The checks of the service, and its OpenAPI document with a page that shows it."""

import asyncio
from collections.abc import Awaitable, Callable
from importlib import resources
from typing import Any

import msgspec
from litestar import Request, Router, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath
from litestar.response.base import ASGIResponse

from phoneprov_core.kernel.errors import Unavailable
from phoneprov_http.envelope import Done, done
from phoneprov_http.openapi.document import document
from phoneprov_http.routes.handlers import PUBLIC, Routes


def health_routes(ready: Callable[[], Awaitable[str | None]]) -> Routes:
    """``/health``. Liveness and readiness checks."""
    routes = Routes("Health", "/health", opt=PUBLIC)

    @routes.get("/live")
    async def live() -> Done:
        """Liveness check. The process responds."""
        return done("Alive")

    @routes.get("/ready")
    async def is_ready() -> Done:
        """Readiness check. The database is reachable, its schema is that of this version, and it
        stores changes."""
        reason = await ready()
        if reason is not None:
            raise Unavailable(reason)
        return done("Ready")

    return routes


# The style sheet draws its arrows and marks from images that it holds itself, as data.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ASSETS = {
    "/docs.css": ("phoneprov_http", "text/css"),
    "/docs.js": ("phoneprov_http", "text/javascript"),
    # The package that ships Swagger UI.
    "/swagger-ui/favicon-32x32.png": ("swagger_ui", "image/png"),
    "/swagger-ui/swagger-ui.css": ("swagger_ui", "text/css"),
    "/swagger-ui/swagger-ui-bundle.js": ("swagger_ui", "text/javascript"),
}


def docs_routes() -> Router:
    """``/docs``. Everything on the page is served from here."""
    kept: dict[str, bytes] = {}

    @get("/")
    async def docs_page(request: Request[Any, Any, Any]) -> ASGIResponse:
        """A page that sends requests. It names its files relative to ``/docs``, without slash."""
        if (request.scope.get("raw_path") or b"").endswith(b"/"):
            return ASGIResponse(body=b"", status_code=308, headers={"Location": "../docs"})
        body = await asyncio.to_thread(_content, "phoneprov_http", "docs.html")
        headers = {"Content-Security-Policy": _POLICY}
        return ASGIResponse(body=body, media_type="text/html", headers=headers)

    @get("/openapi.json")
    async def openapi_json(request: Request[Any, Any, Any]) -> ASGIResponse:
        """The document."""
        if "document" not in kept:
            made = await asyncio.to_thread(document, request.app)
            kept["document"] = msgspec.json.encode(made)
        return ASGIResponse(body=kept["document"], media_type="application/json")

    @get("/{path:path}")
    async def docs_asset(path: FromPath[str]) -> ASGIResponse:
        """A part of the page."""
        if path not in _ASSETS:
            raise NotFoundException
        package, media_type = _ASSETS[path]
        body = await asyncio.to_thread(_content, package, path.rpartition("/")[2])
        headers = {"Cache-Control": "public, max-age=3600"}
        return ASGIResponse(body=body, media_type=media_type, headers=headers)

    handlers = [docs_page, openapi_json, docs_asset]
    return Router("/docs", route_handlers=handlers, opt=PUBLIC, include_in_schema=False)


def _content(package: str, name: str) -> bytes:
    return resources.files(package).joinpath("static", name).read_bytes()
