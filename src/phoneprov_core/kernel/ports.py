"""The ports of all rooms: clock, identifiers, pauses, counted rates, stores and transactions; and
pages of lists, which are read from stores in pieces."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Annotated, Generic, Protocol, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import QueryCommand, wrong
from phoneprov_core.kernel.fields import Uuid, schema, within
from phoneprov_core.kernel.search import Search, search_for

Clock = Callable[[], datetime]
"""Port: the current moment, aware and in UTC. Never goes back within one process."""

Pause = Callable[[float], Awaitable[None]]
"""Port: wait for a number of seconds."""

NewId = Callable[[], str]
"""Port: a new identifier, UUID text in lower case, never returned twice."""


class Rate(Struct, frozen=True):
    """A rate limit: at most ``most`` events within ``window`` milliseconds, which begins with the
    first event; 0 for no limit."""

    most: int
    window: int


class RateStore(Protocol):
    """Counted events, by subject."""

    async def add(
        self, subject: str, rate: Rate, now: int, *, item: str = "", force: bool = False
    ) -> int:
        """Count one more event. Returns 0 if it was counted, else the milliseconds until the next
        one is allowed.

        Checks and counts in one statement: of concurrent callers in all processes, exactly the
        number that the rate allows is counted. The window begins with the first event; the first
        one after its end begins another. An ``item`` counts once in a window; no item may be a
        substring of another. With ``force`` the event is counted regardless of the rate. A window
        that begins in the future, because the clock was set back, has ended.
        """

    async def take_back(self, subject: str) -> None:
        """Subtract one event of the subject, if there is one."""


E = TypeVar("E")
T_co = TypeVar("T_co", covariant=True)


class Rows(Protocol[E]):
    """Records to count and to list. They are ``by_offset`` if their order is that of values of
    other records: then ``rows`` takes no ``after``."""

    by_offset: bool = False

    async def count(self, owner: str | None = None) -> int:
        """Number of records, or number of records of ``owner``."""

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        """At most ``limit`` records after ``after``, oldest first (by creation, then key), without
        the first ``offset``; only records of ``owner`` if given."""

    async def page(
        self, limit: int, *, offset: int = 0, owner: str | None = None
    ) -> tuple[list[E], int | None]:
        """The result of ``rows``, and of ``count`` if it costs nothing; None, as here, if the
        records would have to be counted."""
        return await self.rows(limit, offset=offset, owner=owner), None


class NewestRows(Rows[E], Protocol[E]):
    """Records that can also be read by key, newest first."""

    async def newest(
        self, limit: int, *, before: E | None = None, owner: str | None = None
    ) -> list[E]:
        """At most ``limit`` records, newest first (by creation, then key), beginning after
        ``before``; only records of ``owner`` if given. The cost does not depend on the
        number of records."""


class Store(Rows[E], Protocol[E]):
    """Records of one kind, by key.

    A key is the record's identifier in canonical form. All methods run in the transaction of the
    store and see its earlier changes. In a writing transaction ``find`` prevents other transactions
    from changing the record until this one ends. After a ``Conflict`` the transaction must be
    rolled back.
    """

    async def add(self, entity: E) -> None:
        """Raises ``Conflict`` (code ``already_exists``, with the field) if a unique value is in
        use, ``NotFound`` if a record that it refers to does not exist: here, with the next call,
        with ``flush`` of the transaction, or at its end."""

    async def find(self, key: str) -> E | None:
        """The record, or None."""

    async def put(self, entity: E) -> None:
        """Replace a stored record. Raises like ``add``, and ``NotFound`` if the record does not
        exist."""

    async def remove(self, key: str) -> bool:
        """Remove the record and the records that belong to it; False if it does not exist. Raises
        ``Conflict`` (code ``in_use``) if another record refers to it and does not belong to it."""


class SearchedRows(Rows[E], Protocol[E]):
    """Records that can be searched."""

    def matching(self, search: Search) -> Rows[E]:
        """The records that ``search`` matches."""


class SearchedStore(Store[E], SearchedRows[E], Protocol[E]):
    """A store whose records can be searched."""


def selected(rows: SearchedRows[E], wanted: Struct | None, *, people: bool = False) -> Rows[E]:
    """The records that a search command selects; all records without one. With ``people`` they are
    also found by people and numbers, see ``Search``."""
    search = search_for(wanted)
    return rows if search is None else rows.matching(replace(search, people=people))


class ReadAndWrite(Protocol[T_co]):
    """How a use case reaches the stores it needs.

    ``read`` opens them for reading: each query sees the data committed at its start.
    ``write`` opens one transaction: it is committed completely when the block ends and rolled
    back completely when the block raises; after the block it is durable. Writers of the same
    record wait for each other. Each change is recorded in the audit trail, in the same
    transaction, as done ``by`` this actor. Raises ``Unavailable`` if the database cannot be
    reached or is full. Never keep either open during a network call.
    """

    def read(self) -> AbstractAsyncContextManager[T_co]:
        """Stores for reading only."""

    def write(self, *, by: Actor) -> AbstractAsyncContextManager[T_co]:
        """Stores of one transaction, for reading and writing."""


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

AfterRow = Annotated[Uuid, schema("Newest first, after the row with this UUID")]


class Window(QueryCommand, frozen=True):
    """A page of a list: at most ``limit`` records (1 to 1000) after the first ``offset``."""

    limit: Limit = 1000
    offset: Offset = 0


class FromNewest(QueryCommand, frozen=True):
    """A page by key: the records before the uuid ``before``, newest first."""

    before: Before | None = None


class Newest(QueryCommand, frozen=True):
    """At most ``limit`` records, newest first, after the uuid ``before``."""

    limit: Limit = 1000
    before: AfterRow | None = None


Page: TypeAlias = Window | None
"""The requested page of a list; None is the whole list."""

NEWEST = "ffffffff-ffff-ffff-ffff-ffffffffffff"
"""The largest UUID (RFC 9562, section 5.10): a page before it begins with the newest."""


def limit_by_key(page: Page, key: str) -> int:
    """The limit of a page that begins at ``key``. Raises ``Invalid`` if the page has an offset."""
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
        # If the last row is in this page, the page gives the total.
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
