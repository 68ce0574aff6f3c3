"""The common methods of all stores."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import islice
from typing import ClassVar, TypeVar

from msgspec import Struct

from phoneprov_adapters.memory.records import EVERY, Kind
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.store import Store

E = TypeVar("E", bound=Struct)


class MemoryStore(Store[E]):
    """A store of one kind of record. Subclasses name the kind, and add the methods of their
    feature."""

    kind: ClassVar[Kind[E]]

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(self, entity: E) -> None:
        self._tables.add(self.kind, entity)

    async def find(self, key: str) -> E | None:
        return self._tables.of(self.kind).get(key)

    async def put(self, entity: E) -> None:
        if self._tables.of(self.kind).get(self.kind.key_of(entity)) is None:
            raise NotFound(f"There is no such {self.kind.name}.")
        self._tables.put(self.kind, entity)

    async def remove(self, key: str) -> bool:
        return self._tables.remove(self.kind, key)

    async def count(self, owner: str | None = None) -> int:
        return self._tables.of(self.kind).count(self._group(owner))

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        behind = None if after is None else self.kind.position(after)
        group = self._tables.of(self.kind).group(self._group(owner), behind)
        return list(islice(group, offset, offset + limit))

    def _group(self, owner: str | None) -> tuple[str, Hashable]:
        if owner is None:
            return EVERY
        assert self.kind.owner is not None, "these records have no owner"
        return self.kind.owner, owner
