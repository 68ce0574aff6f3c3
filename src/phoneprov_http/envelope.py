"""The form of every response: its headers, the envelope, its messages, and lists of any length."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from typing import Annotated, Any, Generic, TypeAlias, TypeVar, cast

import msgspec
from litestar import Response
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from msgspec import UNSET, Struct, UnsetType

from phoneprov_core.kernel.errors import Problem, Unavailable
from phoneprov_core.kernel.fields import schema
from phoneprov_core.kernel.ports import Limit, Listing, Offset

T = TypeVar("T")

HEADERS: tuple[tuple[bytes, bytes], ...] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""The headers of every response that does not set them itself."""

encode = msgspec.json.Encoder().encode

Message = Annotated[str, schema("A text for people")]
# Not ``Literal``: client generators make nothing, or a text, of a boolean with one value.
Success = Annotated[bool, schema("Always true", examples=[True])]
RequestId = Annotated[
    str,
    schema(
        "The identifier of the request, as it is logged",
        pattern="^[A-Za-z0-9._-]{1,64}$",
        examples=["9b2f0c7d1e5a4d2f8c1b6a7e3f409d55"],
    ),
]
Total = Annotated[int, schema("Number of rows of the whole list", minimum=0)]


class NoMetadata(Struct, frozen=True):
    """An empty object."""


class ListMetadata(Struct, frozen=True):
    """The page of a list. Empty, unless `limit` or `offset` was sent."""

    total: Total | UnsetType = UNSET
    limit: Limit | UnsetType = UNSET
    offset: Offset | UnsetType = UNSET


class Bare(Struct, Generic[T]):
    """A response about phone profiles. It has no metadata."""

    success: Success
    message: Message
    data: T


class Envelope(Bare[T], Generic[T]):
    """A response with one record."""

    metadata: NoMetadata


class PhonesMetadata(Struct, frozen=True):
    """Phones that a change concerns. Empty without one."""

    phones: (
        Annotated[list[str], schema("MAC addresses of the phones that show it after a restart")]
        | UnsetType
    ) = UNSET


class Shown(Bare[T], Generic[T]):
    """A response with the phones that show a change after their next restart."""

    metadata: PhonesMetadata


class BareList(Bare[list[T]], Generic[T]):
    """A response about phone profiles with a list. It has no metadata."""

    data: Annotated[list[T], schema("The rows")]


class Listed(Bare[list[T]], Generic[T]):
    """A response with a list."""

    data: Annotated[list[T], schema("The rows")]
    metadata: ListMetadata


Done: TypeAlias = Envelope[None]
"""A response without data."""


class ErrorInfo(Struct):
    """The failure, for programs."""

    code: Annotated[str, schema("A stable code", examples=["not_found"])]
    details: Annotated[tuple[Problem, ...], schema("Every invalid field")]
    request_id: RequestId


class Failure(Struct):
    """The response of a failed request."""

    success: Annotated[bool, schema("Always false", examples=[False])]
    message: Message
    data: None
    error: ErrorInfo


_NO_METADATA = NoMetadata()
_WHOLE_LIST = ListMetadata()


def record(message: str, data: T) -> Envelope[T]:
    """A success with one record."""
    return Envelope(True, message, data, _NO_METADATA)


def done(message: str) -> Done:
    """A success without data."""
    return Envelope(True, message, None, _NO_METADATA)


async def read_after(phones: Awaitable[list[str]] | None) -> list[str]:
    """The phones that a stored change concerns; none if the database is away by now: the change is
    stored all the same, and an error would say that it is not."""
    with suppress(Unavailable):
        return [] if phones is None else await phones
    return []


def shown_on(phones: list[str], message: str, data: T) -> Shown[T]:
    """A success that these phones show after their next restart."""
    return Shown(True, message, data, PhonesMetadata(phones) if phones else PhonesMetadata())


def listed(listing: Listing[T], one: str, outcome: str = "found") -> Listed[T]:
    """A list. The message counts the rows that are sent: ``2 phone(s) found``."""
    window, metadata = listing.window, _WHOLE_LIST
    if window is not None:
        metadata = ListMetadata(listing.total or 0, window.limit, window.offset)
    return Listed(True, *_counted(listing, f"{one}(s) {outcome}"), metadata)


def bare_list(listing: Listing[T], one: str) -> BareList[T]:
    """A list of the phone profiles. See :func:`listed`."""
    return BareList(True, *_counted(listing, f"{one}(s) found"))


def _counted(listing: Listing[T], message: str) -> tuple[str, list[T]]:
    if listing.complete:
        return f"{len(listing.first)} {message}", listing.first
    # The rows are counted, and their message is completed, while they are sent.
    return message, cast("list[T]", listing)


async def _streamed(envelope: Bare[Any]) -> AsyncIterator[bytes]:
    """A long list as it is read. The message, with the count, follows the rows."""
    count = 0
    async for piece in envelope.data:
        yield (b"," if count else b'{"success":true,"data":[') + encode(piece)[1:-1]
        count += len(piece)
    tail: dict[str, Any] = {"message": f"{count} {envelope.message}"}
    if isinstance(envelope, Listed):
        tail["metadata"] = envelope.metadata
    yield b"]," + encode(tail)[1:]


CSV = "text/csv"
ROWS = "rows"
"""The key of a handler's ``opt`` for the kind of records that it lists."""


class EnvelopeResponse(Response[Any]):
    """The response to a request. A long list is sent as it is read, as CSV to who asks for it."""

    def to_asgi_response(self, app: Any, request: Any, **more: Any) -> ASGIResponse:
        kind = request.route_handler.opt.get(ROWS) if isinstance(self.content, Bare) else None
        if kind is not None and request.wants_table:
            rows = self.content.data
            listing = rows if isinstance(rows, Listing) else Listing(rows)
            name = request.url.path.rpartition("/")[2]
            return ASGIStreamingResponse(
                iterator=request.app.state.list_as_table(kind, listing),
                media_type=CSV,  # with its charset
                headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
            )
        if isinstance(self.content, Bare) and isinstance(self.content.data, Listing):
            return ASGIStreamingResponse(
                iterator=_streamed(self.content), media_type="application/json", headers=None
            )
        return super().to_asgi_response(app, request, **more)


def failure(
    status: int, message: str, error: ErrorInfo, headers: dict[str, str] | None = None
) -> EnvelopeResponse:
    """The response of a failure."""
    content = Failure(False, message, None, error)
    return EnvelopeResponse(content, status_code=status, headers=headers)
