"""uvicorn's HTTP protocol with the bounds that it lacks.

uvicorn waits indefinitely for the rest of a request, for the next request after a stray line end
and for a client to read its reply. It queues fields and requests without limit, takes trailers
for fields of the request, and leaves out the body of a request that asks for an upgrade, so
that the body is parsed as the next request. Here

- a request arrives whole within ``ARRIVAL_SECONDS``, its line and fields are bounded, and it
  names one host (see ``bounds.py``);
- trailers are ignored;
- ``Upgrade`` is ignored, as RFC 9110 section 7.8 allows;
- at most ``MOST_WAITING`` requests are queued after the request that is being answered;
- a client that does not read is cut off (see ``bounds.py``);
- connections are bounded (see ``bounds.py``);
- malformed requests are answered in the envelope like every failure, and logged, but never
  within another reply.

When it is stopped, uvicorn closes a connection between two requests at once, even if the next
request is on its way. Here it stays open for ``SILENCE_SECONDS``, and what arrives is answered.
"""

import contextlib
import logging
import os
from asyncio import AbstractEventLoop, TimerHandle, Transport
from typing import Any

import httptools
from uvicorn import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from phoneprov_http.main.server.bounds import (
    EXTENSION,
    LARGEST_HEAD,
    NO_HTTP,
    TOO_LARGE,
    Connections,
    Delivery,
    ParserFault,
    ReaderWatch,
    RequestHead,
)
from phoneprov_http.main.server.sockets import failure, readable

ARRIVAL_SECONDS = 20.0
MOST_WAITING = 16
SILENCE_SECONDS = 1.0
BUSY_SECONDS = 5

_BUSY = "The server has too many open connections. Try again later."

log = logging.getLogger("phoneprov.connections")


