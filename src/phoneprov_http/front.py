"""The front: what every request and every response passes, whichever application answers.

In this order:

1. A path in another spelling than that of the routes is the path of no route.
2. The origin of the request is set: its id, its ``traceparent`` and the address of its client, for
   log lines and audit entries.
3. Requests of phones go to their pages, requests of Asterisk to its answers, in any spelling: an
   envelope would be an object for it. Both write their own headers and log lines.
4. HEAD is answered like GET, OPTIONS like a method that no path has.
5. Every response has the security headers and the request id. An unexpected error is a response.
6. One line a request is logged.

A request of the API then needs a known caller, before anything else of it is looked at, and a query
whose parameters exist.
"""

import logging
import re
import secrets
import time
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import Any

from litestar import Request
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from phoneprov_core.kernel.actor import Actor, Origin, belonging_to
from phoneprov_core.kernel.commands import Command, invalid
from phoneprov_core.kernel.errors import Invalid, Problem, ReadOnlyToken, Unauthenticated
from phoneprov_core.kernel.values import Address, Network, address_of
from phoneprov_core.people.auth.sessions import Authenticate
from phoneprov_http.envelope import HEADERS, ErrorInfo, failure
from phoneprov_http.errors import Malformed
from phoneprov_http.routes.handlers import (
    AUTHENTICATION,
    LONGEST_QUERY,
    QUERY,
    ApiRequest,
    changes,
    parameters_in,
)

PHONE_PAGES = "/phone/"

_NAMES = frozenset(name for name, _ in HEADERS)

_OTHER_SPELLING = re.compile(
    rb"//|/api/.*/$"
    # What RFC 3986 section 2.3 never encodes, and the slash.
    rb"|%(?:2[DEFdef]|3[0-9]|[46][1-9A-Fa-f]|[57][0-9Aa]|5[Ff]|7[Ee])"
)
_EXCHANGE = re.compile(r"/+asterisk(?:/|$)")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# W3C Trace Context, section 3.2: version 00 is exactly these 55 characters; a higher version
# may append fields after a hyphen. Version ff and identifiers of zeros only are invalid.
_TRACEPARENT = re.compile(
    rb"(?!ff)(?!00.{54})([0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(?:-.*)?"
)
_LONGEST_TRACEPARENT = 128
_MOST_HOPS = 32
# The query of a page is short; to parse a long one takes quadratic time.
_LONGEST_QUERY = 2048
_IN_BRACKETS = re.compile(r"\[([^\]]*)\](?::[0-9]{1,5})?")
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]{1,5}")

# An identifier is random for its process and counted within it. To ask the system for random
# bytes would hand the interpreter to another thread each time.
_PROCESS = secrets.token_hex(10)
_numbers = count(secrets.randbits(40))

log = logging.getLogger("phoneprov.requests")


