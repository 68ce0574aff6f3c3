"""uvicorn's HTTP protocol with the bounds it lacks.

uvicorn waits for ever for the rest of a request, and takes header fields without end. Here a
request must have arrived whole within ``ARRIVAL_SECONDS``, its line and header fields within
``LARGEST_HEAD`` bytes, and what is no HTTP at all is answered in the envelope like
everything else.

Told to stop, uvicorn closes a connection that is between two requests at once, also when the
next is on its way. Here it stays open for ``SILENCE_SECONDS``, and whatever comes is answered.
"""

from __future__ import annotations

import asyncio
import uuid

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from phoneprov_http.main.listener import readable
from phoneprov_http.replies import ErrorEnvelope, ErrorInfo

ARRIVAL_SECONDS = 20.0
LARGEST_HEAD = 64 * 1024
SILENCE_SECONDS = 1.0


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    _arrival: asyncio.TimerHandle | None = None
    _head_size = 0
    _in_head = True
    _has_begun = False
    _silent_until: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_arrival()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head_size += len(data)
            if self._head_size > LARGEST_HEAD + len(data):
                self.send_400_response("The header fields are too large.")
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        self._in_head, self._head_size = True, 0
        self._has_begun = True
        self._await_arrival()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()
        if self._silent_until is not None:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self._arrived()
        self._has_begun = False
        super().on_message_complete()

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
            self.transport.close()

    def _has_more(self) -> bool:
        """Whether something came in that nobody has looked at."""
        fd: int = self.transport.get_extra_info("socket").fileno()
        return fd >= 0 and readable(fd)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request in the form of every other failure."""
        request_id = uuid.uuid4().hex
        error = ErrorInfo("malformed", (), request_id)
        body = msgspec.json.encode(ErrorEnvelope(False, msg, None, error))
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            f"x-request-id: {request_id}\r\ncontent-length: {len(body)}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _await_arrival(self) -> None:
        self._arrived()
        self._arrival = self.loop.call_later(ARRIVAL_SECONDS, self.transport.close)

    def _arrived(self) -> None:
        if self._arrival is not None:
            self._arrival.cancel()
            self._arrival = None
