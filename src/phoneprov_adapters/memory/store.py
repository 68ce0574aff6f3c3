"""The common methods of all stores."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

from msgspec import Struct

from phoneprov_adapters.memory.records import EVERY, Kind, Position
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.audit.entries import RESOURCES
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import Rows, SearchedStore, Store

E = TypeVar("E", bound=Struct)
R = TypeVar("R", bound=Struct)


class MemoryStore(Store[E]):
    """A store of one kind of record. Subclasses name theirs, and add the methods of their
    feature."""

    kind: Kind[E]

    def __init__(self, tables: Tables, kind: Kind[E] | None = None) -> None:
        self._tables = tables
        if kind is not None:
            self.kind = kind

    async def add(self, entity: E) -> None:
        self._tables.add(self.kind, entity)
        self._changed(None, entity)

    async def find(self, key: str) -> E | None:
        return self._tables.of(self.kind).get(key)

    async def put(self, entity: E) -> None:
        if self._tables.of(self.kind).get(self.kind.key_of(entity)) is None:
            raise NotFound(f"There is no such {self.kind.name}.")
        before = self._tables.of(self.kind).get(self.kind.key_of(entity))
        self._tables.put(self.kind, entity)
        self._changed(before, entity)

    async def remove(self, key: str) -> bool:
        before = self._tables.of(self.kind).get(key)
        if not self._tables.remove(self.kind, key):
            return False
        self._changed(before, None)
        return True

    async def count(self, owner: str | None = None) -> int:
        return self._tables.of(self.kind).count(group_of(self.kind, owner))

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        position = None if after is None else self.kind.position(after)
        group = self._tables.of(self.kind).group(group_of(self.kind, owner), position)
        return list(islice(group, offset, offset + limit))

    def _changed(self, before: E | None, after: E | None) -> None:
        entity = after if after is not None else before
        if entity is not None and type(entity) in RESOURCES:
            self._tables.trail.changed(self.kind.key_of(entity), before, after)


class MemorySearchedStore(MemoryStore[E], SearchedStore[E]):
    """A store whose records have ``search`` fields."""

    def matching(self, search: Search) -> Rows[E]:
        return MemorySearchedRows(self._tables, self.kind, search, lambda entity: entity)


class MemorySearchedRows(Rows[R], Generic[E, R]):
    """The records of a kind that a search matches, each as ``view`` shows it."""

    def __init__(
        self,
        tables: Tables,
        kind: Kind[E],
        search: Search,
        view: Callable[[E], R | None],
        value_of: Callable[[E, str], Any] = getattr,
    ) -> None:
        self._tables = tables
        self._kind = kind
        self._search = search
        self._view = view
        self._value_of = value_of

    async def count(self, owner: str | None = None) -> int:
        return sum(1 for _ in self._matching(owner))

    async def rows(
        self, limit: int, *, after: R | None = None, offset: int = 0, owner: str | None = None
    ) -> list[R]:
        found = islice(self._matching(owner, after), offset, offset + limit)
        return [shown for entity in found if (shown := self._view(entity)) is not None]

    def _matching(self, owner: str | None, after: Any = None) -> Iterator[E]:
        fields = self._kind.search
        assert fields is not None
        position = None if after is None else self._kind.position(after)
        for entity in self._tables.of(self._kind).group(group_of(self._kind, owner), position):
            if self._search.matches(entity, fields, self._value_of):
                yield entity


def group_of(kind: Kind[Any], owner: str | None) -> tuple[str, Hashable]:
    """All records of a kind, or those that belong to ``owner``."""
    if owner is None:
        return EVERY
    assert kind.owner is not None, "these records have no owner"
    return kind.owner, owner


def newest(kind: Kind[E], rows: Iterable[E], limit: int, before: Position | None = None) -> list[E]:
    """A page by key: at most ``limit`` of ``rows``, newest first, after ``before``."""
    found = [one for one in rows if before is None or kind.position(one) < before]
    return found[::-1][:limit]