class Front:
    """The ASGI application around ``app``, and around the pages of phones and the answers to
    Asterisk if there are any.
    ``X-Forwarded-For`` is believed from ``trusted_proxies`` only."""

    def __init__(
        self,
        app: ASGIApp,
        trusted_proxies: Sequence[Network] = (),
        phone_pages: ASGIApp | None = None,
        exchange: ASGIApp | None = None,
    ) -> None:
        self._app = app
        self._trusted = trusted_proxies
        self._phone_pages = phone_pages
        self._exchange = exchange

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        is_of_exchange = _EXCHANGE.match(scope["path"]) is not None
        scope["path"] = path_of(scope)
        origin = _origin_of(scope, self._trusted)
        # Other requests of the server share its state; this one needs its own.
        scope["state"] = {
            **(scope.get("state") or {}),
            "request_id": origin.request_id,
            "client_ip": origin.client_ip,
        }
        with belonging_to(origin):
            if is_of_exchange and self._exchange is not None:
                await self._exchange(scope, receive, send)
            elif self._phone_pages is not None and scope["path"].startswith(PHONE_PAGES):
                await self._phone_pages(scope, receive, send)
            else:
                await self._answer(scope, receive, send, str(origin.request_id).encode())

    async def _answer(
        self, scope: HTTPScope, receive: Receive, send: Send, request_id: bytes
    ) -> None:
        began = time.perf_counter()
        method = scope["method"]
        status = 0

        async def send_framed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_headers(message.get("headers", ()), request_id)
            await send(message)

        answer: Send = send_framed
        if method == "HEAD":
            answer = _as_get(scope, send_framed)
        elif method == "OPTIONS":
            # Litestar answers OPTIONS by itself, without an envelope. This is a method like any
            # other that no path has.
            scope["method"] = "-"  # type: ignore[typeddict-item]
        try:
            await self._app(scope, receive, answer)
        except Exception as error:
            log.exception("unexpected %s", type(error).__name__)
            if status:
                raise  # the response has begun; the server ends the connection
            message = "Internal error of the service."
            reply = failure(500, message, ErrorInfo("internal_error", (), request_id.decode()))
            await reply.to_asgi_response(None, None)(scope, receive, answer)
        finally:
            _log(scope, method, status, time.perf_counter() - began)


def path_of(scope: Any) -> str:
    """The path that a request is answered by.

    Servers decode ``%2F``, and the framework joins empty segments and drops a last slash, so that
    ``//api//v1%2Fme/`` would reach ``/api/v1/me``, and ``/%70hone/services`` the pages of phones,
    past a proxy that allows or refuses by path. Such a path keeps its encoding: no route has it.
    """
    raw: bytes = scope.get("raw_path") or b""
    if _OTHER_SPELLING.search(raw):
        return "/" + raw.decode("latin-1").replace("/", "%2F")
    return str(scope["path"])


def _origin_of(scope: HTTPScope, trusted_proxies: Sequence[Network]) -> Origin:
    return Origin(_request_id(scope), _traceparent(scope), client_ip(scope, trusted_proxies))


