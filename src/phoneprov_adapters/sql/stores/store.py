"""The common methods of all stores."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct
from sqlalchemy import Column, ColumnElement, Table, bindparam, delete, insert, select, update

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.rows import Query, SqlRows
from phoneprov_adapters.sql.stores.searching import SearchedTable
from phoneprov_core.audit.entries import RESOURCES
from phoneprov_core.kernel.errors import InUse, NotFound
from phoneprov_core.kernel.search import Search, SearchFields
from phoneprov_core.kernel.store import Rows, SearchedStore, Store

E = TypeVar("E", bound=Struct)


class Records(Generic[E]):
    """The statements that keep one kind of entity in one table, built once.

    A column stands for the field of the same name, in the order of the entity's fields;
    ``columns`` names them where they are not the entity's fields. ``owner`` is the column
    that says whose record it is. ``search`` names the fields that are searched: their text is in
    the column ``search``; ``conditions`` are filters that are not columns. ``derived`` are columns
    that are not fields: the values of a new row, which ``put`` keeps.
    """

    def __init__(
        self,
        entity: Callable[..., E],
        table: Table,
        *,
        key: str = "uuid",
        owner: str | None = None,
        columns: Sequence[str] = (),
        one_name: str = "record",
        search: SearchFields | None = None,
        conditions: Mapping[str, ColumnElement[bool]] | None = None,
        derived: Mapping[str, ColumnElement[Any]] | None = None,
    ) -> None:
        self.entity = entity
        self.key = key
        self.one_name = one_name
        self.search = search
        key_column: Column[Any] = table.c[key]
        names = columns or tuple(entity.__struct_fields__)  # type: ignore[attr-defined]
        columns_read = [table.c[name] for name in names]
        by_key = select(*columns_read).where(key_column == bindparam("key"))
        self.find: Statement = by_key
        self.find_and_hold: Statement = by_key.with_for_update()
        derived = derived or {}
        stored: dict[str, Any] = {
            c.name: bindparam(c.name) for c in table.c if c.name not in derived
        }
        self.add: Statement = insert(table).values({**stored, **derived})
        self.put: Statement = (
            update(table)
            .where(key_column == bindparam("the_key"))
            .values({name: value for name, value in stored.items() if name != key})
            .returning(key_column)
        )
        self.remove: Statement = (
            delete(table).where(key_column == bindparam("key")).returning(*columns_read)
        )
        position = (table.c.created_at, key_column)
        is_owned = None if owner is None else table.c[owner] == bindparam("owner")
        self.listed = Query(select(*columns_read), position, owner=is_owned)
        self.searched = SearchedTable(select(*columns_read), position, is_owned, conditions)


class SqlStore(SqlRows[E], Store[E]):
    """A store over one table, that of ``records``. Subclasses name theirs, convert entities to
    rows if the columns are not the fields, and add the methods of their feature."""

    records: Records[E]

    def __init__(self, connection: Connection, records: Records[E] | None = None) -> None:
        if records is not None:
            self.records = records
        super().__init__(connection, self.records.listed, self._entity_of)

    def _row_of(self, entity: E) -> dict[str, Any]:
        row = msgspec.structs.asdict(entity)
        if self.records.search is not None:
            row["search"] = self.records.search.text(entity)
        return row

    def _entity_of(self, row: Row) -> E:
        return self.records.entity(*row)

    async def add(self, entity: E) -> None:
        await self._connection.soon(self.records.add, **self._row_of(entity))
        self._changed(None, entity)

    async def find(self, key: str) -> E | None:
        if not key:
            return None
        records = self.records
        statement = records.find_and_hold if self._connection.writing else records.find
        row = await self._connection.row(statement, key=key)
        if row is None:
            return None
        entity = self._entity_of(row)
        self._connection.trail.found(key, entity)
        return entity

    async def _one(self, statement: Statement, **values: Any) -> E | None:
        row = await self._connection.row(statement, **values)
        return None if row is None else self._entity_of(row)

    async def put(self, entity: E) -> None:
        before = await self._before(entity)
        row = self._row_of(entity)
        row["the_key"] = row.pop(self.records.key)
        if not await self._connection.rows(self.records.put, **row):
            raise NotFound(f"There is no such {self.records.one_name}.")
        self._changed(before, entity)

    async def remove(self, key: str) -> bool:
        try:
            removed = await self._connection.rows(self.records.remove, key=key)
        except NotFound:
            raise InUse(f"This {self.records.one_name} is in use and cannot be deleted.") from None
        if removed and self._audited:
            self._changed(self._entity_of(removed[0]), None)
        return bool(removed)

    @property
    def _audited(self) -> bool:
        return self._connection.trail.active and self.records.entity in RESOURCES

    async def _before(self, entity: E) -> E | None:
        """The record that is about to be replaced, read at most once in a transaction."""
        if not self._audited:
            return None
        key = str(getattr(entity, self.records.key))
        return self._connection.trail.known(type(entity), key) or await self.find(key)

    def _changed(self, before: E | None, after: E | None) -> None:
        if self._audited:
            key = getattr(after if after is not None else before, self.records.key)
            self._connection.trail.changed(key, before, after)


class SqlSearchedStore(SqlStore[E], SearchedStore[E]):
    """A store whose records have ``search`` fields."""

    def matching(self, search: Search) -> Rows[E]:
        return self.records.searched.rows(self._connection, search, self._entity_of)
