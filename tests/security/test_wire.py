"""Bytes on a connection that are not well-formed requests, one after the other."""

import pytest

from security.listening import Listening, read_to_end
from security.wire import GET, HOST, POST, SMUGGLING, Recorder, objection

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


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (b"http://evil/x", "/x"),
        (b"//evil/x", "//evil/x"),
        (b"/x", "/x"),
        (b"/x#part", "/x"),
        (b"/x?a=//b", "/x"),
    ],
)
def test_target_with_a_host_is_reduced_to_its_path(
    server: Listening, recorder: Recorder, target: bytes, path: str
) -> None:
    server.ask(b"GET " + target + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")

    assert recorder.asked == [path]


def test_trailer_fields_are_not_passed_to_the_application(
    server: Listening, recorder: Recorder
) -> None:
    request = (
        b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        b"X-Forwarded-For: 10.6.6.6\r\nAuthorization: Bearer x\r\nX-Request-Id: evil\r\n\r\n"
    )

    assert server.ask(POST + request).startswith(b"HTTP/1.1 200 ")
    assert set(recorder.headers[0]) == {b"host", b"connection", b"transfer-encoding"}


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
