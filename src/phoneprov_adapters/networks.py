"""Which addresses of the inventory may be called at all."""

from __future__ import annotations

import ipaddress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from phoneprov_core.kernel.errors import Conflict

PRIVATE_RANGES = "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7"

_NAT64 = IPv6Network("64:ff9b::/96")
_6TO4 = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")


class PhoneNetworks:
    """The networks phones live in. An address is called only when it lies in one of them.

    Loopback, link-local and multicast addresses are refused unless a configured network
    lies wholly inside such a range, that is, unless somebody named it.
    """

    def __init__(self, networks: tuple[IPv4Network | IPv6Network, ...]) -> None:
        self._networks = networks

    @classmethod
    def parse(cls, text: str) -> PhoneNetworks:
        """From comma-separated CIDR text. Raises ValueError naming the part that is none."""
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return cls(tuple(ipaddress.ip_network(part) for part in parts))

    def allowed(self, address: str) -> str:
        """The canonical text of an address that may be called.

        Raises ``Conflict`` (code ``address_not_allowed``) for every other: IPv6 spellings
        that carry an IPv4 address inside are judged by what they carry and are not called.
        """
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            raise _refused(address) from None
        if isinstance(parsed, IPv6Address):
            if parsed.scope_id is not None:
                raise _refused(address)
            if parsed.ipv4_mapped is not None:
                parsed = parsed.ipv4_mapped
            elif any(parsed in tunnel for tunnel in (_NAT64, _6TO4, _TEREDO)):
                raise _refused(address)
        if not any(self._covers(network, parsed) for network in self._networks):
            raise _refused(address)
        return str(parsed)

    @staticmethod
    def _covers(network: IPv4Network | IPv6Network, address: IPv4Address | IPv6Address) -> bool:
        if address.version != network.version or address not in network:
            return False
        if address.is_loopback:
            return network.is_loopback
        if address.is_link_local:
            return network.is_link_local
        if address.is_multicast:
            return network.is_multicast
        return not address.is_unspecified


def _refused(address: str) -> Conflict:
    return Conflict(
        f"The address {address} is outside the phone networks (PHONEPROV_PHONE_NETWORKS).",
        code="address_not_allowed",
    )
