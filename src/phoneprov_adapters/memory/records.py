"""Kinds of records, and the committed records of one kind.

The memory database follows the rules of the SQL schema: keys, unique values, references, and
deletion of dependent records. A ``Kind`` declares them; ``Records`` has the records with an index
for each rule, so that the cost of a query hardly depends on their number.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Hashable, Sequence
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from phoneprov_core.kernel.search import SearchFields

E = TypeVar("E")

Position = tuple[Any, str]
"""The position of a record in a list: its creation, then its key."""


class Reference(NamedTuple):
    """The field of a record that holds the key of another. The record is removed with the other,
    or with ``restrict`` prevents its removal."""

    field: str
    to: "Kind[Any]"
    restrict: bool = False


class Unique(NamedTuple):
    """A value that no two records share. ``field`` is named by errors, ``what`` is its name in a
    message; ``value`` computes it from a record, the field itself by default."""

    field: str
    what: str
    value: Callable[[Any], Hashable] | None = None


class Kind(Generic[E]):
    """A kind of record.

    ``name`` is what one of them is called. ``key`` and ``created`` are fields, ``owner`` is the one
    that says whose record it is; a field of a field has a dot. ``found_by`` are further fields to
    be found by, ``search`` are those that lists are searched by.
    """

    def __init__(
        self,
        name: str,
        *,
        key: str = "uuid",
        created: str = "created_at",
        owner: str | None = None,
        unique: tuple[Unique, ...] = (),
        references: tuple[Reference, ...] = (),
        found_by: tuple[str, ...] = (),
        search: SearchFields | None = None,
    ) -> None:
        self.name = name
        self.key_field = key.rpartition(".")[2]
        self.key_of: Callable[[E], str] = attrgetter(key)
        self.created_of: Callable[[E], Any] = attrgetter(created)
        self.owner = owner
        self.search = search
        self.unique = unique
        self.references = references
        fields = [reference.field for reference in references] + [*found_by, *filter(None, [owner])]
        self.indexes: dict[str, Callable[[E], Hashable]] = {
            **{field: attrgetter(field) for field in fields},
            **{one.field: one.value or attrgetter(one.field) for one in unique},
        }

    def position(self, entity: Any) -> Position:
        """The position in lists, by creation, then by key, of a record or of a view with the same
        fields."""
        return self.created_of(entity), self.key_of(entity)


EVERY: tuple[str, Hashable] = ("", None)
"""The group of all records."""


class Records(Generic[E]):
    """Records of one kind, by key; in each group, positions in their order.

    A group is an index and a value: ``("username", "ada")`` holds the position of each
    record whose username is that.
    """

    def __init__(self, kind: Kind[E]) -> None:
        self.kind = kind
        self.by_key: dict[str, E] = {}
        self._groups: dict[tuple[str, Hashable], list[Position]] = {}

    def group(self, group: tuple[str, Hashable]) -> Sequence[Position]:
        """The positions in a group; valid until the next change."""
        return self._groups.get(group, ())

    def set(self, entity: E) -> None:
        """Add a record, or replace the one with the same key."""
        key = self.kind.key_of(entity)
        self.discard(key)
        self.by_key[key] = entity
        position = self.kind.position(entity)
        for group in self._groups_of(entity):
            insort(self._groups.setdefault(group, []), position)

    def discard(self, key: str) -> None:
        """Remove a record if it exists."""
        entity = self.by_key.pop(key, None)
        if entity is None:
            return
        position = self.kind.position(entity)
        for group in self._groups_of(entity):
            positions = self._groups[group]
            del positions[bisect_left(positions, position)]
            if not positions:
                del self._groups[group]

    def _groups_of(self, entity: E) -> list[tuple[str, Hashable]]:
        values = ((index, value_of(entity)) for index, value_of in self.kind.indexes.items())
        return [EVERY, *values]
