"""The address of the client, also through trusted proxies."""

import ipaddress
import re
from collections.abc import Sequence
from functools import lru_cache

from litestar.types import Scope

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_MOST_HOPS = 32
_LONGEST_ADDRESS = 45
_IN_BRACKETS = re.compile(r"\[([^\]]*)\](?::[0-9]{1,5})?")
_WITH_PORT = re.compile(r"([0-9.]+):[0-9]{1,5}")


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
    return _address(written[1] if written else text)


@lru_cache(1024)
def _peer(text: str) -> tuple[str, Address | None]:
    """An address as it is stored, and the parsed one. An unknown one is stored as our own."""
    address = _address(text)
    return str(address or "127.0.0.1"), address


def _address(text: str) -> Address | None:
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
