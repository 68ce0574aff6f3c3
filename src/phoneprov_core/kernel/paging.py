"""Pages of lists, and reading of long lists in pieces."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Generic, TypeAlias, TypeVar

from phoneprov_core.kernel.commands import QueryCommand, wrong
from phoneprov_core.kernel.fields import Uuid, schema, within
from phoneprov_core.kernel.ports import Rows

E = TypeVar("E")
T = TypeVar("T")
S = TypeVar("S")

Limit = Annotated[int, within(1, 1000, "Maximum number of rows; 1000 if only `offset` is sent")]

Offset = Annotated[int, within(0, 2**63 - 1, "Number of rows to skip")]

Before = Annotated[
    Uuid,
    schema(
        "Newest first, after the record with this UUID, without a total. Not allowed with "
        "`offset`; ffffffff-ffff-ffff-ffff-ffffffffffff begins with the newest"
    ),
]

After = Annotated[Uuid, schema("Newest first, after the row with this UUID")]


class Window(QueryCommand, frozen=True):
    """A page of a list: at most ``limit`` records (1 to 1000) after the first ``offset``."""

    limit: Limit = 1000
    offset: Offset = 0


class FromNewest(QueryCommand, frozen=True):
    """A page by key: the records before the one with the uuid ``before``, newest first."""

    before: Before | None = None


class Newest(QueryCommand, frozen=True):
    """At most ``limit`` records, newest first, after the one with the uuid ``before``."""

    limit: Limit = 1000
    before: After | None = None


Page: TypeAlias = Window | None
"""The requested page of a list; None is the whole list."""

NEWEST = "ffffffff-ffff-ffff-ffff-ffffffffffff"
"""The largest UUID (RFC 9562, section 5.10): a page before it begins with the newest."""


def limit_by_key(page: Page, key: str) -> int:
    """The limit of a page that begins at ``key``. Raises ``Invalid`` if it has an offset."""
    window = page or Window()
    if window.offset:
        raise wrong("offset", f"is not allowed together with {key}")
    return window.limit


@dataclass(eq=False, repr=False)
class Listing(Generic[T]):
    """A list, oldest first, read in pieces so that memory does not grow with its length. ``first``
    is the first piece; ``async for piece in listing`` yields all pieces, the first included, and
    may be repeated. ``window`` and ``total`` are set for a page."""

    first: list[T]
    rest: Callable[[], AsyncIterator[list[T]]] | None = None
    _: KW_ONLY
    window: Window | None = None
    total: int | None = None

    @property
    def complete(self) -> bool:
        """Whether ``first`` is the whole list."""
        return self.rest is None

    async def __aiter__(self) -> AsyncIterator[list[T]]:
        if self.first:
            yield self.first
        if self.rest is not None:
            async for piece in self.rest():
                yield piece

    async def everything(self) -> list[T]:
        """The whole list at once, for lists that are known to be short."""
        return [entity async for piece in self for entity in piece]

    def mapped(self, view: Callable[[T], S]) -> "Listing[S]":
        """The same list with ``view`` applied to each entity."""
        rest = self.rest

        async def mapped_rest() -> AsyncIterator[list[S]]:
            assert rest is not None
            async for piece in rest():
                yield [view(entity) for entity in piece]

        first = [view(entity) for entity in self.first]
        return Listing(
            first, None if rest is None else mapped_rest, window=self.window, total=self.total
        )

    async def joined(self, view: Callable[[list[T]], Awaitable[list[S]]]) -> "Listing[S]":
        """The same list with ``view`` applied to each piece, which it may read more for."""
        rest = self.rest

        async def joined_rest() -> AsyncIterator[list[S]]:
            assert rest is not None
            async for piece in rest():
                yield await view(piece)

        first = await view(self.first)
        return Listing(
            first, None if rest is None else joined_rest, window=self.window, total=self.total
        )


def page_of(rows: list[T], window: Page) -> Listing[T]:
    """A page of a list that is in memory."""
    if window is None:
        return Listing(rows)
    page = rows[window.offset : window.offset + window.limit]
    return Listing(page, window=window, total=len(rows))


PIECE = 1024
"""Number of records read at a time. A list of exactly 1,000 is read at once."""


async def listing(
    open_: Callable[[], AbstractAsyncContextManager[T]],
    store_in: Callable[[T], Rows[E]],
    window: Page = None,
    *,
    owner: str | None = None,
    piece: int = PIECE,
) -> Listing[E]:
    """The whole list in pieces of at most ``piece`` records, or one page of it with its total.
    Every piece is read in a transaction of its own, so that a slow reader holds nothing."""

    skipped = 0 if window is None else window.offset

    def size_after(already: int) -> int:
        return piece if window is None else min(piece, window.limit - already)

    async def pieces_after(last: E, already: int) -> AsyncIterator[list[E]]:
        while size := size_after(already):
            async with open_() as tx:
                rows = store_in(tx)
                if rows.by_offset:
                    entities = await rows.rows(size, offset=skipped + already, owner=owner)
                else:
                    entities = await rows.rows(size, after=last, owner=owner)
            if entities:
                yield entities
            if len(entities) < size:
                return
            last = entities[-1]
            already += size

    total = None
    async with open_() as tx:
        if window is None:
            first = await store_in(tx).rows(piece, owner=owner)
        else:
            size = size_after(0)
            first, total = await store_in(tx).page(size, offset=window.offset, owner=owner)
    if window is not None and total is None:
        # Rows that end within the page are counted by it.
        total = window.offset + len(first)
        if len(first) == size_after(0) or (window.offset and not first):
            async with open_() as tx:
                total = await store_in(tx).count(owner)
    complete = len(first) < size_after(0) or not size_after(len(first))
    return Listing(
        first,
        None if complete else lambda: pieces_after(first[-1], len(first)),
        window=window,
        total=total,
    )
