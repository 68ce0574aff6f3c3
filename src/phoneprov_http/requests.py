"""What a route hears of a request: who asks, from where, and what was sent."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from litestar import Request
from litestar.exceptions import InternalServerException
from msgspec import Struct

from phoneprov_core.auth.authenticate import Authenticate
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import Unchecked
from phoneprov_core.kernel.errors import PhoneprovError, Unauthenticated
from phoneprov_core.kernel.store import Page, Window
from phoneprov_http.bodies import decoded
from phoneprov_http.errors import Malformed, TooLarge

C = TypeVar("C", bound=Struct)
D = TypeVar("D", str, None)
AnyRequest = Request[Any, Any, Any]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# The query of a page is short; to take a long one apart takes quadratic time.
_LONGEST_QUERY = 2048
_MOST_HOPS = 32
_LONGEST_ADDRESS = 45
_IN_BRACKETS = re.compile(r"\[([^\]]*)\](?::[0-9]{1,5})?")
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]{1,5}")


class Requests:
    """Reads requests. Whoever is not known is turned away before anything else is looked
    at; a body's faults wait inside ``Unchecked`` until the use case asks for them."""

    def __init__(
        self,
        authenticate: Authenticate,
        *,
        largest_body: int,
        trusted_proxies: Sequence[Network] = (),
    ) -> None:
        self._authenticate = authenticate
        self._largest_body = largest_body
        self._trusted = trusted_proxies

    async def caller(self, request: AnyRequest) -> Actor:
        """The account behind the bearer token. Raises ``Unauthenticated``."""
        scheme, _, token = _header(request, b"authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated("A bearer token is needed; log in first.")
        actor = await self._authenticate(token.strip(), self.ip(request))
        request.scope["state"]["account"] = actor.user_uuid
        return actor

    async def caller_if_any(self, request: AnyRequest) -> Actor | None:
        """The account behind the bearer token, if there is a good one."""
        try:
            return await self.caller(request)
        except Unauthenticated:
            return None

    def ip(self, request: AnyRequest) -> str:
        """The address the request came from. A trusted proxy's word is taken for the
        address before it."""
        client = request.scope.get("client")
        shown, address = _peer(client[0] if client else "")
        if not self._trusted or address is None or not self._trusts(address):
            return shown
        forwarded = ",".join(request.headers.getall("x-forwarded-for", []))
        for hop in reversed(forwarded.split(",")[-_MOST_HOPS:]):
            before = _hop(hop.strip())
            if before is None:
                break
            address = before
            if not self._trusts(address):
                break
        return str(address)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)

    async def sent(
        self, request: AnyRequest, command: type[C], *, optional: bool = False
    ) -> Unchecked[C]:
        """The body, to be understood as ``command`` when the use case comes to it. An
        ``optional`` body may be missing."""
        try:
            content = await self._content(request)
        except PhoneprovError as error:
            return Unchecked(command, _raising(error))
        if optional and not content:
            return Unchecked(command, dict)
        content_type = _header(request, b"content-type", None)
        return Unchecked(command, lambda: decoded(content_type, content))

    async def _content(self, request: AnyRequest) -> bytes:
        announced = _header(request, b"content-length", "0")
        if _is_number(announced) and int(announced) > self._largest_body:
            raise self._too_large()
        content = bytearray()
        try:
            async for chunk in request.stream():
                content += chunk
                if len(content) > self._largest_body:
                    raise self._too_large()
        except InternalServerException:
            raise Malformed("The request broke off before it was complete.") from None
        return bytes(content)

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The body is larger than {self._largest_body} bytes.")


def page(request: AnyRequest) -> Page:
    """The page of a list that the query asks for, if it asks for one."""
    sent = request.scope["query_string"]
    if not sent:
        return None
    if len(sent) > _LONGEST_QUERY:
        return Unchecked(Window, _raising(Malformed("The query is too long.")))
    asked = _asked(request, ("limit", "offset"))
    if not asked:
        return None
    return Unchecked(Window, lambda: _read(asked, _number))


def filters(request: AnyRequest, command: type[C]) -> Unchecked[C]:
    """What of a list the query asks for, to be understood as ``command``. What the query says
    beyond that is passed over."""
    if len(request.scope["query_string"]) > _LONGEST_QUERY:
        return Unchecked(command, _raising(Malformed("The query is too long.")))
    asked = _asked(request, command.__struct_fields__)
    return Unchecked(command, lambda: _read(asked, _truth))


def _asked(request: AnyRequest, names: Iterable[str]) -> dict[str, list[str]]:
    query = request.query_params
    return {name: query.getall(name) for name in names if name in query}


def _read(asked: Mapping[str, list[str]], value: Callable[[str], object]) -> dict[str, object]:
    """Each value as it is meant; one that is given twice is a list, which no field takes."""
    return {name: value(*texts) if len(texts) == 1 else texts for name, texts in asked.items()}


def _truth(text: str) -> bool | str:
    return {"true": True, "false": False}.get(text, text)


def _number(text: str) -> int | str:
    return int(text) if _is_number(text) else text


def _is_number(text: str) -> bool:
    # Longer ones are beyond every bound, and slow to read.
    return text.isascii() and text.isdigit() and len(text) < 20


def _raising(error: PhoneprovError) -> Any:
    def load() -> object:
        raise error

    return load


def _hop(text: str) -> Address | None:
    """An address as proxies write it: some in brackets, some with a port."""
    written = _IN_BRACKETS.fullmatch(text) or _WITH_PORT.fullmatch(text)
    return _address(written[1] if written else text)


def _header(request: AnyRequest, name: bytes, default: D) -> str | D:
    """The first field of this name. The server has put names into lower case."""
    for field, value in request.scope["headers"]:
        if field == name:
            return value.decode("latin-1")
    return default


@lru_cache(1024)
def _peer(text: str) -> tuple[str, Address | None]:
    """An address as it is kept, and what it is; one that nobody knows is our own."""
    address = _address(text)
    return str(address or "127.0.0.1"), address


def _address(text: str) -> Address | None:
    # Whose link it is says nothing elsewhere, and the name of a link can be anything.
    text = text.partition("%")[0]
    if len(text) > _LONGEST_ADDRESS:
        return None
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return None
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        return parsed.ipv4_mapped
    return parsed
