"""The ports of all rooms: clock, identifiers, pauses, counted rates, stores and transactions."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.kernel.actor import Actor
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
        the first ``offset``; only those that belong to ``owner`` if given."""

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
        ``before``; only those that belong to ``owner`` if given. The cost does not depend on the
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
