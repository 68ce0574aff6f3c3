"""Fetches over a real connection: which clients have the whole file."""

import socket
import struct
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from phoneprov_adapters.runtime.networks import PhoneNetworks
from phoneprov_adapters.serving.uploader import NoFolder
from phoneprov_core.features.serving.model import FetchResult
from phoneprov_core.features.serving.use_cases import Ended, FileRequest, Provided, ProvideFile
from phoneprov_core.switching.devices.names import Binding
from phoneprov_http.main.server import bounds as delivery
from phoneprov_http.phone.app import PhoneFiles
from security.listening import Listening, listening, read_reply, read_to_end
from support.polling import wait_for

SIZES = {"small": 4000, "large": 3_000_000}


class Files(ProvideFile):
    """Files without a database."""

    async def open(self, request: FileRequest) -> Provided:
        content = b"c" * SIZES[request.name.strip("/")]
        return Provided(request, FetchResult.SERVED, content=content, attempt="one")


class Office(NamedTuple):
    """The server, and what it has to record."""

    server: Listening
    ended: list[Ended]

    def result(self) -> FetchResult:
        """The result of the only fetch."""
        wait_for(lambda: bool(self.ended), seconds=20)
        (ended,) = self.ended
        assert (ended.attempt is not None) == (ended.fetch.result is FetchResult.SERVED)
        return ended.fetch.result


@pytest.fixture
def office() -> Iterator[Office]:
    unused: Any = None
    files = Files(
        unused,
        NoFolder(),
        PhoneNetworks.parse("127.0.0.0/8"),
        Binding.NETWORK,
        unused,
        lambda: datetime(2026, 1, 31, tzinfo=UTC),
        lambda: "00000000-0000-4000-8000-000000000001",
    )
    ended: list[Ended] = []
    with listening(PhoneFiles(files, ended.append)) as server:
        yield Office(server, ended)


def request(name: str, *, close: bool = False, method: str = "GET", more: str = "") -> bytes:
    more += "Connection: close\r\n" if close else ""
    return f"{method} /{name} HTTP/1.1\r\nHost: a\r\n{more}\r\n".encode()


def cut_by_close(client: socket.socket) -> None:
    client.close()


def cut_by_reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def cut_after_shutdown(client: socket.socket) -> None:
    client.shutdown(socket.SHUT_RDWR)
    client.close()


def cut_later(client: socket.socket) -> None:
    time.sleep(1)
    client.close()


@pytest.mark.parametrize("cut", [cut_by_close, cut_by_reset, cut_after_shutdown, cut_later])
@pytest.mark.parametrize("close", [False, True])
@pytest.mark.parametrize("name", SIZES)
def test_fetch_that_is_cut_after_1000_bytes_fails(
    office: Office, name: str, close: bool, cut: Any
) -> None:
    if close and name == "small" and cut is cut_after_shutdown:
        pytest.skip("both sides closed in order: TCP does not tell whether the program read")
    with office.server.connect() as client:
        client.sendall(request(name, close=close))
        assert client.recv(1000)
        cut(client)

    assert office.result() is FetchResult.FAILED


def test_fetch_that_is_reset_after_the_client_closed_its_side_fails(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "RESET_SECONDS", 3.0)
    with office.server.connect() as client:
        client.sendall(request("small"))
        assert client.recv(1000)
        client.shutdown(socket.SHUT_WR)
        time.sleep(0.2)
        assert not office.ended

    assert office.result() is FetchResult.FAILED


@pytest.mark.parametrize("close", [False, True])
@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("more", ["", "Range: bytes=0-99\r\n", "If-None-Match: *\r\n"])
def test_fetch_that_is_read_whole_is_served(
    office: Office, name: str, close: bool, more: str
) -> None:
    with office.server.connect() as client:
        client.sendall(request(name, close=close, more=more))
        reply = read_to_end(client) if close else read_reply(client)

    assert reply.startswith(b"HTTP/1.1 200 ")
    assert len(reply.partition(b"\r\n\r\n")[2]) == SIZES[name]
    assert office.result() is FetchResult.SERVED


def test_fetch_followed_by_another_request_is_served_at_once(office: Office) -> None:
    with office.server.connect() as client:
        for _ in range(20):
            client.sendall(request("small"))
            read_reply(client)
        client.sendall(request("small", close=True))
        began = time.monotonic()
        read_to_end(client)
    wait_for(lambda: len(office.ended) == 21, seconds=20)

    assert time.monotonic() - began < delivery.PATIENCE_SECONDS
    assert {one.fetch.result for one in office.ended} == {FetchResult.SERVED}


def test_fetch_of_a_client_that_stays_connected_is_served_after_a_while(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "PATIENCE_SECONDS", 0.5)
    with office.server.connect() as client:
        client.sendall(request("small"))
        read_reply(client)
        assert not office.ended
        assert office.result() is FetchResult.SERVED
        client.sendall(request("small", close=True))
        assert read_to_end(client).startswith(b"HTTP/1.1 200 ")


def test_fetch_that_is_not_read_is_not_served(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery, "PATIENCE_SECONDS", 0.2)
    with office.server.connect(receive_buffer=4096) as client:
        client.sendall(request("large"))
        client.recv(1000)
        time.sleep(2)
        assert not office.ended
    assert office.result() is FetchResult.FAILED


def test_head_is_not_recorded(office: Office) -> None:
    office.server.ask(request("small", method="HEAD", close=True))

    assert not office.ended


def test_pipelined_fetches_that_are_cut_fail(office: Office) -> None:
    with office.server.connect() as client:
        client.sendall(request("small") * 2)
        client.recv(1000)
    wait_for(lambda: bool(office.ended), seconds=20)

    assert {one.fetch.result for one in office.ended} == {FetchResult.FAILED}


def test_stop_does_not_wait_for_a_silent_client(office: Office) -> None:
    with office.server.connect() as client:
        client.sendall(request("small"))
        read_reply(client)
        began = time.monotonic()
        office.server.stop_connections()
        assert office.result() is FetchResult.SERVED
    assert time.monotonic() - began < delivery.PATIENCE_SECONDS / 2
