"""MAC addresses and IP addresses."""

import ipaddress
import re

_MAC = re.compile(
    r"[0-9a-f]{12}|[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5}"
    r"|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}",
    re.ASCII | re.IGNORECASE,
)
_LONGEST_ADDRESS = 45
_NO_SEPARATORS = str.maketrans("", "", ":-.")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def mac(value: str) -> str:
    """A phone's hardware address, in any of the four common spellings, as ``AA:BB:CC:DD:EE:FF``.
    All zeros, broadcast and multicast addresses belong to no phone and are refused."""
    if not _MAC.fullmatch(value):
        raise ValueError("must have 12 hexadecimal digits, like 00:1B:D4:12:34:56")
    digits = value.translate(_NO_SEPARATORS).upper()
    if digits == "0" * 12:
        raise ValueError("must not be the all-zero MAC address")
    if int(digits[:2], 16) & 1:
        raise ValueError("must not be a broadcast or multicast MAC address")
    return ":".join(digits[i : i + 2] for i in range(0, 12, 2))


def ip(value: str) -> str:
    """An IPv4 or IPv6 address in its canonical spelling; scope ids are refused."""
    try:
        # No address is longer; parsing a megabyte would take too long.
        parsed = ipaddress.ip_address(value[: _LONGEST_ADDRESS + 1])
    except ValueError:
        raise ValueError("must be an IPv4 or IPv6 address") from None
    if "%" in value:
        raise ValueError("must be an IP address without a scope id")
    return str(parsed)


def same_address(one: str, other: str) -> bool:
    """Whether both texts are one address; an IPv4 address in IPv6's mapped form is that address."""
    return (address_of(one) or one) == (address_of(other) or other)


def address_key(ip: str) -> str:
    """The key of every limit by client address: an IPv4 address, or the /64 network of an IPv6
    address, all of which one client can use. Other text is its own key."""
    address = address_of(ip)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.IPv6Network((address.packed, 64), strict=False))
    return str(address or ip)


def address_of(text: str) -> Address | None:
    """The address that a peer or a proxy is written as, without its scope id, which means nothing
    on another host; one of IPv4 in IPv6's mapped form is one of IPv4. None for other text."""
    text = text.partition("%")[0]
    if len(text) > _LONGEST_ADDRESS:
        return None
    try:
        parsed = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(parsed, "ipv4_mapped", None) or parsed


def known_mac(value: str) -> str:
    """The canonical form of a MAC; empty text, which is the key of no phone, for any other text."""
    try:
        return mac(value)
    except ValueError:
        return ""