class BoundedProtocol(HttpToolsProtocol):
    """One connection. ``bounds`` are shared by all connections of the process."""

    _arrival: TimerHandle | None = None
    _reader: ReaderWatch
    _answering: RequestResponseCycle | None = None
    _refused = False
    _upgrading = b""
    """The request line of a request for an upgrade, until it is parsed as one without."""
    _idle_size = 0
    _has_begun = False
    _silent_until: float | None = None
    _delivery: Delivery | None = None

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: AbstractEventLoop | None = None,
        *,
        bounds: Connections,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.app = self._answered
        self._bounds = bounds
        self._head = RequestHead()

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._reader = ReaderWatch(self.loop, transport)
        if not self._bounds.admit(self, self.client[0] if self.client else None):
            self._refuse_busy()
            return
        self._await_arrival()

    def connection_lost(self, exc: Exception | None) -> None:
        self._bounds.leave(self)
        self._arrived()
        self._reader.stop()
        if self._delivery is not None:
            self._delivery.lost()
        super().connection_lost(exc)

    def eof_received(self) -> bool | None:  # type: ignore[override]
        """Keep the connection until it is known whether it is reset."""
        if self._delivery is not None:
            self._delivery.closed()
        return self._delivery is not None

    def abort(self) -> None:
        """Close the connection now, in favour of another one."""
        self._refused = True
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        if self._delivery is not None:
            self._delivery.asked()
        # The parser keeps an unfinished field, at any position, and copies it each time.
        self._idle_size += len(data)
        if self._idle_size > LARGEST_HEAD + len(data):
            self.send_400_response(TOO_LARGE)
            return
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        try:
            self._feed(data)
        except httptools.HttpParserError as error:
            # The parser turns an exception of a callback into one of its own.
            fault = error.__context__
            self.send_400_response(str(fault) if isinstance(fault, ParserFault) else NO_HTTP)
            return
        if self._arrival is None and not self._is_answering() and not self.transport.is_closing():
            self._await_arrival()

    def _feed(self, data: bytes) -> None:
        """Parse, with each request for an upgrade parsed again as one without."""
        while True:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                rest = data[upgrade.args[0] :]
            else:
                return
            # The parser ended the request after its head, even if it announces a body.
            head, self._upgrading = self._head_without_upgrade(), b""
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            self.parser.feed_data(head)
            data = rest

    def _head_without_upgrade(self) -> bytes:
        fields = [b"%s: %s" % field for field in self.headers if field[0] != b"upgrade"]
        return b"\r\n".join([self._upgrading, *fields, b"", b""])

    def on_message_begin(self) -> None:
        self._head.begin()
        self._idle_size = 0
        self._has_begun = True
        self._await_arrival()
        super().on_message_begin()
        self.scope["extensions"] = {EXTENSION: {"complete": self._delivered}}
        if len(self.pipeline) >= MOST_WAITING:
            raise ParserFault("Too many requests wait on this connection.")

    def on_url(self, url: bytes) -> None:
        self._head.line(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head.is_open:
            self._head.field(name, value)
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        version = self.parser.get_http_version()
        self._head.complete(version, self.headers)
        if self.parser.should_upgrade():
            method = self.parser.get_method()
            if method == b"CONNECT":
                raise ParserFault(NO_HTTP)
            self._upgrading = b"%s %s HTTP/%s" % (method, self.url, version.encode())
            return
        super().on_headers_complete()
        if not self.pipeline:
            self._answering = self.cycle
        if self._silent_until is not None:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        self._idle_size = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self._upgrading:
            return
        self._idle_size = 0
        self._arrived()
        self._has_begun = False
        if self._is_answering():
            self._bounds.work(self)
        super().on_message_complete()
        # The parser took a trailer ``Connection: close`` for a field, and passes over what follows.
        if self.cycle.keep_alive and not self.parser.should_keep_alive():
            self.cycle.keep_alive = False
            if self.cycle.response_complete:
                self._close()

    def on_response_complete(self) -> None:
        following = self.pipeline[-1][0] if self.pipeline else None
        super().on_response_complete()
        if following is not None and not self.transport.is_closing():
            self._answering = following
        self._watch_if_closing()
        if not self._is_answering():
            self._bounds.wait(self)

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
        """Answer what has begun to arrive, then close. Called repeatedly until it is closed."""
        now = self.loop.time()
        if self._silent_until is None:
            self._silent_until = now + SILENCE_SECONDS
        cycle: RequestResponseCycle | None = self.cycle
        if self._delivery is not None:
            self._delivery.asked()
        if cycle is not None and not cycle.response_complete:
            # A reply that has begun has announced a kept connection: one more may follow it.
            cycle.keep_alive &= cycle.response_started
        elif not self._has_begun and now >= self._silent_until and not self._has_more():
            self._close()

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request in the envelope, and close.

        While an earlier request is being answered nothing may come in between: then the
        connection is closed after that reply.
        """
        self._refused = True
        self._arrived()
        client = self.client[0] if self.client else None
        log.info("malformed request", extra={"fields": {"client_ip": client, "reason": msg}})
        answering = self._answering
        if answering is not None and self._is_answering() and not answering.more_body:
            self._close_after(answering)
            return
        if answering is None or answering.response_complete or not answering.response_started:
            self.transport.write(failure(b"400 Bad Request", "malformed", msg))
        self._close()

    async def _delivered(self) -> bool:
        """Whether the client has the response that is being answered."""
        assert self._answering is not None
        self._bounds.wait(self)
        self._delivery = Delivery(self.transport, closes=not self._answering.keep_alive)
        try:
            return await self._delivery.complete()
        finally:
            has_closed, self._delivery = self._delivery.has_closed, None
            if has_closed:
                self._answering.keep_alive = False

    def _refuse_busy(self) -> None:
        """Answer 503 and close, all at once: the open file is needed for others."""
        self._refused = True
        retry = (b"retry-after", b"%d" % BUSY_SECONDS)
        reply = failure(b"503 Service Unavailable", "unavailable", _BUSY, retry)
        with contextlib.suppress(OSError):  # the client has disconnected
            os.write(self.transport.get_extra_info("socket").fileno(), reply)
        self.transport.abort()

    async def _answered(self, scope: Any, receive: Any, send: Any) -> None:
        """The application. uvicorn closes the connection of a failed response without a call."""
        try:
            await self.config.loaded_app(scope, receive, send)
        except BaseException:
            self.loop.call_soon(self._watch_if_closing)
            raise

    def _is_answering(self) -> bool:
        return self._answering is not None and not self._answering.response_complete

    def _close_after(self, cycle: RequestResponseCycle) -> None:
        """Accept nothing more, and close when this request is answered."""
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

    def _has_more(self) -> bool:
        """Whether something arrived that was not read yet."""
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
            self._close_after(self._answering)
        else:
            self._close()
