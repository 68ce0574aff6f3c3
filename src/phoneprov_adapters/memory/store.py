"""The common methods of all stores."""

from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

from msgspec import Struct

from phoneprov_adapters.memory.records import EVERY, Kind, Position
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.audit.entries import RESOURCES
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.store import NewestRows, Rows, SearchedStore, Store

E = TypeVar("E", bound=Struct)
R = TypeVar("R", bound=Struct)


class MemoryQueries:
    """A store over the tables of one transaction."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables


class MemoryRows(MemoryQueries, Rows[R], Generic[E, R]):
    """The records of a kind, each as ``view`` shows it; one without a view is left out.

    ``owner`` is the index that finds the records of an owner, ``group`` the records that are
    listed if no owner is given. ``matches`` leaves out others: it gets a record and the owner.
    ``place`` is the position of a view, by default that of a record with the same fields.
    """

    def __init__(
        self,
        tables: Tables,
        kind: Kind[E],
        view: Callable[[E], R | None],
        *,
        owner: str | None = None,
        group: tuple[str, Hashable] = EVERY,
        matches: Callable[[E, str | None], bool] | None = None,
        place: Callable[[Any], Position] | None = None,
    ) -> None:
        super().__init__(tables)
        self._kind = kind
        self._view = view
        self._owner = owner
        self._group = group
        self._matches = matches
        self._place = place or kind.position

    async def count(self, owner: str | None = None) -> int:
        return sum(1 for _ in self._found(owner))

    async def rows(
        self, limit: int, *, after: R | None = None, offset: int = 0, owner: str | None = None
    ) -> list[R]:
        return self._viewed(islice(self._found(owner, after), offset, offset + limit))

    def _viewed(self, found: Iterator[E]) -> list[R]:
        return [view for one in found if (view := self._view(one)) is not None]

    def _found(self, owner: str | None, after: Any = None) -> Iterator[E]:
        position = None if after is None else self._place(after)
        for one in self._tables.of(self._kind).group(self._group_of(owner), position):
            if self._matches is None or self._matches(one, owner):
                yield one

    def _group_of(self, owner: str | None) -> tuple[str, Hashable]:
        if owner is None or self._owner is None:
            assert owner is None or self._matches is not None, "these records have no owner"
            return self._group
        return self._owner, owner


class MemoryNewestRows(MemoryRows[E, R], NewestRows[R]):
    """Records that are also listed newest first."""

    async def newest(
        self, limit: int, *, before: R | None = None, owner: str | None = None
    ) -> list[R]:
        last = None if before is None else self._place(before)
        found = [
            one for one in self._found(owner) if last is None or self._kind.position(one) < last
        ]
        return self._viewed(islice(reversed(found), limit))


def part(kind: type[R], whole: Struct) -> R:
    """The fields of a struct that a struct with fewer fields has."""
    return kind(**{name: getattr(whole, name) for name in kind.__struct_fields__})


def itself(entity: E) -> E:
    """The view of a record that is shown as it is stored."""
    return entity


class MemoryStore(MemoryRows[E, E], Store[E]):
    """A store of one kind of record. Subclasses name theirs, and add the methods of their
    feature."""

    kind: Kind[E]

    def __init__(self, tables: Tables, kind: Kind[E] | None = None) -> None:
        if kind is not None:
            self.kind = kind
        super().__init__(tables, self.kind, itself, owner=self.kind.owner)

    async def add(self, entity: E) -> None:
        self._tables.add(self.kind, entity)
        self._changed(None, entity)

    async def find(self, key: str) -> E | None:
        return self._tables.of(self.kind).get(key)

    async def put(self, entity: E) -> None:
        before = self._tables.of(self.kind).get(self.kind.key_of(entity))
        if before is None:
            raise NotFound(f"There is no such {self.kind.name}.")
        self._tables.put(self.kind, entity)
        self._changed(before, entity)

    async def remove(self, key: str) -> bool:
        before = self._tables.of(self.kind).get(key)
        if not self._tables.remove(self.kind, key):
            return False
        self._changed(before, None)
        return True

    def _changed(self, before: E | None, after: E | None) -> None:
        entity = after if after is not None else before
        if entity is not None and type(entity) in RESOURCES:
            self._tables.trail.changed(self.kind.key_of(entity), before, after)


class MemorySearchedStore(MemoryStore[E], SearchedStore[E]):
    """A store whose records have ``search`` fields."""

    def matching(self, search: Search) -> Rows[E]:
        return searched(self._tables, self.kind, search, itself)


def searched(
    tables: Tables,
    kind: Kind[E],
    search: Search,
    view: Callable[[E], R | None],
    value_of: Callable[[E, str], Any] = getattr,
) -> MemoryRows[E, R]:
    """The records of a kind that a search matches, each as ``view`` shows it."""
    fields = kind.search
    assert fields is not None
    owner_of = kind.indexes.get(kind.owner or "")

    def matches(entity: E, owner: str | None) -> bool:
        mine = owner is None or (owner_of is not None and owner_of(entity) == owner)
        return mine and search.matches(entity, fields, value_of)

    return MemoryRows(tables, kind, view, owner=kind.owner, matches=matches)
