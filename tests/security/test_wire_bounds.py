"""Bounds of a head, of chunks, of pipelining and of time."""

import time

import pytest

from phoneprov_http.main.server import protocol
from phoneprov_http.main.server.bounds import LARGEST_HEAD, MOST_FIELDS
from phoneprov_http.main.server.protocol import MOST_WAITING
from security.listening import Listening, listening, read_reply, read_to_end
from security.wire import CLOSE, GET, HOST, POST, Recorder, objection


@pytest.mark.parametrize("pieces", [1, 7])
def test_head_over_the_limit_is_refused(server: Listening, pieces: int) -> None:
    def request(size: int) -> list[bytes]:
        whole = b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\nX: " + b"a" * size
        whole += b"\r\n\r\n"
        step = len(whole) // pieces + 1
        return [whole[start : start + step] for start in range(0, len(whole), step)]

    assert server.ask(*request(LARGEST_HEAD - 200)).startswith(b"HTTP/1.1 200 ")
    assert objection(server.ask(*request(LARGEST_HEAD))) == "The header fields are too large."
    huge = request(10 * LARGEST_HEAD)
    assert server.ask(*huge)[:12] in {b"HTTP/1.1 400", b""}  # or cut off while it still sends


def test_head_limit_includes_the_target(server: Listening) -> None:
    request = b"GET /" + b"a" * LARGEST_HEAD + b" HTTP/1.1\r\n" + HOST + b"\r\n"

    assert objection(server.ask(request)) == "The header fields are too large."


def test_header_fields_over_the_limit_are_refused(server: Listening) -> None:
    def request(count: int) -> bytes:
        return CLOSE[:-2] + b"a:\r\n" * (count - 2) + b"\r\n"

    assert server.ask(request(MOST_FIELDS)).startswith(b"HTTP/1.1 200 ")
    assert objection(server.ask(request(MOST_FIELDS + 1))) == "The header fields are too large."


def test_repeated_authorization_is_bounded_by_its_size_alone(server: Listening) -> None:
    """Asterisk sends its header once more after each reload of its configuration."""

    def request(count: int) -> bytes:
        return CLOSE[:-2] + (b"Authorization: Bearer " + b"a" * 64 + b"\r\n") * count + b"\r\n"

    assert server.ask(request(600)).startswith(b"HTTP/1.1 200 ")
    assert objection(server.ask(request(800))) == "The header fields are too large."


@pytest.mark.parametrize("following", [b"X: ", b"2;", b"0\r\nX: ", b"2\r\n{}\r\n0\r\nX: "])
def test_data_between_chunks_is_bounded(server: Listening, following: bytes) -> None:
    began = time.process_time()
    with server.connect() as client:
        client.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n")
        sent = 0
        try:
            client.sendall(following)
            while sent < 20_000_000:
                client.sendall(b"a" * 65536)
                sent += 65536
        except ConnectionError:
            pass
    # The kernel accepts some bytes before the connection is closed.
    assert sent < 12_000_000
    assert time.process_time() - began < 2


def test_body_in_small_chunks_is_accepted(server: Listening) -> None:
    chunks = b"".join(b"1;note=%05d\r\n.\r\n" % number for number in range(20_000))

    reply = server.ask(
        POST + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    )

    assert reply.endswith(b"/ 20000")


def test_pipelined_requests_are_bounded(server: Listening, recorder: Recorder) -> None:
    polite = b"".join(GET % number for number in range(MOST_WAITING))
    assert server.ask(polite + CLOSE).count(b"HTTP/1.1 200 ") == MOST_WAITING + 1
    recorder.asked.clear()

    reply = server.ask(b"".join(GET % number for number in range(5000)))

    assert reply.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 400 " not in reply
    assert 1 <= len(recorder.asked) <= MOST_WAITING + 1


def test_blank_lines_do_not_keep_a_connection_open(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "ARRIVAL_SECONDS", 0.2)
    with listening(recorder) as server:
        for stray in (b"\r\n", b"\r\n" * 5, b"G"):
            with server.connect() as client:
                client.sendall(GET % 1)
                read_reply(client)
                client.sendall(stray)
                assert read_to_end(client) == b""


@pytest.mark.parametrize(
    "begun",
    [b"", b"\r\n", b"G", b"GET / HTTP/1.1\r\nHost: x\r\n", POST + b"Content-Length: 9\r\n\r\n{"],
)
def test_incomplete_request_is_closed_after_the_deadline(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr(protocol, "ARRIVAL_SECONDS", 0.3)
    with listening(recorder) as server, server.connect() as client:
        client.sendall(begun)
        began = time.monotonic()
        assert read_to_end(client) == b""
        assert time.monotonic() - began < 15
        assert recorder.asked == []


def test_request_sent_byte_by_byte_has_the_same_deadline(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "ARRIVAL_SECONDS", 0.5)
    with listening(recorder) as server, server.connect() as client:
        began = time.monotonic()
        try:
            for byte in GET % 1 + b"a" * 10_000:
                client.sendall(bytes([byte]))
                time.sleep(0.05)
        except ConnectionError:
            pass
        assert time.monotonic() - began < 15
    assert recorder.asked == []
