"""The origin of a request in log lines and audit entries: its id, its trace and the address of the
client, also through trusted proxies."""

import ipaddress
import re
import secrets
from collections.abc import Sequence
from functools import lru_cache
from itertools import count

from litestar.types import HTTPScope, Scope

from phoneprov_core.kernel.origin import Origin, valid_traceparent

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_MOST_HOPS = 32
_LONGEST_ADDRESS = 45
_IN_BRACKETS = re.compile(r"\[([^\]]*)\](?::[0-9]{1,5})?")
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]{1,5}")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")

# An identifier is random for its process and counted within it. To ask the system for random
# bytes would hand the interpreter to another thread each time.
_PROCESS = secrets.token_hex(10)
_numbers = count(secrets.randbits(40))


def origin_of(scope: HTTPScope, trusted_proxies: Sequence[Network]) -> Origin:
    """The origin of a request. A short, plain request id of the client is kept."""
    return Origin(_request_id(scope), _traceparent(scope), client_ip(scope, trusted_proxies))


def _request_id(scope: HTTPScope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return value.decode()
    return f"{_PROCESS}{next(_numbers):012x}"


def _traceparent(scope: HTTPScope) -> str | None:
    """The ``traceparent`` of the request, if it is sent once and valid."""
    sent = [value for name, value in scope["headers"] if name == b"traceparent"]
    return valid_traceparent(sent[0].decode("latin-1")) if len(sent) == 1 else None


def client_ip(scope: Scope, trusted: Sequence[Network]) -> str:
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


def _is_in(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


def _hop(text: str) -> Address | None:
    """An address as proxies write it: some in brackets, some with a port."""
    written = _IN_BRACKETS.fullmatch(text) or _WITH_PORT.fullmatch(text)
    return parsed_address(written[1] if written else text)


@lru_cache(1024)
def _peer(text: str) -> tuple[str, Address | None]:
    """An address as it is stored, and the parsed one. An unknown one is stored as our own."""
    address = parsed_address(text)
    return str(address or "127.0.0.1"), address


def parsed_address(text: str) -> Address | None:
    """An address as the server or a proxy writes it; one of IPv4 in IPv6 is one of IPv4."""
    # A scope id means nothing on another host, and may be any text.
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
