"""The five methods that every store has, once."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import islice
from typing import ClassVar, TypeVar

from msgspec import Struct

from phoneprov_adapters.memory.records import EVERY, Kind
from phoneprov_adapters.memory.tables import Tables
from phoneprov_core.audit.entries import RESOURCES
from phoneprov_core.kernel.errors import NotFound
from phoneprov_core.kernel.store import Store

E = TypeVar("E", bound=Struct)


class MemoryStore(Store[E]):
    """A store of one kind of record. Subclasses name the kind, and add what their feature
    asks beyond the five methods."""

    kind: ClassVar[Kind[E]]

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add(self, entity: E) -> None:
        self._tables.add(self.kind, entity)
        self._changed(None, entity)

    async def find(self, key: str) -> E | None:
        return self._tables.of(self.kind).get(key)

    async def put(self, entity: E) -> None:
        if self._tables.of(self.kind).get(self.kind.key_of(entity)) is None:
            raise NotFound(f"There is no such {self.kind.name} any more.")
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
        return self._tables.of(self.kind).count(self._group(owner))

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        behind = None if after is None else self.kind.position(after)
        group = self._tables.of(self.kind).group(self._group(owner), behind)
        return list(islice(group, offset, offset + limit))

    def _changed(self, before: E | None, after: E | None) -> None:
        entity = after if after is not None else before
        if entity is not None and type(entity) in RESOURCES:
            self._tables.trail.changed(self.kind.key_of(entity), before, after)

    def _group(self, owner: str | None) -> tuple[str, Hashable]:
        if owner is None:
            return EVERY
        assert self.kind.owner is not None, "these records belong to nobody"
        return self.kind.owner, owner
