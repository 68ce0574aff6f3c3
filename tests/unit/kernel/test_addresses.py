"""MAC and IP addresses: one canonical form, or a refusal."""

import ipaddress
from collections.abc import Callable

import pytest
from hypothesis import example, given, strategies as st

from phoneprov_core.kernel import values as addresses
from support.refusals import refused

octets = st.binary(min_size=6, max_size=6)
usable = octets.filter(lambda raw: raw != bytes(6) and not raw[0] & 1)


def _mixed(text: str, upper: list[bool]) -> str:
    """The text with the case of each character chosen by a list."""
    return "".join(
        character.upper() if up else character.lower()
        for character, up in zip(text, upper * len(text), strict=False)
    )


cases = st.lists(st.booleans(), min_size=1, max_size=17)
spellings: list[Callable[[bytes], str]] = [
    lambda raw: raw.hex(),
    lambda raw: raw.hex(":"),
    lambda raw: raw.hex("-"),
    lambda raw: raw.hex(".", 2),
]


# MAC addresses


@given(usable, st.sampled_from(spellings), cases)
def test_mac_spellings_are_canonical(
    raw: bytes, spelled: Callable[[bytes], str], upper: list[bool]
) -> None:
    assert addresses.mac(_mixed(spelled(raw), upper)) == raw.hex(":").upper()


@given(usable)
def test_mac_canonical_is_unchanged(raw: bytes) -> None:
    canonical = addresses.mac(raw.hex())

    assert addresses.mac(canonical) == canonical
    assert addresses.known_mac(canonical) == canonical


@given(octets.filter(lambda raw: raw[0] & 1), st.sampled_from(spellings))
@example(b"\xff" * 6, spellings[0])
@example(b"\x01\x00\x5e\x00\x00\x01", spellings[1])
def test_mac_group_address_is_refused(raw: bytes, spelled: Callable[[bytes], str]) -> None:
    with pytest.raises(ValueError, match="broadcast or multicast"):
        addresses.mac(spelled(raw))
    assert addresses.known_mac(spelled(raw)) == ""


@pytest.mark.parametrize("spelled", spellings)
def test_mac_all_zero_is_refused(spelled: Callable[[bytes], str]) -> None:
    with pytest.raises(ValueError, match="all-zero"):
        addresses.mac(spelled(bytes(6)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "00:1B:D4:12:34",
        "00:1B:D4:12:34:56:78",
        "00:1B:D4-12:34:56",
        "001B:D412:3456",
        "001B.D412.34.56",
        "00:1B:D4:12:34:5G",
        "0:1B:D4:12:34:56",
        " 00:1B:D4:12:34:56",
        "00:1B:D4:12:34:56\n",
        "001BD412345",
        "001BD41234567",
        "00\u00001BD412345",
        "\uff10\uff10:1B:D4:12:34:56",
        "0x1BD4123456",
        "00_1B_D4_12_34_56",
    ],
)
def test_invalid_mac_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must have 12 hexadecimal digits"):
        addresses.mac(text)
    assert addresses.known_mac(text) == ""


@given(st.text())
def test_mac_any_text_is_canonical_or_refused(text: str) -> None:
    objection = refused(addresses.mac, text)
    assert objection is None or objection.startswith("must ")
    if objection is None:
        canonical = addresses.mac(text)
        assert bytes.fromhex(canonical.replace(":", "")).hex(":").upper() == canonical


# IP addresses


@given(st.ip_addresses())
def test_address_is_canonical(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    assert addresses.ip(str(address)) == str(address)
    assert addresses.ip(address.exploded) == str(address)
    assert addresses.ip(address.exploded.upper()) == str(address)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
        ("0:0::0", "::"),
        ("10.0.0.1", "10.0.0.1"),
    ],
)
def test_address_spellings_are_equal(text: str, canonical: str) -> None:
    assert ipaddress.ip_address(addresses.ip(text)) == ipaddress.ip_address(canonical)
    assert addresses.ip(addresses.ip(text)) == addresses.ip(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10.0.0",
        "10.0.0.256",
        "010.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "10.0.0.1/24",
        " 10.0.0.1",
        "10.0.0.1\n",
        "\uff11\uff10.0.0.1",
        "fe80::1%eth0",
        "fe80::1%",
        "[::1]",
        "phone.example.com",
        "10.0.0.1:80",
    ],
)
def test_invalid_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be an IP"):
        addresses.ip(text)


@pytest.mark.parametrize(
    ("ip", "key"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:c000:201", "192.0.2.1"),
        ("client", "client"),
        ("", ""),
    ],
)
def test_address_key_is_the_address_or_its_64_network(ip: str, key: str) -> None:
    assert addresses.address_key(ip) == key
    assert len(key) <= 45
