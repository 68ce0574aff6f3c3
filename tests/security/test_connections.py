"""Clients with silent connections do not exclude others."""

import ipaddress
import json
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from faults.served import SERVE, Served
from phoneprov_http.main.server.bounds import (
    MOST_FILES,
    RESERVED_FILES,
    Connections,
    raise_file_limit,
)
from security.listening import Listening, listening, read_reply, read_to_end
from support.scale import LONG

LOCAL = (ipaddress.ip_network("127.0.0.0/8"),)
REQUEST = b"GET / HTTP/1.1\r\nHost: phoneprov\r\n\r\n"
HALF = REQUEST[:-2]


class Fake:
    """A connection that records its end."""

    def __init__(self) -> None:
        self.is_closed = False

    def abort(self) -> None:
        self.is_closed = True


def opened(connections: Connections, *addresses: str | None) -> list[Fake]:
    """Connections from these addresses, all admitted."""
    fakes = [Fake() for _ in addresses]
    for fake, address in zip(fakes, addresses, strict=True):
        assert connections.admit(fake, address)
    return fakes


def test_limit_reached_closes_the_connection_that_waited_longest() -> None:
    connections = Connections(3, 3)
    first, second, third = opened(connections, "10.0.0.1", "10.0.0.2", "10.0.0.3")
    connections.work(first)
    connections.wait(first)  # with a response it is the youngest now

    opened(connections, "10.0.0.4", "10.0.0.4")

    assert [fake.is_closed for fake in (first, second, third)] == [False, True, True]


def test_limit_reached_refuses_when_all_connections_are_answered() -> None:
    connections = Connections(2, 2)
    working = opened(connections, "10.0.0.1", "10.0.0.2")
    for fake in working:
        connections.work(fake)

    assert not connections.admit(Fake(), "10.0.0.3")
    connections.leave(working[0])
    assert connections.admit(Fake(), "10.0.0.3")
    assert not any(fake.is_closed for fake in working)


@pytest.mark.parametrize(
    ("address", "same"),
    [
        ("10.0.0.1", "::ffff:10.0.0.1"),
        ("2001:db8::1", "2001:db8::ffff:1"),
        ("fe80::1%eth0", "fe80::2%eth1"),
    ],
)
def test_address_over_its_limit_is_refused_and_others_are_not(address: str, same: str) -> None:
    connections = Connections(100, 2)
    first, _ = opened(connections, address, same)

    assert not connections.admit(Fake(), address)
    opened(connections, "10.0.0.2", "2001:db8:0:1::1", None, "")
    connections.leave(first)
    connections.leave(first)
    opened(connections, same)
    assert not connections.admit(Fake(), same)


def test_trusted_proxies_and_local_sockets_have_the_common_limit_only() -> None:
    connections = Connections(10, 1, LOCAL)

    opened(connections, *["127.0.0.1"] * 4, *["::ffff:127.0.0.1"] * 4, None, None)


def test_connection_limits_reserve_files_for_database_and_phones() -> None:
    assert Connections.within(1024).most == 1024 - RESERVED_FILES
    assert Connections.within(100).most == 50
    assert Connections.within(100).most_of_one == 12


def test_soft_limit_of_open_files_is_raised() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(before[1], MOST_FILES) if before[1] != resource.RLIM_INFINITY else MOST_FILES
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted - 1, before[1]))
    try:
        assert raise_file_limit() == wanted
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == wanted
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def answers(scope: Any, receive: Any, send: Any) -> None:
    fields = [(b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": fields})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def half_sent(stack: ExitStack, server: Listening, count: int) -> list[socket.socket]:
    """Connections with half of a request on each."""
    clients = [stack.enter_context(server.connect()) for _ in range(count)]
    for client in clients:
        client.sendall(HALF)
    return clients


def test_half_sent_requests_do_not_block_others(stack: ExitStack) -> None:
    server = stack.enter_context(listening(answers, Connections(10, 10, LOCAL)))
    clients = half_sent(stack, server, 30)

    with server.connect() as client:
        client.sendall(REQUEST)
        assert read_reply(client).endswith(b"\r\n\r\nok")
    for evicted in clients[:20]:
        assert read_to_end(evicted) == b""
    clients[-1].sendall(b"\r\n")
    assert read_reply(clients[-1]).endswith(b"\r\n\r\nok")


def test_address_over_its_limit_is_503(stack: ExitStack, caplog: pytest.LogCaptureFixture) -> None:
    server = stack.enter_context(listening(answers, Connections(100, 5)))
    half_sent(stack, server, 5)

    for _ in range(20):
        head, _, body = server.ask().partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 5" in head.split(b"\r\n")
        assert json.loads(body)["error"]["code"] == "unavailable"
    (event,) = (record for record in caplog.records if record.name == "phoneprov.connections")
    fields = event.__dict__["fields"]
    assert event.getMessage() == "client address refused"
    assert (fields["limit"], fields["client_ip"]) == (5, "127.0.0.1")


_LIMITED = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (600, 1024))
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.skipif(not LONG, reason="starts a server")
@pytest.mark.parametrize("trusted", ["", "127.0.0.1"])
def test_half_sent_requests_1100_under_1024_files_are_bounded(
    stack: ExitStack, tmp_path: Path, trusted: str
) -> None:
    command = [sys.executable, "-c", _LIMITED, *SERVE]
    served = Served(tmp_path, command=command, PHONEPROV_TRUSTED_PROXIES=trusted)
    stack.callback(served.close)
    served.start()
    for _ in range(1100):
        client = stack.enter_context(socket.create_connection(("127.0.0.1", served.port)))
        client.settimeout(20)
        with suppress(ConnectionError):
            client.sendall(HALF)
    # Another address, of another office; without a proxy the first one keeps its share.
    other = stack.enter_context(
        socket.create_connection(("127.0.0.1", served.port), source_address=("127.0.0.2", 0))
    )
    other.settimeout(20)
    other.sendall(REQUEST.replace(b"/", b"/health/ready", 1))
    assert read_reply(other).startswith(b"HTTP/1.1 200 ")
    served.tell(signal.SIGTERM)
    event = "limit of connections reached" if trusted else "client address refused"
    assert served.log_text().count(event) == 1
