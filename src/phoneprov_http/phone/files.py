"""Files for phones over HTTP: a small ASGI application of its own, on a port of its own.

Phones of this family ask ``http://<server>:6970/<name>``. Their web clients read plain bodies and
status codes, so a failure is an empty body and not the envelope of the API.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from phoneprov_core.features.serving.model import FetchResult, Transport
from phoneprov_core.features.serving.use_cases import Ended, FileRequest, Provided, ProvideFile
from phoneprov_core.kernel.errors import Unavailable, retrieved
from phoneprov_http.errors import begin, end

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
