"""The base port of stores, and reading of long lists."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from msgspec import Struct

from phoneprov_core.kernel import values
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import Check, Command, invalid
from phoneprov_core.kernel.errors import Problem
from phoneprov_core.kernel.fields import Uuid, schema
from phoneprov_core.kernel.search import Search, search_for

E = TypeVar("E")
T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
S = TypeVar("S")


class Rows(Protocol[E]):
    """Records to count and to list."""

    async def count(self, owner: str | None = None) -> int:
        """Number of records, or of those that belong to ``owner``."""
        ...

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        """At most ``limit`` records after ``after``, oldest first (by creation, then key), without
        the first ``offset``; only those that belong to ``owner`` if given."""
        ...


@runtime_checkable
class CountedRows(Rows[E], Protocol[E]):
    """Records whose total may be known from reading a page."""

    async def page(
        self, limit: int, *, offset: int = 0, owner: str | None = None
    ) -> tuple[list[E], int | None]:
        """The records that ``rows`` returns, and the number that ``count`` returns, or None if it
        would have to be counted."""
        ...


class NewestRows(Rows[E], Protocol[E]):
    """Records that can also be read by key, newest first."""

    async def newest(
        self, limit: int, *, before: E | None = None, owner: str | None = None
    ) -> list[E]:
        """At most ``limit`` records, newest first (by creation, then key), beginning after
        ``before``; only those that belong to ``owner`` if given. The cost does not depend on the
        number of records."""
        ...


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
        or at the end of the transaction."""
        ...

    async def find(self, key: str) -> E | None:
        """The record, or None."""
        ...

    async def put(self, entity: E) -> None:
        """Replace a stored record. Raises like ``add``, and ``NotFound`` if the record does not
        exist."""
        ...

    async def remove(self, key: str) -> bool:
        """Remove the record and the records that belong to it; False if it does not exist. Raises
        ``Conflict`` (code ``in_use``) if another record refers to it and does not belong to it."""
        ...


class SearchedRows(Rows[E], Protocol[E]):
    """Records that can be searched."""

    def matching(self, search: Search) -> Rows[E]:
        """The records that ``search`` matches."""
        ...


class SearchedStore(Store[E], SearchedRows[E], Protocol[E]):
    """A store whose records can be searched."""


def selected(rows: SearchedRows[E], wanted: Struct | None) -> Rows[E]:
    """The records that a search command selects; all records without one."""
    search = search_for(wanted)
    return rows if search is None else rows.matching(search)


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
        ...

    def write(self, *, by: Actor) -> AbstractAsyncContextManager[T_co]:
        """Stores of one transaction, for reading and writing."""
        ...


Limit = Annotated[
    int,
    Check(values.from_to(1, 1000)),
    schema(
        description="Maximum number of rows; 1000 if only `offset` is sent", minimum=1, maximum=1000
    ),
]
Offset = Annotated[
    int,
    Check(values.from_to(0, 2**63 - 1)),
    schema(description="Number of rows to skip", minimum=0, maximum=2**63 - 1),
]
Before = Annotated[
    Uuid,
    schema(
        description=(
            "Newest first, after the record with this UUID, without a total. Not allowed with "
            "`offset`; ffffffff-ffff-ffff-ffff-ffffffffffff begins with the newest"
        )
    ),
]
After = Annotated[Uuid, schema(description="Newest first, after the row with this UUID")]


class Window(Command, frozen=True):
    """A page of a list: at most ``limit`` records (1 to 1000) after the first ``offset``."""

    limit: Limit = 1000
    offset: Offset = 0


class FromNewest(Command, frozen=True):
    """A page by key: the records before the one with the uuid ``before``, newest first."""

    before: Before | None = None


class Newest(Command, frozen=True):
    """At most ``limit`` records, newest first, after the one with the uuid ``before``."""

    limit: Limit = 1000
    before: After | None = None


Page: TypeAlias = Window | None
"""The requested page of a list; None is the whole list."""

NEWEST = "ffffffff-ffff-ffff-ffff-ffffffffffff"
"""The largest UUID (RFC 9562, section 5.10): a page before it begins with the newest."""


def limit_by_key(page: Page, key: str) -> int:
    """The limit of a page that begins at the parameter ``key``. Raises ``Invalid`` if the page has
    an offset."""
    window = page or Window()
    if window.offset:
        raise invalid([Problem("offset", f"is not allowed together with {key}")])
    return window.limit


class Listing(Generic[T]):
    """A list, oldest first, read in pieces so that memory does not grow with its length.

    ``first`` is the first piece; ``async for piece in listing`` yields all pieces, the first
    included, and may be repeated. ``window`` and ``total`` are set for a page.
    """

    def __init__(
        self,
        first: list[T],
        rest: Callable[[], AsyncIterator[list[T]]] | None = None,
        *,
        window: Window | None = None,
        total: int | None = None,
    ) -> None:
        self.first = first
        self.window = window
        self.total = total
        self._rest = rest

    @property
    def complete(self) -> bool:
        """Whether ``first`` is the whole list."""
        return self._rest is None

    async def __aiter__(self) -> AsyncIterator[list[T]]:
        if self.first:
            yield self.first
        if self._rest is not None:
            async for piece in self._rest():
                yield piece

    async def everything(self) -> list[T]:
        """The whole list at once, for lists that are known to be short."""
        return [entity async for piece in self for entity in piece]

    def mapped(self, view: Callable[[T], S]) -> Listing[S]:
        """The same list with ``view`` applied to each entity."""
        rest = self._rest

        async def mapped_rest() -> AsyncIterator[list[S]]:
            assert rest is not None
            async for piece in rest():
                yield [view(entity) for entity in piece]

        first = [view(entity) for entity in self.first]
        return Listing(
            first,
            None if rest is None else mapped_rest,
            window=self.window,
            total=self.total,
        )


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

    Every piece is read in a transaction of its own, so that a slow reader holds nothing.
    """

    def size_after(already: int) -> int:
        return piece if window is None else min(piece, window.limit - already)

    async def pieces_after(last: E, already: int) -> AsyncIterator[list[E]]:
        while size := size_after(already):
            async with open_() as tx:
                entities = await store_in(tx).rows(size, after=last, owner=owner)
            if entities:
                yield entities
            if len(entities) < size:
                return
            last = entities[-1]
            already += size

    total = None
    async with open_() as tx:
        rows, size, offset = store_in(tx), size_after(0), window.offset if window else 0
        if window is not None and isinstance(rows, CountedRows):
            first, total = await rows.page(size, offset=offset, owner=owner)
        else:
            first = await rows.rows(size, offset=offset, owner=owner)
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
