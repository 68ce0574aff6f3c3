"""Sections of the interface, and the parameters in their paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from litestar import Router
from litestar.connection import ASGIConnection
from litestar.handlers import HTTPRouteHandler
from litestar.params import PathParameter

from phoneprov_core.kernel.errors import PhoneprovError
from phoneprov_core.kernel.fields import MAC
from phoneprov_http.openapi.failures import specified

AnyHandler = Callable[..., Any]
Decorator = Callable[[AnyHandler], AnyHandler]

_UUID = {"format": "uuid", "examples": ["5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"]}

Uuid = Annotated[str, PathParameter(description="UUID of the record", schema_extra=_UUID)]
UserUuid = Annotated[str, PathParameter(description="UUID of the user", schema_extra=_UUID)]
ExtensionUuid = Annotated[
    str, PathParameter(description="UUID of the extension", schema_extra=_UUID)
]
Mac = Annotated[
    str,
    PathParameter(
        description=(
            "MAC address of the phone: 12 hexadecimal digits, separated by `:` or `-` or dots, "
            "or not separated"
        ),
        schema_extra={"pattern": MAC, "examples": ["00:1B:D4:12:34:56"]},
    ),
]


class Handler(HTTPRouteHandler):
    """A handler whose guards see the handler itself. Litestar copies it for each guard of each
    request, which takes longer than to read a record."""

    async def authorize_connection(self, connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        for guard in self.resolve_guards():
            await guard(connection, self)  # type: ignore[misc]


class Routes(Router):
    """A section of the interface. Its methods decorate handlers: the first sentence of a
    handler's docstring is the summary of its operation, ``raises`` names the errors that do not
    follow from path, parameters, body and guards."""

    def __init__(self, tag: str, path: str = "/api/v1", **more: Any) -> None:
        super().__init__(path, route_handlers=[], tags=[tag], **more)

    def get(self, path: str, **more: Any) -> Decorator:
        """Decorates a handler of GET."""
        return self._decorator("GET", path, **more)

    def post(self, path: str, **more: Any) -> Decorator:
        """Decorates a handler of POST; its status is 201 unless it says otherwise."""
        return self._decorator("POST", path, **more)

    def put(self, path: str, **more: Any) -> Decorator:
        """Decorates a handler of PUT."""
        return self._decorator("PUT", path, **more)

    def delete(self, path: str, **more: Any) -> Decorator:
        """Decorates a handler of DELETE; it responds with a body."""
        return self._decorator("DELETE", path, status_code=200, **more)

    def _decorator(
        self, method: Any, path: str, raises: Sequence[type[PhoneprovError]] = (), **more: Any
    ) -> Decorator:
        def decorate(handle: AnyHandler) -> AnyHandler:
            handler = Handler(path, http_method=method, responses=specified(raises), **more)
            self.register(handler(handle))
            return handle

        return decorate
