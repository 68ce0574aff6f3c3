"""Requests with the field Upgrade, which the service does not offer."""

import pytest

from security.listening import Listening, read_reply, read_to_end
from security.wire import CLOSE, HOST, POST, SMUGGLING, UPGRADES, Recorder, objection

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
