"""What route modules are written with: sections, requests, and the parameters in paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias, TypeVar

from litestar import Request, Router
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.di import NamedDependency, Provide
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody, PathParameter

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import Command, command_of_texts, invalid
from phoneprov_core.kernel.errors import Invalid, PhoneprovError, Problem
from phoneprov_core.kernel.fields import MAC
from phoneprov_core.kernel.paging import Page, Window
from phoneprov_http.openapi.failures import specified

T = TypeVar("T")
C = TypeVar("C", bound=Command)
AnyHandler = Callable[..., Any]
Decorator = Callable[[AnyHandler], AnyHandler]


def _uuid_of(what: str) -> Any:
    extra = {"format": "uuid", "examples": ["5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"]}
    return PathParameter(description=f"UUID of the {what}", schema_extra=extra)


Uuid = Annotated[str, _uuid_of("record")]
UserUuid = Annotated[str, _uuid_of("user")]
ExtensionUuid = Annotated[str, _uuid_of("extension")]
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


Body: TypeAlias = JSONBody[T]
"""The body of a request, as a command."""
Query: TypeAlias = NamedDependency[T]
"""The query of a request, as a command: that of the handler's ``query``."""


class ApiRequest(Request[Actor, None, State]):
    """A request; ``user`` is the caller, None where no token is needed and none was sent."""

    @property
    def client_ip(self) -> str:
        """The address of the client."""
        return str(self.scope["state"]["client_ip"])

    @property
    def page(self) -> Page:
        """The page that ``limit`` and ``offset`` select; None for the whole list. Raises
        ``Invalid``."""
        return self.selected(Window, None)

    def selected(self, command: type[C], absent: C | None) -> C | None:
        """The parameters of the query that are fields of a command; ``absent`` if none is sent.
        Raises ``Invalid`` with each invalid parameter."""
        if not self.scope["query_string"]:
            return absent
        fields = command.__struct_encode_fields__
        given = {name: text for name, text in self.query_params.items() if name in fields}
        return command_of_texts(command, given) if given else absent


def _wanted(command: type[Command]) -> Provide:
    absent = command()

    def read(request: ApiRequest) -> Any:
        try:
            return request.selected(command, absent)
        except Invalid as error:
            raise invalid([*error.problems, *_problems_of_page(request, error)]) from None

    return Provide(read, sync_to_thread=False)


def _problems_of_page(request: ApiRequest, named: Invalid) -> list[Problem]:
    try:
        request.page  # noqa: B018 - to name every invalid parameter
    except Invalid as error:
        return [problem for problem in error.problems if problem not in named.problems]
    return []


class Handler(HTTPRouteHandler):
    """A handler whose guards see the handler itself. Litestar copies it for each guard of each
    request, which takes longer than to read a record."""

    async def authorize_connection(self, connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        for guard in self.resolve_guards():
            await guard(connection, self)  # type: ignore[misc]


class Routes(Router):
    """A section of the interface. Its methods decorate handlers: the first sentence of a
    handler's docstring is the summary of its operation, ``query`` is the command that its
    parameter ``wanted`` is read as, ``raises`` names the errors that do not follow from path,
    query, body and guards."""

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
        self,
        method: Any,
        path: str,
        *,
        raises: Sequence[type[PhoneprovError]] = (),
        query: type[Command] | None = None,
        **more: Any,
    ) -> Decorator:
        if query is not None:
            more["dependencies"] = {"wanted": _wanted(query)}

        def decorate(handle: AnyHandler) -> AnyHandler:
            handler = Handler(path, http_method=method, responses=specified(raises), **more)
            self.register(handler(handle))
            return handle

        return decorate