def _request_id(scope: HTTPScope) -> str:
    """A short, plain request id of the client, or a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return value.decode()
    return f"{_PROCESS}{next(_numbers):012x}"


def _traceparent(scope: HTTPScope) -> str | None:
    """The first 55 characters of the ``traceparent``, if it is sent once and valid."""
    sent = [value for name, value in scope["headers"] if name == b"traceparent"]
    if len(sent) != 1 or len(sent[0]) > _LONGEST_TRACEPARENT:
        return None
    match = _TRACEPARENT.fullmatch(sent[0])
    return match[1].decode() if match else None


def client_ip(scope: HTTPScope, trusted: Sequence[Network]) -> str:
    """The address that the request came from. ``X-Forwarded-For`` is read from its end, as long
    as the address before it is that of a trusted proxy."""
    client = scope.get("client")
    shown, address = _peer(client[0] if client else "")
    if not trusted or address is None or not _is_in(address, trusted):
        return shown
    fields = (value for name, value in scope["headers"] if name == b"x-forwarded-for")
    forwarded = b",".join(fields).decode("latin-1")
    for hop in reversed(forwarded.split(",")[-_MOST_HOPS:]):
        before = _hop(hop.strip())
        if before is None:
            break
        address = before
        if not _is_in(address, trusted):
            break
    return str(address)


@lru_cache(1024)
def _peer(text: str) -> tuple[str, Address | None]:
    """An address as it is stored, and the parsed one. An unknown one is stored as our own."""
    address = address_of(text)
    return str(address or "127.0.0.1"), address


def _hop(text: str) -> Address | None:
    """An address as proxies write it: some in brackets, some with a port."""
    written = _IN_BRACKETS.fullmatch(text) or _WITH_PORT.fullmatch(text)
    return address_of(written[1] if written else text)


def _is_in(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


def _with_headers(sent: Any, request_id: bytes) -> list[tuple[bytes, bytes]]:
    headers = list(sent)
    present = {name.lower() for name, _ in headers}
    headers += (
        HEADERS
        if present.isdisjoint(_NAMES)
        else [field for field in HEADERS if field[0] not in present]
    )
    headers.append((b"x-request-id", request_id))
    return headers


def _as_get(scope: HTTPScope, send: Send) -> Send:
    """Turn a HEAD request into a GET request for the application. Returns a ``send`` that leaves
    the body out and restores the method, which the server reads with each message."""
    scope["method"] = "GET"

    async def send_head(message: Message) -> None:
        scope["method"] = "HEAD"
        if message["type"] == "http.response.body":
            if message.get("more_body", False):
                return
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await send(message)

    return send_head


def _log(scope: HTTPScope, method: str, status: int, seconds: float) -> None:
    if not log.isEnabledFor(logging.INFO):
        return
    state: Any = scope.get("state") or {}
    fields = {
        "request_id": state.get("request_id"),
        "method": method,
        "route": scope.get("path_template") or "-",
        "status": status,
        "duration_ms": round(seconds * 1000, 1),
        "account": state.get("account"),
    }
    # Not ``log.info``, which would look through the callers for a place that is not shown.
    log.handle(
        log.makeRecord(log.name, logging.INFO, "", 0, "request", (), None, extra={"fields": fields})
    )


class Authentication:
    """Sets ``request.user`` to the caller, before anything else of a request is looked at.

    Raises ``Unauthenticated`` for a missing or invalid access token, unless the handler's
    ``opt`` says otherwise; ``request.user`` is None then. Raises ``ReadOnlyToken`` for a request
    that may change something, with a token that only reads.
    """

    def __init__(self, app: ASGIApp, authenticate: Authenticate) -> None:
        self._app = app
        self._authenticate = authenticate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["auth"] = scope["user"] = None
        authentication = scope["route_handler"].opt.get(AUTHENTICATION)
        if authentication != "none":
            try:
                scope["user"] = await self._caller(scope)
            except Unauthenticated:
                if authentication != "optional":
                    raise
        user, opt = scope["user"], scope["route_handler"].opt
        if user is not None and user.read_only and changes(str(scope.get("method")), opt):
            raise ReadOnlyToken
        await self._app(scope, receive, send)

    async def _caller(self, scope: Scope) -> Actor:
        sent = next((text for name, text in scope["headers"] if name == b"authorization"), b"")
        scheme, _, token = sent.decode("latin-1").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated
        actor = await self._authenticate(token.strip(), scope["state"]["client_ip"])
        scope["state"]["account"] = actor.user_uuid
        return actor


async def require_known_query(request: Request[Any, Any, Any]) -> None:
    """Raises ``Malformed`` for a long query, ``Invalid`` with each parameter that does not exist,
    is sent twice or has an invalid value.

    A coroutine, because the framework runs a plain function in a thread."""
    assert isinstance(request, ApiRequest)
    query = request.scope["query_string"]
    if not query:
        return
    handler = request.route_handler
    if len(query) > handler.opt.get(LONGEST_QUERY, _LONGEST_QUERY):
        raise Malformed("The query is too long.")
    queries: Sequence[type[Command]] | None = handler.opt.get(QUERY)
    sent = request.query_params.dict()
    problems = [Problem(name, "must be sent once") for name in sent if len(sent[name]) > 1]
    if queries is not None:
        (path,) = handler.paths
        known = parameters_in(queries, path)
        which = f"there are {', '.join(known)}" if known else "this path has none"
        # What is in the path may be repeated in the query, and must agree.
        accepted = {name for one in queries for name in one.__struct_encode_fields__}
        unknown = [name for name in sent if name not in accepted]
        problems = [
            *(Problem(name, f"is not a parameter; {which}") for name in unknown),
            *(one for one in problems if one.field not in unknown),
        ]
    for command in queries or ():
        try:
            request.selected(command, None)
        except Invalid as error:
            problems += [one for one in error.problems if one not in problems]
    if problems:
        raise invalid(problems)
