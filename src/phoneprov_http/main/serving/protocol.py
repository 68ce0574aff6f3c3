"""uvicorn's HTTP protocol with the bounds it lacks.

uvicorn waits for ever for the rest of a request, for the next one after a stray line end, and
for a client to take its reply; it takes fields and requests in a queue without end, and fields
behind a body for fields of the request. Here

- a request arrives whole within ``ARRIVAL_SECONDS``, its line and fields within
  ``LARGEST_HEAD`` bytes and ``MOST_FIELDS``, and names one host;
- fields behind a body are passed over;
- at most ``MOST_WAITING`` requests wait behind the one that is answered;
- a client that does not read is cut off (see ``reader.py``);
- what is no HTTP at all is answered in the envelope like everything else, but never in the
  middle of another reply.

Told to stop, uvicorn closes a connection that is between two requests at once, also when the
next is on its way. Here it stays open for ``SILENCE_SECONDS``, and whatever comes is answered.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from phoneprov_http.frame import HEADERS
from phoneprov_http.main.serving.listener import readable
from phoneprov_http.main.serving.slow_readers import ReaderWatch
from phoneprov_http.replies import ErrorEnvelope, ErrorInfo

ARRIVAL_SECONDS = 20.0
LARGEST_HEAD = 64 * 1024
MOST_FIELDS = 100
MOST_WAITING = 16
SILENCE_SECONDS = 1.0

_NO_HTTP = "The request is not valid HTTP."
_TOO_LARGE = "The header fields are too large."


class _Objection(Exception):
    """Something in the request that the parser lets pass. The parser turns it into an error
    of its own, so that the reason is kept aside."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    _arrival: asyncio.TimerHandle | None = None
    _reader: ReaderWatch
    _answering: RequestResponseCycle | None = None
    _objection: str | None = None
    _refused = False
    _in_head = False
    _head_size = 0
    _idle_size = 0
    _has_begun = False
    _silent_until: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._reader = ReaderWatch(self.loop, transport)
        self._await_arrival()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        self._reader.stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        # The parser keeps an unfinished field, wherever it stands, and copies it each time.
        self._idle_size += len(data)
        if self._idle_size > LARGEST_HEAD + len(data):
            self.send_400_response(_TOO_LARGE)
            return
        super().data_received(data)
        if self._arrival is None and not self._is_answering() and not self.transport.is_closing():
            self._await_arrival()

    def on_message_begin(self) -> None:
        self._in_head, self._head_size, self._idle_size = True, 0, 0
        self._has_begun = True
        self._await_arrival()
        super().on_message_begin()
        if len(self.pipeline) >= MOST_WAITING:
            self._object("Too many requests wait on this connection.")

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_head:
            return
        self._count(len(name) + len(value) + 4)
        if len(self.headers) >= MOST_FIELDS:
            self._object(_TOO_LARGE)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        version = self.parser.get_http_version()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if version not in {"1.0", "1.1"}:
            self._object(_NO_HTTP)
        if hosts > 1 or (version == "1.1" and not hosts):
            self._object("The request must name one host.")
        super().on_headers_complete()
        if self._silent_until is not None:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._idle_size = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._idle_size = 0
        self._arrived()
        self._has_begun = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch_if_closing()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._watch_if_closing()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reader.start()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.transport.is_closing():
            self._reader.stop()

    def shutdown(self) -> None:
        """Finish: answer what has begun to arrive, and close. To be called until it is closed."""
        now = self.loop.time()
        if self._silent_until is None:
            self._silent_until = now + SILENCE_SECONDS
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            # A reply on its way has said that the connection is kept: one more may follow it.
            cycle.keep_alive &= cycle.response_started
        elif not self._has_begun and now >= self._silent_until and not self._has_more():
            self._close()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request in the form of every other failure, and close.

        While an earlier request is answered, nothing may come in between: then the connection
        is closed behind that answer.
        """
        objection = self._objection or (_NO_HTTP if msg.startswith("Invalid") else msg)
        self._refused = True
        self._arrived()
        answering = self._answering
        if answering is not None and self._is_answering() and not answering.more_body:
            self._close_behind(answering)
            return
        if answering is None or answering.response_complete or not answering.response_started:
            self.transport.write(_malformed(objection))
        self._close()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle

        async def answered(*asked: Any) -> None:
            try:
                await app(*asked)
            except BaseException:
                self.loop.call_soon(self._watch_if_closing)
                raise

        super()._start_asgi_task(cycle, answered)

    def _is_answering(self) -> bool:
        return self._answering is not None and not self._answering.response_complete

    def _close_behind(self, cycle: RequestResponseCycle) -> None:
        """Take nothing more, and close when this request is answered."""
        self._refused = True
        cycle.keep_alive = False
        self.pipeline.clear()
        self.flow.pause_reading()

    def _close(self) -> None:
        self.transport.close()
        self._watch_if_closing()

    def _watch_if_closing(self) -> None:
        if self.transport.is_closing():
            self._reader.start()

    def _object(self, objection: str) -> None:
        self._objection = objection
        raise _Objection

    def _count(self, size: int) -> None:
        self._head_size += size
        if self._head_size > LARGEST_HEAD:
            self._object(_TOO_LARGE)

    def _has_more(self) -> bool:
        """Whether something came in that nobody has looked at."""
        fd: int = self.transport.get_extra_info("socket").fileno()
        return fd >= 0 and readable(fd)

    def _await_arrival(self) -> None:
        self._arrived()
        self._arrival = self.loop.call_later(ARRIVAL_SECONDS, self._is_late)

    def _arrived(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None

    def _is_late(self) -> None:
        self._arrival = None
        if self._answering is not None and self._is_answering() and not self._answering.more_body:
            self._close_behind(self._answering)
        else:
            self._close()


def _malformed(objection: str) -> bytes:
    request_id = uuid.uuid4().hex
    error = ErrorInfo("malformed", (), request_id)
    body = msgspec.json.encode(ErrorEnvelope(False, objection, None, error))
    fields = [
        *HEADERS,
        (b"content-type", b"application/json"),
        (b"x-request-id", request_id.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    head = b"".join(b"%s: %s\r\n" % field for field in fields)
    return b"HTTP/1.1 400 Bad Request\r\n" + head + b"\r\n" + body
