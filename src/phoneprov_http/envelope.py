"""The form of every response: the envelope, its messages, and lists of any length."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from litestar import Response
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import Receive, Scope, Send
from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.errors import Problem
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.store import Listing

T = TypeVar("T")

encode = msgspec.json.Encoder().encode

Nothing = Annotated[None, schema(description="Always null")]
Message = Annotated[str, schema(description="A text for people")]
# Not ``Literal``: client generators make nothing, or a text, of a boolean with one value.
Success = Annotated[bool, schema(description="Always true", examples=[True])]
RequestId = Annotated[
    str,
    schema(
        description="The identifier of the request, as it is logged",
        pattern="^[A-Za-z0-9._-]{1,64}$",
        examples=["9b2f0c7d1e5a4d2f8c1b6a7e3f409d55"],
    ),
]


class NoMetadata(Struct, frozen=True):
    """An empty object."""


class ListMetadata(Struct, frozen=True):
    """The page of a list. Empty, unless `limit` or `offset` was sent."""

    total: (
        Annotated[
            int, schema(description="Number of rows of the whole list", minimum=0, examples=[240])
        ]
        | UnsetType
    ) = UNSET
    limit: (
        Annotated[
            int, schema(description="Maximum number of rows of the page", minimum=1, examples=[100])
        ]
        | UnsetType
    ) = UNSET
    offset: Annotated[int, schema(description="Number of rows skipped", minimum=0)] | UnsetType = (
        UNSET
    )


class Envelope(Struct, Generic[T]):
    """A response with one record."""

    success: Success
    message: Message
    data: T
    metadata: NoMetadata


class Listed(Struct, Generic[T]):
    """A response with a list."""

    success: Success
    message: Message
    data: Annotated[list[T], schema(description="The rows")]
    metadata: ListMetadata


class Done(Struct):
    """A response without data."""

    success: Success
    message: Message
    data: Nothing
    metadata: NoMetadata


class ProfileEnvelope(Struct, Generic[T]):
    """A response about phone profiles with one record. It has no metadata."""

    success: Success
    message: Message
    data: T


class ProfileList(Struct, Generic[T]):
    """A response about phone profiles with a list. It has no metadata."""

    success: Success
    message: Message
    data: Annotated[list[T], schema(description="The rows")]


class ProfileDone(Struct):
    """A response about phone profiles without data. It has no metadata."""

    success: Success
    message: Message
    data: Nothing


class ErrorInfo(Struct):
    """The failure, for programs."""

    code: Annotated[str, schema(description="A stable code", examples=["not_found"])]
    details: Annotated[tuple[Problem, ...], schema(description="Every invalid field")]
    request_id: RequestId


class Failure(Struct):
    """The response of a failed request."""

    success: Annotated[bool, schema(description="Always false", examples=[False])]
    message: Message
    data: Nothing
    error: ErrorInfo


_NO_METADATA = NoMetadata()
_WHOLE_LIST = ListMetadata()


def done(message: str) -> Done:
    """A success without data."""
    return Done(True, message, None, _NO_METADATA)


def record(message: str, data: T) -> Envelope[T]:
    """A success with one record."""
    return Envelope(True, message, data, _NO_METADATA)


def profile_done(message: str) -> ProfileDone:
    """A success of the phone profiles without data."""
    return ProfileDone(True, message, None)


def profile_record(message: str, data: T) -> ProfileEnvelope[T]:
    """A success of the phone profiles with one record."""
    return ProfileEnvelope(True, message, data)


def listed(listing: Listing[T], one: str, outcome: str = "found") -> Listed[T]:
    """A list. The message counts the rows that are sent: ``2 phone(s) found``."""
    window, metadata = listing.window, _WHOLE_LIST
    if window is not None:
        metadata = ListMetadata(listing.total or 0, window.limit, window.offset)
    message = f"{one}(s) {outcome}"
    if listing.complete:
        return Listed(True, f"{len(listing.first)} {message}", listing.first, metadata)
    return _LongList(True, message, listing.first, metadata, listing)


def profile_list(listing: Listing[T], one: str) -> ProfileList[T]:
    """A list of the phone profiles. See :func:`listed`."""
    message = f"{one}(s) found"
    if listing.complete:
        return ProfileList(True, f"{len(listing.first)} {message}", listing.first)
    return _LongProfileList(True, message, listing.first, listing)


class _LongList(Listed[T]):
    rows: Listing[T]


class _LongProfileList(ProfileList[T]):
    rows: Listing[T]


async def _streamed(envelope: _LongList[T] | _LongProfileList[T]) -> AsyncIterator[bytes]:
    """A long list as it is read. The message, with the count, follows the rows."""
    count = 0
    async for piece in envelope.rows:
        yield (b"," if count else b'{"success":true,"data":[') + encode(piece)[1:-1]
        count += len(piece)
    tail: dict[str, Any] = {"message": f"{count} {envelope.message}"}
    if isinstance(envelope, _LongList):
        tail["metadata"] = envelope.metadata
    yield b"]," + encode(tail)[1:]


class EnvelopeResponse(Response[Any]):
    """Encodes what a handler returns. The framework's own response prepares for cookies,
    encodings and background tasks, which takes longer than to encode a record."""

    def __init__(
        self,
        content: Any,
        *,
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
        **_: Any,
    ) -> None:
        self.content = content
        self._status = status_code
        self._more = headers

    def to_asgi_response(self, *_: Any, **__: Any) -> ASGIResponse:
        if isinstance(self.content, _LongList | _LongProfileList):
            return ASGIStreamingResponse(
                iterator=_streamed(self.content),
                media_type="application/json",
                headers=None,
                status_code=self._status,
            )
        return _JsonReply(encode(self.content), self._status, self._more)


class _JsonReply(ASGIResponse):
    __slots__ = ("_content", "_more", "_status")

    def __init__(self, content: bytes, status: int, more: Mapping[str, str] | None) -> None:
        self._content = content
        self._status = status
        self._more = more

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(self._content)),
        ]
        if self._more:
            headers += [(name.encode(), value.encode()) for name, value in self._more.items()]
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": self._content, "more_body": False})
