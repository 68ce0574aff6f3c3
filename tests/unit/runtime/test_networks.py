"""Which addresses may be called, in every notation."""

import ipaddress

import pytest
from hypothesis import given, strategies as st

from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.values import PRIVATE_RANGES

DEFAULT = PhoneNetworks.parse(PRIVATE_RANGES)
EVERYTHING = PhoneNetworks.parse("0.0.0.0/0,::/0")


@pytest.mark.parametrize(
    ("address", "called"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("172.31.255.254", "172.31.255.254"),
        ("192.168.1.20", "192.168.1.20"),
        ("fd00::1", "fd00::1"),
        ("FD00:0:0::0001", "fd00::1"),
        ("::ffff:10.1.2.3", "10.1.2.3"),
        ("::ffff:a01:203", "10.1.2.3"),
    ],
)
def test_phone_in_its_network_is_called_by_its_canonical_address(address: str, called: str) -> None:
    assert DEFAULT.allowed(address) == called


NO_ADDRESS = [
    "",
    " 10.0.0.1",
    "10.0.0.1 ",
    "10.0.0.1\n",
    "10.0.0.1\0",
    "010.0.0.1",
    "10.0.1",
    "127.1",
    "0x7f000001",
    "0x7f.0.0.1",
    "2130706433",
    "017700000001",
    "\uff11\uff10.0.0.1",
    "10.0.0.1:80",
    "10.0.0.1/8",
    "[fd00::1]",
    "http://10.0.0.1",
    "10.0.0.1@127.0.0.1",
    "localhost",
    "phone.example",
    "fe80::1%eth0",
    "fd00::1%1",
    "fd00::1%a\nb",
    "::ffff:010.0.0.1",
]
SELF_OR_SPECIAL = [
    "127.0.0.1",
    "127.255.255.254",
    "::1",
    "0.0.0.0",  # noqa: S104 - nothing is bound
    "0.0.0.1",
    "::",
    "169.254.169.254",
    "fe80::1",
    "224.0.0.1",
    "239.255.255.255",
    "ff02::1",
    "240.0.0.1",
    "255.255.255.255",
    "::ffff:127.0.0.1",
    "::ffff:0.0.0.0",
    "::ffff:169.254.169.254",
    "::ffff:224.0.0.1",
    "::127.0.0.1",
    "::10.0.0.1",
    "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b::a00:1",
    "64:ff9b:1::7f00:1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "2001:0:a00:1::1",
]


@pytest.mark.parametrize("address", NO_ADDRESS + SELF_OR_SPECIAL)
@pytest.mark.parametrize("networks", [DEFAULT, EVERYTHING], ids=["default", "everything"])
def test_address_spellings_follow_the_same_rule(networks: PhoneNetworks, address: str) -> None:
    with pytest.raises(Conflict) as caught:
        networks.allowed(address)

    assert caught.value.code == "address_not_allowed"
    assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "172.32.0.1", "192.167.255.255", "11.0.0.0", "2606:4700::1", "fe00::1"]
)
def test_address_outside_the_networks_is_refused_and_named(address: str) -> None:
    with pytest.raises(Conflict, match=rf"{address}.*PHONEPROV_PHONE_NETWORKS"):
        DEFAULT.allowed(address)


def test_networks_empty_refuse_every_address() -> None:
    nothing = PhoneNetworks.parse(" , ")

    for address in ("10.0.0.1", "127.0.0.1", "8.8.8.8", "fd00::1"):
        with pytest.raises(Conflict):
            nothing.allowed(address)


@pytest.mark.parametrize(
    ("named", "address"),
    [
        ("127.0.0.0/8", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1/32", "::ffff:127.0.0.1"),
        ("::1", "::1"),
        ("169.254.10.0/24", "169.254.10.3"),
        ("fe80::/64", "fe80::1"),
        ("239.1.0.0/16", "239.1.0.1"),
    ],
)
def test_special_range_configured_is_allowed(named: str, address: str) -> None:
    assert PhoneNetworks.parse(f"10.0.0.0/8, {named}").allowed(address)


def test_loopback_of_one_family_does_not_allow_the_other() -> None:
    with pytest.raises(Conflict):
        PhoneNetworks.parse("127.0.0.0/8").allowed("::1")
    with pytest.raises(Conflict):
        PhoneNetworks.parse("::1").allowed("127.0.0.1")


@pytest.mark.parametrize(
    "part",
    ["10.0.0.1/8", "10/8", "phones", "10.0.0.0/33", "::ffff:10.0.0.0/104", "fe80::%eth0/64", "-"],
)
def test_invalid_network_is_named(part: str) -> None:
    with pytest.raises(ValueError, match=part.split("/", maxsplit=1)[0]):
        PhoneNetworks.parse(f"192.168.0.0/16,{part}")


@given(st.ip_addresses() | st.ip_addresses(network="10.0.0.0/8"))
def test_allowed_address_is_in_a_configured_network(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    configured = [ipaddress.ip_network(part) for part in PRIVATE_RANGES.split(",")]
    inside = any(address in network for network in configured if network.version == address.version)

    try:
        called = DEFAULT.allowed(str(address))
    except Conflict:
        assert not inside
    else:
        parsed = ipaddress.ip_address(called)
        assert any(parsed in network for network in configured if network.version == parsed.version)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_conflict(text: str) -> None:
    try:
        found = str(ipaddress.ip_address(EVERYTHING.allowed(text)))
    except Conflict as conflict:
        found = conflict.message

    assert found
    assert found.isprintable()
