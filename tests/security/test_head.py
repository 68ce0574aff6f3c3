"""HEAD on a real connection."""

from phoneprov_http.front import Front
from security.listening import listening
from security.wire import CLOSE, HOST, Recorder

HEAD = b"HEAD /users HTTP/1.1\r\n" + HOST + b"\r\n"


def test_head_leaves_the_connection_open(recorder: Recorder) -> None:
    with listening(Front(recorder)) as server:
        replies = server.ask(HEAD + HEAD + CLOSE)

    assert replies.count(b"HTTP/1.1 200 OK\r\n") == 3
    assert replies.count(b"\r\ncontent-length: 8\r\n") == 2
    assert b"/users 0" not in replies
    assert replies.endswith(b"/last 0")
