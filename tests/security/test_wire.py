"""What comes over the wire and is not one well-formed request after the other."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from phoneprov_http.main.serving import protocol
from phoneprov_http.main.serving.protocol import MOST_WAITING
from phoneprov_http.main.serving.request_head import LARGEST_HEAD, MOST_FIELDS
from security.listening import Listening, listening, read_reply, read_to_end

HOST = b"Host: phoneprov\r\n"
GET = b"GET /%d HTTP/1.1\r\n" + HOST + b"\r\n"
CLOSE = b"GET /last HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
POST = b"POST / HTTP/1.1\r\n" + HOST
BODY = 100_000


class Recorder:
    """Takes every body and answers with the path; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.headers: list[dict[bytes, bytes]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        content = b""
        while (message := await receive())["type"] == "http.request":
            content += message["body"]
            if not message["more_body"]:
                break
        else:
            return
        self.asked.append(scope["path"])
        self.headers.append(dict(scope["headers"]))
        answer = f"{scope['path']} {len(content)}".encode()
        fields = [(b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": fields})
        await send({"type": "http.response.body", "body": answer})


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def server(recorder: Recorder) -> Iterator[Listening]:
    with listening(recorder) as listening_:
        yield listening_


def objection(reply: bytes) -> str:
    """What is said in a reply that is one 400 in the envelope and nothing else."""
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 "), reply
    fields = head.lower().split(b"\r\n")
    assert b"connection: close" in fields
    assert b"cache-control: no-store" in fields
    assert not [field for field in fields if field.startswith(b"server:")]
    envelope = json.loads(body)
    assert envelope["success"] is False
    assert envelope["error"]["code"] == "malformed"
    assert f"x-request-id: {envelope['error']['request_id']}".encode() in fields
    return str(envelope["message"])


NO_HTTP = {
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n\r\n",
    "HTTP/1.2": b"GET / HTTP/1.2\r\n" + HOST + b"\r\n",
    "HTTP/3.0": b"GET / HTTP/3.0\r\n" + HOST + b"\r\n",
    "nonsense": b"nonsense\r\n\r\n",
    "zeros": bytes(100),
    "no target": b"GET  HTTP/1.1\r\n" + HOST + b"\r\n",
    "target in Latin-1": b"GET /\xff\xfe HTTP/1.1\r\n" + HOST + b"\r\n",
    "CONNECT": b"CONNECT evil:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "only an authority": b"GET http://evil HTTP/1.1\r\n" + HOST + b"\r\n",
    "method in small letters": b"get / HTTP/1.1\r\n" + HOST + b"\r\n",
    "line feeds alone": b"GET / HTTP/1.1\nHost: x\n\n",
    "carriage returns alone": b"GET / HTTP/1.1\rHost: x\r\r",
    "a folded field": b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n",
    "a blank before the colon": b"GET / HTTP/1.1\r\n" + HOST + b"X : a\r\n\r\n",
    "a blank before the name": b"GET / HTTP/1.1\r\n X: a\r\n" + HOST + b"\r\n",
    "a field without a name": b"GET / HTTP/1.1\r\n" + HOST + b": a\r\n\r\n",
    "a NUL in a field": b"GET / HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n",
    "a return in a field": b"GET / HTTP/1.1\r\n" + HOST + b"X: a\rb: c\r\n\r\n",
}
NO_HOST = {
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\n" + HOST + b"host: evil\r\n\r\n",
    "two hosts in HTTP/1.0": b"GET / HTTP/1.0\r\n" + HOST + b"host: evil\r\n\r\n",
}
SMUGGLING = {
    "length and chunks": b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    "the same length twice": b"Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde",
    "a list of lengths": b"Content-Length: 5, 5\r\n\r\nabcde",
    "a signed length": b"Content-Length: +5\r\n\r\nabcde",
    "a negative length": b"Content-Length: -1\r\n\r\n",
    "a length in hexadecimal": b"Content-Length: 0x5\r\n\r\nabcde",
    "a length beyond counting": b"Content-Length: 99999999999999999999999\r\n\r\n",
    "an empty length": b"Content-Length: \r\n\r\n",
    "identity": b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "another encoding": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked, but not last": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a vertical tab": b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    "a chunk without a size": b"Transfer-Encoding: chunked\r\n\r\n\r\nab\r\n0\r\n\r\n",
    "a chunk of size ZZ": b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n",
    "a signed chunk": b"Transfer-Encoding: chunked\r\n\r\n+2\r\nab\r\n0\r\n\r\n",
    "a chunk of 0x2": b"Transfer-Encoding: chunked\r\n\r\n0x2\r\nab\r\n0\r\n\r\n",
    "a chunk beyond counting": b"Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n\r\n",
    "a chunk ended by a line feed": b"Transfer-Encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n",
    "a chunk longer than it says": b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
    "a return in an extension": b"Transfer-Encoding: chunked\r\n\r\n2;a\rb\r\nab\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("request_", NO_HTTP.values(), ids=NO_HTTP.keys())
def test_bytes_that_are_not_http_are_400(
    server: Listening, recorder: Recorder, request_: bytes
) -> None:
    assert objection(server.ask(request_)) == "The request is not valid HTTP."
    assert recorder.asked == []


@pytest.mark.parametrize("request_", NO_HOST.values(), ids=NO_HOST.keys())
def test_request_with_several_hosts_is_400(
    server: Listening, recorder: Recorder, request_: bytes
) -> None:
    assert objection(server.ask(request_)) == "The request must name one host."
    assert recorder.asked == []


@pytest.mark.parametrize("framing", SMUGGLING.values(), ids=SMUGGLING.keys())
def test_body_with_ambiguous_length_is_400(
    server: Listening, recorder: Recorder, framing: bytes
) -> None:
    smuggled = b"GET /smuggled HTTP/1.1\r\n" + HOST + b"\r\n"

    assert objection(server.ask(POST + framing + smuggled)) == "The request is not valid HTTP."
    assert recorder.asked == []


def test_http_1_0_needs_no_host_and_closes_the_connection(
    server: Listening, recorder: Recorder
) -> None:
    reply = server.ask(b"GET /old HTTP/1.0\r\n\r\n")

    assert reply.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close" in reply.lower()
    assert recorder.asked == ["/old"]


@pytest.mark.parametrize("target", [b"http://evil/x", b"//evil/x", b"/x", b"/x#part", b"/x?a=//b"])
def test_target_with_a_host_is_reduced_to_its_path(
    server: Listening, recorder: Recorder, target: bytes
) -> None:
    server.ask(b"GET " + target + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")

    assert recorder.asked in (["/x"], ["//evil/x"])


def test_trailer_fields_are_not_passed_to_the_application(
    server: Listening, recorder: Recorder
) -> None:
    request = (
        b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        b"X-Forwarded-For: 10.6.6.6\r\nAuthorization: Bearer x\r\nX-Request-Id: evil\r\n\r\n"
    )

    assert server.ask(POST + request).startswith(b"HTTP/1.1 200 ")
    assert set(recorder.headers[0]) == {b"host", b"connection", b"transfer-encoding"}


UPGRADES = {
    "websocket": b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
    "h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n",
    "anything": b"connection: keep-alive\r\nConnection:upgrade\r\nUPGRADE: anything\r\n",
    "two protocols": b"Upgrade: a\r\nUpgrade: b\r\nConnection: Upgrade\r\n",
    "no protocol": b"Upgrade:\r\nConnection: Upgrade\r\n",
}
TRAILERS = {
    "close": b"Connection: close\r\n",
    "upgrade": b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
    "length": b"Content-Length: 5\r\n",
    "encoding": b"Transfer-Encoding: chunked\r\n",
    "host": HOST,
}


@pytest.mark.parametrize("trailer", TRAILERS.values(), ids=TRAILERS.keys())
@pytest.mark.parametrize("upgrade", [b"", UPGRADES["h2c"]], ids=["plain", "upgrade"])
def test_trailer_connection_field_leaves_no_request_unanswered(
    server: Listening, recorder: Recorder, trailer: bytes, upgrade: bytes
) -> None:
    """The next request is answered, or the connection is closed."""
    chunked = upgrade + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
    reply = server.ask(POST + chunked + trailer + b"\r\n" + CLOSE)

    assert recorder.asked in (["/", "/last"], ["/"], [])
    assert reply.count(b"HTTP/1.1 200 ") == len(recorder.asked)
    assert b"connection: close" in reply


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


@pytest.mark.parametrize("following", [b"\0nonsense", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9"])
def test_invalid_bytes_after_a_request_keep_its_response(
    server: Listening, recorder: Recorder, following: bytes
) -> None:
    reply = server.ask(GET % 1 + following)

    assert reply.startswith(b"HTTP/1.1 200 ")
    assert reply.endswith(b"/1 0")
    assert recorder.asked == ["/1"]


def test_malformed_chunk_in_a_body_is_400(server: Listening, recorder: Recorder) -> None:
    start = POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"

    with server.connect() as client:
        client.sendall(start)
        client.sendall(b"ZZ\r\n")
        assert objection(read_to_end(client)) == "The request is not valid HTTP."
    assert recorder.asked == []


HIDDEN = b"DELETE /hidden HTTP/1.1\r\nHost: phoneprov\r\n\r\n"
FRAMINGS = {
    "length": (b"Content-Length: %d\r\n\r\n" % len(HIDDEN), HIDDEN),
    "chunks": (
        b"Transfer-Encoding: chunked\r\n\r\n",
        b"%x\r\n%b\r\n0\r\n\r\n" % (len(HIDDEN), HIDDEN),
    ),
}


@pytest.mark.parametrize("upgrade", UPGRADES.values(), ids=UPGRADES.keys())
@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS.keys())
@pytest.mark.parametrize("apart", [True, False], ids=["body apart", "body at once"])
def test_upgrade_with_body_stays_one_request(
    server: Listening,
    recorder: Recorder,
    upgrade: bytes,
    framing: tuple[bytes, bytes],
    apart: bool,
) -> None:
    end, body = framing
    head = POST + upgrade + end
    with server.connect() as client:
        if apart:
            client.sendall(head)
            server.until_received(client)
            client.sendall(body)
        else:
            client.sendall(head + body)
        assert read_reply(client).endswith(b"\r\n\r\n/ %d" % len(HIDDEN))
        client.sendall(CLOSE)
        assert read_to_end(client).endswith(b"/last 0")
    assert recorder.asked == ["/", "/last"]


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
def test_upgrade_without_body_is_an_ordinary_request(
    server: Listening, recorder: Recorder, version: bytes
) -> None:
    for upgrade in UPGRADES.values():
        reply = server.ask(b"GET /u HTTP/%b\r\n" % version + HOST + upgrade + b"\r\n" + CLOSE)
        assert reply.startswith(b"HTTP/1.1 200 ")
        assert reply.count(b"HTTP/1.1 200 ") == (2 if version == b"1.1" else 1)
    assert recorder.asked.count("/u") == len(UPGRADES)


@pytest.mark.parametrize("framing", FRAMINGS.values(), ids=FRAMINGS.keys())
def test_upgrade_and_close_is_one_request_and_the_last(
    server: Listening, recorder: Recorder, framing: tuple[bytes, bytes]
) -> None:
    head = POST + b"Connection: upgrade, close\r\nUpgrade: h2c\r\n"

    reply = server.ask(head + framing[0] + framing[1] + HIDDEN)

    assert reply.endswith(b"\r\n\r\n/ %d" % len(HIDDEN))
    assert b"connection: close" in reply
    assert recorder.asked == ["/"]


def test_upgrade_pipelined_requests_are_each_answered(
    server: Listening, recorder: Recorder
) -> None:
    length, body = FRAMINGS["length"]
    one = POST + UPGRADES["h2c"] + length + body

    assert server.ask(one * 5 + CLOSE).count(b"HTTP/1.1 200 ") == 6
    assert recorder.asked == ["/"] * 5 + ["/last"]


@pytest.mark.parametrize("framing", SMUGGLING.values(), ids=SMUGGLING.keys())
def test_upgrade_with_ambiguous_body_is_400(
    server: Listening, recorder: Recorder, framing: bytes
) -> None:
    reply = server.ask(POST + UPGRADES["h2c"] + framing + HIDDEN)

    assert objection(reply) == "The request is not valid HTTP."
    assert recorder.asked == []


@pytest.mark.parametrize("target", [b"/", b"evil:443", b"*"])
def test_connect_is_400(server: Listening, recorder: Recorder, target: bytes) -> None:
    assert objection(server.ask(b"CONNECT " + target + b" HTTP/1.1\r\n" + HOST + b"\r\n" + HIDDEN))
    assert recorder.asked == []


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
