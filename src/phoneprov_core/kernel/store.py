"""The base ports of stores and transactions; rates, and the trail of what a transaction changes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.search import Search, search_for

E = TypeVar("E")
T_co = TypeVar("T_co", covariant=True)


class Rows(Protocol[E]):
    """Records to count and to list."""

    async def count(self, owner: str | None = None) -> int:
        """Number of records, or of those that belong to ``owner``."""

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        """At most ``limit`` records after ``after``, oldest first (by creation, then key), without
        the first ``offset``; only those that belong to ``owner`` if given."""


@runtime_checkable
class CountedRows(Rows[E], Protocol[E]):
    """Records whose total may be known from reading a page."""

    async def page(
        self, limit: int, *, offset: int = 0, owner: str | None = None
    ) -> tuple[list[E], int | None]:
        """The records that ``rows`` returns, and the number that ``count`` returns, or None if it
        would have to be counted."""


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


def selected(rows: SearchedRows[E], wanted: Struct | None) -> Rows[E]:
    """The records that a search command selects; all records without one."""
    search = search_for(wanted)
    return rows if search is None else rows.matching(search)


R = TypeVar("R", bound=Struct)

Value = str | int | float | bool | None | list[str]


class Event(Struct, frozen=True):
    """Something that is not the change of one record, such as a failed login.

    ``action`` is ``<subject>.<verb in the past tense>``. ``changes`` holds field values that
    were not there before.
    """

    action: str
    resource: str
    resource_id: str | None = None
    changes: Mapping[str, Value] = {}


class Change(Struct):
    """A record that was added (``before`` is None), changed, or removed (``after`` is None).
    ``secrets`` names what changed beside the fields, such as a password."""

    before: Struct | None
    after: Struct | None
    secrets: tuple[str, ...] = ()


class Notes(Protocol):
    """What use cases see of a trail."""

    def note(self, event: Event) -> None:
        """Record an event. It is written when the transaction commits."""


class Trail(Notes):
    """The changes and events of one writing transaction, in their order.

    The stores record each change of a record here, and use cases note events. The database turns
    the trail into audit entries before it commits, so that they are part of the transaction.
    Without an actor nothing is recorded: for maintenance and tests that write records
    directly.
    """

    def __init__(self, by: Actor | None = None) -> None:
        self.by = by
        self.records: list[Change | Event] = []
        self._found: dict[tuple[type[Struct], str], Struct] = {}

    @property
    def active(self) -> bool:
        """Whether changes are recorded."""
        return self.by is not None

    def changes(self) -> list[Change]:
        """The changes of records, without the events."""
        return [record for record in self.records if isinstance(record, Change)]

    def note(self, event: Event) -> None:
        if self.active:
            self.records.append(event)

    def found(self, key: str, entity: Struct) -> None:
        """Remember a record as it was read in this transaction."""
        if self.active:
            self._found[type(entity), key] = entity

    def known(self, kind: type[R], key: str) -> R | None:
        """The record as this transaction knows it, or None if it was not read."""
        return self._found.get((kind, key))  # type: ignore[return-value]

    def changed(
        self,
        key: str,
        before: Struct | None,
        after: Struct | None,
        *,
        secrets: tuple[str, ...] = (),
    ) -> None:
        """Record the change of a record."""
        if not self.active:
            return
        self.records.append(Change(before, after, secrets))
        if after is not None:
            self._found[type(after), key] = after
        elif before is not None:
            self._found.pop((type(before), key), None)


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
