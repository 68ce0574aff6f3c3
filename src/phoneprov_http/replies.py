"""Replies: the envelope, its messages, and long lists that are sent as they are read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, TypeVar

import msgspec
from litestar import Response
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
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
        rows = [view(record) for record in listing.first]
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
    yield b'{"success":true,"data":['
    async for piece in listing:
        rows = _encode([view(record) for record in piece])[1:-1]
        yield b"," + rows if count else rows
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


def _json(body: bytes, status: int) -> ASGIResponse:
    return ASGIResponse(body=body, status_code=status, media_type="application/json")
