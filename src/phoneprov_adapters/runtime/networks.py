"""Looking up the name of a server, apart from connecting to it: a silent DNS server is not a silent
server of that name.

Host names, and the networks in which addresses of the inventory may be called.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any, Self
from urllib.parse import urlsplit

from phoneprov_core.kernel.errors import Conflict, Refused, TimedOut
from phoneprov_core.kernel.values import address_of
from phoneprov_core.switching.errors import AddressNotAllowed


async def looked_up(host: str, port: int, what: str, seconds: float) -> list[str]:
    """The addresses of a host, which is ``what`` in messages. Raises ``TimedOut`` and
    ``Refused``."""
    if address_of(host) is not None:
        return [host]
    try:
        async with asyncio.timeout(seconds):
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except TimeoutError:
        raise TimedOut(
            f"The name {host} of {what} was not looked up in time: check the DNS servers of this "
            "host."
        ) from None
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a valid name"
        raise Refused(f"The name {host} of {what} cannot be looked up: {why}.") from None
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


async def connected(
    addresses: Sequence[str], port: int, **options: Any
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the first address that accepts one. Raises the error of the last one."""
    *others, last = addresses
    for address in others:
        try:
            return await asyncio.open_connection(address, port, **options)
        except OSError:
            continue
    return await asyncio.open_connection(last, port, **options)


_NEVER = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",  # Linux takes the first of them for this host.
        "240.0.0.0/4",  # Reserved, including the broadcast address.
        "::/128",
        # The others contain an IPv4 address, to which a packet may be sent.
        "::/96",
        "::ffff:0:0:0/96",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
        "2001::/32",
        "2002::/16",
    )
)

_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in (
        # Metadata services, from which cloud machines read their secrets. Some are in private
        # ranges.
        "169.254.169.254",
        "169.254.170.2",
        "fd00:ec2::254",
        "fd20:ce::254",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
    )
)


class PhoneNetworks:
    """The networks of the phones. Only addresses in one of them are called.

    Loopback, link-local and multicast addresses are refused unless a configured network is entirely
    inside such a range. Reserved addresses, IPv6 forms that tunnel to an IPv4 address and the
    metadata services of clouds are always refused.
    """

    def __init__(self, networks: tuple[IPv4Network | IPv6Network, ...]) -> None:
        self._networks = networks

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse comma-separated CIDR text. Raises ValueError with the invalid part."""
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return cls(tuple(network_of(part) for part in parts))

    def contains(self, address: str) -> bool:
        """Whether an address may be called: see ``allowed``."""
        try:
            self.allowed(address)
        except Conflict:
            return False
        return True

    def allowed(self, address: str) -> str:
        """The canonical text of an address that may be called.

        An IPv4 address in IPv6's mapped form is checked and called as that IPv4 address. Raises
        ``Conflict`` (code ``address_not_allowed``) for every address that may not be called, and
        for text that is not an address.
        """
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            raise AddressNotAllowed("The phone's address is not an IP address.") from None
        if isinstance(parsed, IPv6Address):
            if parsed.scope_id is not None:
                raise AddressNotAllowed("The phone's address has a scope id and cannot be called.")
            parsed = parsed.ipv4_mapped or parsed
        if not any(_covers(network, parsed) for network in self._networks):
            raise AddressNotAllowed(
                f"The address {parsed} is outside the phone networks (PHONEPROV_PHONE_NETWORKS)."
            )
        return str(parsed)


_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def is_protected(url: str) -> bool:
    """Whether this is an https address, or an http one of this host."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if not host or parts.username or parts.password or not url.isascii() or not url.isprintable():
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)


def is_host(text: str) -> bool:
    """Whether this is a host name or an address."""
    try:
        text.encode("idna")
    except UnicodeError:
        return False
    return bool(text) and not any(char.isspace() or char in "/@" for char in text)


def network_of(text: str) -> IPv4Network | IPv6Network:
    """The network that a text names. Raises ``ValueError``."""
    network = ipaddress.ip_network(text)
    if isinstance(network, IPv6Network):
        if network.network_address.scope_id is not None:
            raise ValueError(f"{text!r} has a scope id")
        if network.network_address.ipv4_mapped is not None:
            raise ValueError(f"{text!r} is an IPv4 network in IPv6 form; write it as IPv4")
    return network


def _covers(network: IPv4Network | IPv6Network, address: IPv4Address | IPv6Address) -> bool:
    if address.version != network.version or address not in network or address in _METADATA:
        return False
    if address.is_loopback:
        return network.is_loopback
    if address.is_link_local:
        return network.is_link_local
    if address.is_multicast:
        return network.is_multicast
    return not any(address in never for never in _NEVER)
