"""What route modules are written with: sections, requests, their parameters, and the caller."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partialmethod
from typing import Annotated, Any, TypeAlias, TypeVar, get_args, get_type_hints

from litestar import Request, Router, types
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.di import NamedDependency, Provide
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.params import JSONBody, PathParameter

from phoneprov_core.kernel.actor import Actor, require_people, require_superadmin
from phoneprov_core.kernel.commands import Command, command_of_texts
from phoneprov_core.kernel.errors import (
    PhoneprovError,
)
from phoneprov_core.kernel.fields import MAC
from phoneprov_core.kernel.ports import Page, Window
from phoneprov_http.envelope import CSV, ROWS
from phoneprov_http.openapi.schemas import specified

T = TypeVar("T")
C = TypeVar("C", bound=Command)
AnyHandler = Callable[..., Any]
Decorator = Callable[[AnyHandler], AnyHandler]
Connection = ASGIConnection[Any, Any, Any, Any]
Guard = types.Guard


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
"""The query of a request, as a command."""


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

    @property
    def wants_table(self) -> bool:
        """Whether the caller prefers a list as CSV."""
        return self.accept.best_match(["application/json", CSV]) == CSV

    def selected(self, command: type[C], absent: C | None) -> C | None:
        """The parameters of the query that are fields of a command; ``absent`` if none is sent.
        Raises ``Invalid`` with each invalid parameter."""
        if not self.scope["query_string"]:
            return absent
        fields = command.__struct_encode_fields__
        given = {name: text for name, text in self.query_params.items() if name in fields}
        return command_of_texts(command, given) if given else absent


LONGEST_QUERY = "longest_query"
"""The key of a handler's ``opt`` for the bytes of its query, if other servers make it."""
QUERY = "query"
"""The key of a handler's ``opt`` for the commands that read its query."""


def parameters_in(queries: Iterable[type[Command]], path: str) -> list[str]:
    """The parameters of the query that these commands read at a path; what is in the path is no
    parameter of the query."""
    names = dict.fromkeys(name for one in queries for name in one.__struct_encode_fields__)
    return [name for name in names if f"{{{name}:" not in path]


def _wanted(command: type[Command]) -> Provide:
    absent = command()

    def read(request: ApiRequest) -> Any:
        return request.selected(command, absent)

    return Provide(read, sync_to_thread=False)


AUTHENTICATION = "authentication"
PUBLIC = {AUTHENTICATION: "none"}
"""The ``opt`` of a handler that needs no token."""
OPTIONAL = {AUTHENTICATION: "optional"}
"""The ``opt`` of a handler that uses a token if there is a valid one."""


READS = {"reads": True}
"""The ``opt`` of a handler that changes nothing although its method is not GET."""


def changes(method: str, opt: Mapping[str, Any]) -> bool:
    """Whether a request of this method may change something."""
    return method != "GET" and not opt.get("reads")


def guard(require: Callable[..., None], *more: object) -> Guard:
    """A guard from a rule: ``require`` takes the caller, and ``more``, and raises ``Forbidden``.

    Guards refuse a caller before the body is looked at. The use cases check the same rules once
    more, for callers without HTTP.
    """

    async def check(connection: Connection, _: BaseRouteHandler) -> None:
        """Raises ``Forbidden`` if the rule refuses the caller."""
        require(connection.user, *more)

    check.__doc__ = require.__doc__
    return check


level_0 = guard(require_superadmin)
"""Raises ``Forbidden`` for a caller without level 0."""
people = guard(require_people)
"""Raises ``Forbidden`` for a caller without level 0 and without a right."""


class Handler(HTTPRouteHandler):
    """A handler whose guards see the handler itself. Litestar copies it for each guard of each
    request, which takes longer than to read a record."""

    async def authorize_connection(self, connection: Connection) -> None:
        for guard in self.resolve_guards():
            await guard(connection, self)  # type: ignore[misc]


def _queries(wanted: type[Command] | None, reply: Any) -> list[type[Command]]:
    """The commands that read the query: what is ``wanted``, and the page of a list."""
    own = [] if wanted is None else [wanted]
    has_page = any("limit" in one.__struct_encode_fields__ for one in own)
    return own if has_page or "List" not in reply.__name__ else [Window, *own]


class Routes(Router):
    """A section of the interface; the guard ``writing`` is for all methods but GET, unless a route
    names its own.

    Its methods decorate handlers: the first sentence of a handler's docstring is the summary of
    its operation, its parameter ``wanted`` is the query, ``raises`` names the errors that do not
    follow from path, query, body and guards."""

    def __init__(
        self, tag: str, path: str = "/api/v1", *, writing: "Guard | None" = None, **more: Any
    ) -> None:
        super().__init__(path, route_handlers=[], tags=[tag], **more)
        self._writing = [writing] if writing else []
        self._is_api = path.startswith("/api/")

    def _decorator(
        self, method: Any, path: str, *, raises: Sequence[type[PhoneprovError]] = (), **more: Any
    ) -> Decorator:
        if method != "GET" and self._writing:
            more.setdefault("guards", self._writing)

        def decorate(handle: AnyHandler) -> AnyHandler:
            hints = get_type_hints(handle)
            wanted = hints.get("wanted")
            if self._is_api:
                reply = hints["return"]
                own = {QUERY: _queries(wanted, reply)}
                if "List" in reply.__name__:
                    alias = reply if get_args(reply) else reply.__orig_bases__[0]
                    (own[ROWS],) = get_args(alias)
                more["opt"] = {**own, **more.get("opt", {})}
            more["dependencies"] = {"wanted": _wanted(wanted)} if wanted else None
            handler = Handler(path, http_method=method, responses=specified(raises), **more)
            self.register(handler(handle))
            return handle

        return decorate

    get: partialmethod[Decorator] = partialmethod(_decorator, "GET")
    post: partialmethod[Decorator] = partialmethod(_decorator, "POST")
    put: partialmethod[Decorator] = partialmethod(_decorator, "PUT")
    # Its response has a body.
    delete: partialmethod[Decorator] = partialmethod(_decorator, "DELETE", status_code=200)
