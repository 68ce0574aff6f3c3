"""Calls to phones by their address in the inventory never reach this host, the metadata service of
a cloud or a multicast address, in any notation. No packet is sent."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from phoneprov_adapters.ftp.steps import FtpSettings
from phoneprov_adapters.ftp.uploader import FtpUploader
from phoneprov_adapters.phone.http import PhoneWeb, PhoneWebSettings
from phoneprov_adapters.phone.watch import RealReachability, WebWatch
from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_core.kernel.errors import Conflict
from phoneprov_core.kernel.values import PRIVATE_RANGES
from phoneprov_core.switching.devices.commands import CLEAR_SERVICES
from phoneprov_core.switching.devices.ports import Upload
from support.phone_records import a_phone
from support.phone_stub import PhoneStub

BYPASSES = [
    # This host, in every spelling that a library accepts.
    "127.0.0.1", "127.1", "127.255.255.254", "0x7f000001", "0x7f.1", "2130706433", "0177.0.0.1",
    "127.0.0.01", "0.0.0.0", "0",  # noqa: S104 - nothing is bound
    "::1", "::", "0:0:0:0:0:0:0:1", "localhost", "LOCALHOST.",
    "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "127.0.0.1\n", " 127.0.0.1",
    "127.0.0.1 ",
    # An IPv4 address in an IPv6 one: mapped, compatible, translated, NAT64, 6to4, Teredo.
    "::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::127.0.0.1", "64:ff9b:1::7f00:1", "2002:7f00:1::",
    "2002:7f00:0001::1", "2001:0:7f00:1::", "2001::80ff:fffe",
    # With a zone.
    "fe80::1%lo", "::1%lo", "10.0.0.1%lo", "fd00::1%lo", "fe80::1", "fe80::a9fe:a9fe",
    # Metadata services of clouds.
    "169.254.169.254", "::ffff:169.254.169.254", "169.254.170.2", "2852039166",
    "0xa9fea9fe", "metadata.google.internal", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200",
    "192.0.0.192", "168.63.129.16", "fd00:0ec2:0:0::0254",
    # Multicast and unspecified.
    "224.0.0.1", "239.255.255.250", "ff02::1", "255.255.255.255", "240.0.0.1", "0.1.2.3",
    # An address with more text.
    "10.0.0.1@127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:80", "10.0.0.1/../127.0.0.1",
    "10.0.0.1#@127.0.0.1", "10.0.0.1\r\nHost: 127.0.0.1", "http://127.0.0.1", "10.0.0.0/8", "",
]  # fmt: skip


FILE = "SEP001BD4123456.cnf.xml"
_calls: list[list[Any]] = []


def _record_event(event: str, arguments: tuple[Any, ...]) -> None:
    if _calls and event in {"socket.connect", "socket.sendto", "socket.getaddrinfo"}:
        _calls[-1].append((event, *arguments[-1:]))


sys.addaudithook(_record_event)


@pytest.fixture
def calls() -> Iterator[list[Any]]:
    """Records every attempt of this process to connect, to send or to resolve a name."""
    _calls.append([])
    yield _calls[-1]
    _calls.pop()


@pytest.fixture
async def canary() -> AsyncIterator[PhoneStub]:
    """A server on this host that must not be called."""
    async with PhoneStub() as made:
        yield made
        assert made.connections == 0


Call = Callable[[str, int, PhoneNetworks], Awaitable[object]]


def _web(port: int, networks: PhoneNetworks) -> PhoneWeb:
    return PhoneWeb(PhoneWebSettings(port=port, timeout=1.0, total=1.0), networks)


def _ftp(port: int, networks: PhoneNetworks) -> FtpUploader:
    return FtpUploader(FtpSettings(port=port, timeout=1.0, total=1.0), networks)


CALLS: dict[str, Call] = {
    "command": lambda address, port, networks: _web(port, networks).execute(
        address, CLEAR_SERVICES
    ),
    "question": lambda address, port, networks: _web(port, networks).read(address, 1.0),
    "upload": lambda address, port, networks: _ftp(port, networks).upload(
        Upload(address, FILE, b"<device/>", "attempt")
    ),
    "FTP session": lambda address, port, networks: (
        _ftp(port, networks).opened(address, 1.0).__aenter__()
    ),
    "watch": lambda address, port, networks: WebWatch(_web(port, networks), networks).begin(
        a_phone(1, phone_ip=address)
    ),
}


@pytest.mark.parametrize("named", [PRIVATE_RANGES, "0.0.0.0/0,::/0"], ids=["default", "all"])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
async def test_forbidden_address_is_not_called_in_any_spelling(
    canary: PhoneStub, calls: list[Any], call: Call, named: str
) -> None:
    networks = PhoneNetworks.parse(named)
    for address in BYPASSES:
        with pytest.raises(Conflict) as caught:
            await call(address, canary.port, networks)
        assert caught.value.code in {"address_not_allowed", "no_address"}, address
    assert calls == []


async def test_preview_of_a_forbidden_address_reports_it_without_a_call(
    canary: PhoneStub, calls: list[Any]
) -> None:
    networks = PhoneNetworks.parse("0.0.0.0/0,::/0")
    web = _web(canary.port, networks)
    reachability = RealReachability(_ftp(canary.port, networks), web)
    for address in BYPASSES:
        phone = await reachability.phone(a_phone(1, phone_ip=address))
        server = await reachability.server(address)
        assert (phone.reachable, server.reachable) == (False, False), address
    assert calls == []


async def test_permitted_call_is_recorded(canary: PhoneStub, calls: list[Any]) -> None:
    """A call is recorded, so that the absence of records proves that there was none."""
    async with PhoneStub() as stub:
        await _web(stub.port, PhoneNetworks.parse("127.0.0.0/8")).execute(
            "127.0.0.1", CLEAR_SERVICES
        )

    assert ("socket.connect", ("127.0.0.1", stub.port)) in calls
