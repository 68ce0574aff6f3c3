"""Parts of requests, and an application that records them."""

import json
from typing import Any

HOST = b"Host: phoneprov\r\n"
GET = b"GET /%d HTTP/1.1\r\n" + HOST + b"\r\n"
CLOSE = b"GET /last HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
POST = b"POST / HTTP/1.1\r\n" + HOST


class Recorder:
    """Reads every body, answers with the path, and records the requests."""

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


def objection(reply: bytes) -> str:
    """The message of a reply that is exactly one 400 in the envelope."""
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

UPGRADES = {
    "websocket": b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
    "h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n",
    "anything": b"connection: keep-alive\r\nConnection:upgrade\r\nUPGRADE: anything\r\n",
    "two protocols": b"Upgrade: a\r\nUpgrade: b\r\nConnection: Upgrade\r\n",
    "no protocol": b"Upgrade:\r\nConnection: Upgrade\r\n",
}
