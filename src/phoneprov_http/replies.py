"""Replies: the envelope, its messages, and long lists that are sent as they are read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeVar

import msgspec
from litestar import Response
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import Receive, Scope, Send
from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.errors import Problem
from phoneprov_core.kernel.store import Listing

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_NO_METADATA: Mapping[str, Any] = {}


class Envelope(Struct):
    """The form of every reply; the phone-profile group leaves ``metadata`` out."""

    success: bool
    message: str
    data: Any
    metadata: Any = UNSET


class ErrorInfo(Struct):
    """What a program needs to know of a failure."""

    code: str
    details: tuple[Problem, ...]
    request_id: str


class ErrorEnvelope(Struct):
    """The form of every failure."""

    success: bool
    message: str
    data: None
    error: ErrorInfo


def done(
    message: str, data: object = None, *, status: int = 200, metadata: bool = True
) -> ASGIResponse:
    """A success with one record, or none."""
    attached = _NO_METADATA if metadata else UNSET
    return _json(_encode(Envelope(True, message, data, attached)), status)


def created(message: str, data: object, *, metadata: bool = True) -> ASGIResponse:
    """A success that made a record."""
    return done(message, data, status=201, metadata=metadata)


def _as_it_is(record: object) -> object:
    return record


async def listed(
    listing: Listing[T],
    one: str,
    outcome: str = "found",
    *,
    view: Callable[[T], object] = _as_it_is,
    metadata: bool = True,
) -> ASGIResponse:
    """A list. Its message counts the rows that are really there: ``2 phone(s) found``.

    A short list is sent in one piece. A long one is sent as it is read; the count, known
    only then, follows the rows. ``view`` answers what is shown of a record.
    """
    attached: Any = UNSET
    if metadata:
        attached = _NO_METADATA
        if listing.window is not None:
            attached = {
                "total": listing.total,
                "limit": listing.window.limit,
                "offset": listing.window.offset,
            }
    if listing.complete:
        message = f"{len(listing.first)} {one}(s) {outcome}"
        rows: Any = listing.first
        if view is not _as_it_is:
            rows = [view(record) for record in rows]
        return _json(_encode(Envelope(True, message, rows, attached)), 200)
    return ASGIStreamingResponse(
        iterator=_streamed(listing, view, f"{one}(s) {outcome}", attached),
        media_type="application/json",
        headers=None,
        status_code=200,
    )


async def _streamed(
    listing: Listing[T], view: Callable[[T], object], told: str, metadata: Any | UnsetType
) -> AsyncIterator[bytes]:
    count = 0
    async for piece in listing:
        rows = _encode(piece if view is _as_it_is else [view(record) for record in piece])[1:-1]
        yield (b"," if count else b'{"success":true,"data":[') + rows
        count += len(piece)
    tail: dict[str, Any] = {"message": f"{count} {told}"}
    if metadata is not UNSET:
        tail["metadata"] = metadata
    yield b"]," + _encode(tail)[1:]


def failed(
    status: int,
    message: str,
    *,
    code: str,
    request_id: str,
    problems: tuple[Problem, ...] = (),
    headers: dict[str, str] | None = None,
) -> Response[bytes]:
    """A failure."""
    error = ErrorInfo(code, problems, request_id)
    return Response(
        _encode(ErrorEnvelope(False, message, None, error)),
        status_code=status,
        media_type="application/json",
        headers=headers,
    )


class _JsonReply(ASGIResponse):
    """A whole reply. The framework's own prepares for cookies, encodings and background tasks,
    which takes longer than to encode a record."""

    __slots__ = ("_body", "_status")

    def __init__(self, body: bytes, status: int) -> None:
        self._body = body
        self._status = status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(self._body)),
        ]
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": self._body, "more_body": False})


def _json(body: bytes, status: int) -> ASGIResponse:
    return _JsonReply(body, status)
