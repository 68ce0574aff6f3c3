"""Clients that request much and read little hold neither memory nor a shutdown."""

import asyncio
import gc
import time
import weakref
from collections.abc import Iterator
from typing import Any

import pytest

from phoneprov_http.main.server import bounds as reader
from phoneprov_http.main.server.protocol import BoundedProtocol
from security.listening import Listening, listening, read_to_end

PIECE = 1024 * 1024
PIECES = 16
REQUEST = b"GET / HTTP/1.1\r\nHost: phoneprov\r\n%s\r\n"
LAST = REQUEST % b"Connection: close\r\n"
KEPT = REQUEST % b""


class Piece(bytearray):
    """A part of a reply whose release is visible."""

    __hash__ = object.__hash__  # type: ignore[assignment]


class Library:
    """Sends a long response in pieces until the client stops reading."""

    def __init__(self) -> None:
        self.given = 0
        self.ended = asyncio.Event()
        self.pieces: weakref.WeakSet[Piece] = weakref.WeakSet()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(PIECES):
            piece = Piece(PIECE)
            self.pieces.add(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            self.given += 1
        await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def library() -> Library:
    return Library()


@pytest.fixture
def server(library: Library, monkeypatch: pytest.MonkeyPatch) -> Iterator[Listening]:
    monkeypatch.setattr(reader, "LOOK_SECONDS", 0.3)
    with listening(library) as listening_:
        yield listening_


@pytest.mark.parametrize("request_", [KEPT, LAST], ids=["kept", "last"])
def test_client_that_never_reads_is_disconnected(
    server: Listening, library: Library, request_: bytes
) -> None:
    began = time.monotonic()
    with server.connect(receive_buffer=4096) as client:
        client.sendall(request_)

        server.until_idle()
        assert time.monotonic() - began > 0.2
        gc.collect()
        assert len(library.pieces) == 0
        assert len(read_to_end(client)) < PIECES * PIECE


def test_client_that_stops_reading_is_disconnected(server: Listening, library: Library) -> None:
    with server.connect(receive_buffer=4096) as client:
        client.sendall(KEPT)
        taken = 0
        while taken < 4 * PIECE:
            taken += len(client.recv(65536))

        server.until_idle()


def test_client_that_reads_slowly_gets_everything(server: Listening, library: Library) -> None:
    """At any speed from a few kilobytes a second on."""
    with server.connect(receive_buffer=65536) as client:
        client.sendall(LAST)
        received = bytearray()
        while len(received) < 2 * PIECE:
            received += client.recv(32 * 1024)
            time.sleep(0.02)
        received += read_to_end(client)

    assert len(received) > PIECES * PIECE
    assert received.endswith(b"\r\n0\r\n\r\n")


def test_connection_close_is_watched_until_its_end(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also below the write limit of the transport."""
    original = BoundedProtocol.connection_made

    def content(self: BoundedProtocol, transport: Any) -> None:
        transport.set_write_buffer_limits(high=100 * PIECES * PIECE)
        original(self, transport)

    monkeypatch.setattr(BoundedProtocol, "connection_made", content)
    monkeypatch.setattr(reader, "LOOK_SECONDS", 0.3)
    with listening(library) as server, server.connect(receive_buffer=4096) as client:
        client.sendall(LAST)
        server.until_idle()
        assert library.given == PIECES


def test_interrupted_response_is_watched_until_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    original = BoundedProtocol.connection_made

    def content(self: BoundedProtocol, transport: Any) -> None:
        transport.set_write_buffer_limits(high=100 * PIECES * PIECE)
        original(self, transport)

    async def breaks(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        body = bytes(PIECES * PIECE)
        await send({"type": "http.response.body", "body": body, "more_body": True})
        raise RuntimeError

    monkeypatch.setattr(BoundedProtocol, "connection_made", content)
    monkeypatch.setattr(reader, "LOOK_SECONDS", 0.3)
    with listening(breaks) as server, server.connect(receive_buffer=4096) as client:
        client.sendall(KEPT)
        server.until_idle()


def test_client_that_never_reads_does_not_delay_shutdown(
    server: Listening, library: Library
) -> None:
    with server.connect(receive_buffer=4096) as client:
        client.sendall(KEPT)
        time.sleep(0.1)
        server.stop_connections()
        server.until_idle()
