"""The two ASGI applications for phones, whose web clients read plain bodies and status codes.

Files are on a port of their own: phones of this family ask ``http://<server>:6970/<name>``. A
failure is an empty body and not the envelope of the API. Of the pages, ``/phone``, every reply has
the status 200, and every failure is a text on the phone's screen.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from litestar.types import Receive, Send

from phoneprov_core.features.desks.access import NotServed
from phoneprov_core.features.desks.adoption import NewPhone
from phoneprov_core.features.desks.pages import CHARSETS, render
from phoneprov_core.features.desks.pins import wrong_pin
from phoneprov_core.features.desks.use_cases import PhoneServices
from phoneprov_core.features.serving.model import FetchResult, Transport
from phoneprov_core.features.serving.use_cases import Ended, FileRequest, Provided, ProvideFile
from phoneprov_core.kernel.errors import NotFound, PhoneprovError, Unavailable, retrieved
from phoneprov_core.switching.devices.names import mac_of_device
from phoneprov_http.errors import begin, body_of, end, log_request
from phoneprov_http.front import PHONE_PAGES
from phoneprov_http.phone.language import Languages
from phoneprov_http.phone.pages import POSTED, Pages
from phoneprov_http.phone.request import CHANGING, LARGEST, PhoneRequest, Reply, failure

PIECE = 64 * 1024
SECONDS = 300.0
"""Maximum duration of one transfer."""

_STATUS = {
    FetchResult.SERVED: 200,
    FetchResult.NOT_FOUND: 404,
    FetchResult.REFUSED: 403,
}
_MODEL_HEADER = b"x-ciscoipphonemodelname"


class PhoneFiles:
    """GET and HEAD for the files of ``ProvideFile``; 405 for every other method."""

    def __init__(self, provide: ProvideFile, record: Callable[[Ended], None]) -> None:
        self._provide = provide
        self._record = record

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if scope["method"] not in {"GET", "HEAD"}:
            await begin(send, 405, 0, [(b"allow", b"GET, HEAD")])
            await end(send)
            return
        request = FileRequest(
            Transport.HTTP,
            scope["path"],
            scope["client"][0],
            _model(scope["headers"]),
        )
        started = time.monotonic()
        try:
            provided = await self._provide.open(request)
        except Unavailable:
            await begin(send, 503, 0, [(b"retry-after", b"5")])
            await end(send)
            return
        size, is_complete = 0, False
        try:
            async with asyncio.timeout(SECONDS):
                size, is_complete = await _answer(provided, scope, receive, send)
        except TimeoutError:
            pass
        finally:
            if provided.file is not None:
                provided.file.close()
            if scope["method"] == "GET":
                ended = self._provide.ended(
                    provided,
                    is_complete=is_complete,
                    size=size,
                    duration_ms=round((time.monotonic() - started) * 1000),
                )
                self._record(ended)


async def _answer(provided: Provided, scope: Any, receive: Any, send: Any) -> tuple[int, bool]:
    """Send the reply; the number of bytes sent, and whether the client took them all. The server
    knows that (``serving/delivery.py``); others report only that the client disconnected."""
    content = provided.content
    length = len(content) if content is not None else provided.file.size if provided.file else 0
    headers = [(b"content-type", b"application/octet-stream")] if length else []
    await begin(send, _STATUS[provided.result], length, headers)
    if not length or scope["method"] == "HEAD":
        await end(send)
        return 0, True
    sent = 0
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        async for piece in _pieces(provided):
            if gone.done():
                return sent, False
            sent += len(piece)
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        delivery = (scope.get("extensions") or {}).get("phoneprov.delivered")
        has_all = not gone.done() and (delivery is None or await delivery["complete"]())
        await end(send)
        return sent, has_all
    finally:
        gone.cancel()
        retrieved(gone)


async def _pieces(provided: Provided) -> AsyncIterator[bytes]:
    if provided.content is not None:
        for start in range(0, len(provided.content), PIECE):
            yield provided.content[start : start + PIECE]
        return
    file = provided.file
    assert file is not None
    offset = 0
    while offset < file.size:
        piece = file.loaded(offset, min(PIECE, file.size - offset))
        if piece is None:
            await file.load(offset)
            continue
        yield piece
        offset += len(piece)


async def _disconnected(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _model(headers: list[tuple[bytes, bytes]]) -> str | None:
    """The model that the phone names in a header, at most 64 printable characters."""
    for name, value in headers:
        if name == _MODEL_HEADER:
            text = value.decode("latin-1")[:64]
            return text if text.isprintable() and text else None
    return None


log = logging.getLogger("phoneprov.phone")

_LONG_AGO = b"Fri, 02 Jan 1970 00:00:00 GMT"


class PhonePages:
    """The ASGI application of the paths below ``/phone/``, inside the front.

    These replies carry few of the other headers, the reply of ``authentication`` none: the
    69xx cannot read ``AUTHORIZED`` beside security headers. The log never holds a query: PINs and
    passwords travel in it.
    """

    def __init__(
        self, services: PhoneServices, *, base: str = "", languages: Languages | None = None
    ) -> None:
        self._services = services
        self._languages = languages or Languages()
        pages = Pages(services)
        self._handlers, self._new_handlers = pages.handlers, pages.new_handlers
        self._base = base

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        path = scope["path"].removeprefix(PHONE_PAGES)
        if path in self._new_handlers and not self._services.adopt.is_on:
            path = path if path in self._handlers else "-"
        has_body = path in POSTED and scope["method"] == "POST"
        body = await body_of(receive, LARGEST) if has_body else None
        request = PhoneRequest(scope, body or b"", self._base, self._languages)
        result = "ok"
        try:
            if path == "authentication":
                result = await self._authenticate(request, send)
            else:
                result = await self._show(path, request, send)
        finally:
            is_known = path in self._handlers or path in self._new_handlers
            log_request(
                log,
                "phone request",
                began,
                method=scope["method"],
                route=f"{PHONE_PAGES}{path if is_known else '-'}",
                phone=mac_of_device(request.device) or None,
                client_ip=request.ip,
                result=result,
            )

    async def _authenticate(self, request: PhoneRequest, send: Send) -> str:
        try:
            is_right = request.method == "GET" and await self._services.credentials(
                request["UserID"], request["Password"], request.ip
            )
        except PhoneprovError:
            is_right = False
        word = b"AUTHORIZED" if is_right else b"UNAUTHORIZED"
        await begin(send, 200, len(word), [(b"content-type", b"text/plain")])
        await end(send, word)
        return "ok" if is_right else "unauthorized"

    async def _show(self, path: str, request: PhoneRequest, send: Send) -> str:
        result = "ok"
        try:
            reply = await self._reply(path, request)
        except PhoneprovError as error:
            result = error.code
            reply = failure(request, path, error)
        except Exception as error:
            result = "internal_error"
            # The traceback holds no values.
            log.exception("unexpected %s", type(error).__name__)
            unknown = Unavailable("An internal error occurred. Try again later.")
            reply = failure(request, path, unknown)
        try:
            body = render(reply.page, request.charset)
            headers = _headers(reply, request)
            if result == NotAllowed.code:
                headers.append((b"allow", ", ".join(_methods(path)).encode()))
            await begin(send, 200, len(body), headers)
            await end(send, b"" if request.method == "HEAD" else body)
        finally:
            if reply.changed is not None:
                reply.changed.answered()
        return result

    async def _reply(self, path: str, request: PhoneRequest) -> Reply:
        if request.method not in _methods(path):
            raise NotAllowed
        handler, new_handler = self._handlers.get(path), self._new_handlers.get(path)
        try:
            at = await self._services.identify(request.device, request.ip)
            if at.user is not None:
                request.speak_to(at.user)
            if handler is not None:
                return await handler(request, at)
            if new_handler is None:
                raise NotFound(
                    "There is no such page. Press Services and begin again.", code="no_page"
                )
        except NotServed:
            if new_handler is None:
                raise
            new = await self._new_phone(request)
            if new is not None:
                return await new_handler(request, new)
            if handler is not None:
                raise
        # The form of another phone than the pages ask: the same text as for a wrong PIN.
        raise wrong_pin()

    async def _new_phone(self, request: PhoneRequest) -> NewPhone | None:
        return await self._services.adopt.identify(request.device, request.ip, request.model)


class NotAllowed(PhoneprovError):
    """The page does not take this method."""

    code = "method_not_allowed"
    usual = "This page was opened the wrong way. Press Services and begin again."


def _methods(path: str) -> tuple[str, ...]:
    # HEAD is answered like GET, which must be without effect then.
    if path in CHANGING:
        return ("GET", "POST") if path in POSTED else ("GET",)
    return ("GET", "HEAD")


def _headers(reply: Reply, request: PhoneRequest) -> list[tuple[bytes, bytes]]:
    charset = CHARSETS[request.charset]
    headers = [
        (b"content-type", f"text/xml; charset={charset}".encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    if reply.next_url is not None:
        headers.append((b"refresh", f"0; url={reply.next_url}".encode()))
    if reply.fleeting:
        headers.append((b"expires", _LONG_AGO))
    return headers
