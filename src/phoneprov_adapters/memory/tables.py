"""The records that one transaction sees, and the rules between them."""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from phoneprov_adapters.memory.records import EVERY, Kind, Position, Records
from phoneprov_core.kernel.errors import InUse, NotFound, already_taken
from phoneprov_core.kernel.trail import Trail

E = TypeVar("E")

Millis = Callable[[], int]
"""A clock, in milliseconds."""


class Table(Generic[E]):
    """The records of one kind: the committed ones with this transaction's changes.

    The changes are kept apart from the committed records until ``commit``, so that other
    transactions do not see them, a rollback costs nothing, and a commit costs as much as its
    changes.
    """

    def __init__(self, committed: Records[E], *, writing: bool) -> None:
        self._kind = committed.kind
        self._committed = committed
        self._writing = writing
        self._changed = Records(committed.kind)
        # Keys whose committed record was changed or removed, and is hidden.
        self._hidden: set[str] = set()

    def get(self, key: str | None) -> E | None:
        """The record, or None."""
        if key is None:
            return None
        entity = self._changed.by_key.get(key)
        if entity is None and key not in self._hidden:
            entity = self._committed.by_key.get(key)
        return entity

    def set(self, entity: E) -> None:
        """Add or replace a record."""
        self._hide(self._kind.key_of(entity))
        self._changed.set(entity)

    def discard(self, key: str) -> None:
        """Remove a record if it exists."""
        self._hide(key)
        self._changed.discard(key)

    def group(
        self, group: tuple[str, Hashable] = EVERY, after: Position | None = None
    ) -> Iterator[E]:
        """The records of a group in their order, after ``after``. To be read completely before the
        next change or await."""
        committed = (
            position
            for position in _after(self._committed.group(group), after)
            if position[1] not in self._hidden
        )
        changed = _after(self._changed.group(group), after)
        for _, key in heapq.merge(committed, changed) if self._changed.by_key else committed:
            entity = self.get(key)
            assert entity is not None
            yield entity

    def changed(self) -> list[E]:
        """The records that differ from the committed ones."""
        committed = self._committed.by_key
        return [e for key, e in self._changed.by_key.items() if committed.get(key) != e]

    def commit(self) -> None:
        """Commit this transaction's changes."""
        for key in self._hidden:
            self._committed.discard(key)
        for entity in self._changed.by_key.values():
            self._committed.set(entity)

    def _hide(self, key: str) -> None:
        if not self._writing:
            raise RuntimeError("this transaction was opened for reading")
        if key in self._committed.by_key:
            self._hidden.add(key)


def _after(positions: Sequence[Position], after: Position | None) -> Iterator[Position]:
    start = 0 if after is None else bisect_right(positions, after)
    return (positions[i] for i in range(start, len(positions)))


class Tables:
    """All tables of one transaction; writes follow the rules."""

    def __init__(
        self,
        committed: dict[Kind[Any], Records[Any]],
        clock: Millis,
        trail: Trail | None = None,
        *,
        writing: bool,
    ) -> None:
        self.clock = clock
        self.trail = trail or Trail()
        self._committed = committed
        self._writing = writing
        self._opened: dict[Kind[Any], Table[Any]] = {}

    def of(self, kind: Kind[E]) -> Table[E]:
        """The table of one kind."""
        table = self._opened.get(kind)
        if table is None:
            committed = self._committed.setdefault(kind, Records(kind))
            table = self._opened[kind] = Table(committed, writing=self._writing)
        return table

    def add(self, kind: Kind[E], entity: E) -> None:
        """Raises ``Conflict`` and ``NotFound`` like ``Store.add``."""
        table = self.of(kind)
        if table.get(kind.key_of(entity)) is not None:
            raise already_taken(kind.key_field, kind.key_field)
        self._require_valid(kind, entity)
        table.set(entity)

    def put(self, kind: Kind[E], entity: E) -> None:
        """Add or replace the record with this key. Raises like ``add``, except for the key."""
        self._require_valid(kind, entity)
        self.of(kind).set(entity)

    def remove(self, kind: Kind[Any], key: str) -> bool:
        """Remove a record and the records that belong to it; False if it does not exist. Raises
        ``Conflict`` (code ``in_use``)."""
        table = self.of(kind)
        if table.get(key) is None:
            return False
        table.discard(key)
        for referring in list(self._committed):
            for field, to, restrict in referring.references:
                if to is not kind:
                    continue
                for other in list(self.of(referring).group((field, key))):
                    if restrict:
                        raise InUse(f"This {kind.name} is in use and cannot be deleted.")
                    self.remove(referring, referring.key_of(other))
        return True

    def changed(self) -> Iterator[Any]:
        """Every record that this transaction added or changed."""
        for table in self._opened.values():
            yield from table.changed()

    def commit(self) -> None:
        """Commit all changes at once."""
        for table in self._opened.values():
            table.commit()

    def _require_valid(self, kind: Kind[E], entity: E) -> None:
        table = self.of(kind)
        key = kind.key_of(entity)
        for field, what, _ in kind.unique:
            others = table.group((field, kind.indexes[field](entity)))
            if any(kind.key_of(other) != key for other in others):
                raise already_taken(what, field)
        for field, to, _ in kind.references:
            if self.of(to).get(str(kind.indexes[field](entity))) is None:
                raise NotFound(f"There is no such {to.name}.")
