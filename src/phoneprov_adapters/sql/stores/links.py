"""Links between users and extensions in SQL."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

from msgspec import Struct
from sqlalchemy import ColumnElement, Select, bindparam, delete, func, insert, select

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import Statement, page
from phoneprov_adapters.sql.stores.store import write
from phoneprov_adapters.sql.tables import extensions, user_extensions, users
from phoneprov_core.links.model import FullLink, Link, LinkedExtension, LinkedUser
from phoneprov_core.links.ports import LinkRows, LinkStore

E = TypeVar("E", bound=Struct)

_ADD = insert(user_extensions)
_REMOVE = (
    delete(user_extensions)
    .where(user_extensions.c.uuid == bindparam("uuid"))
    .returning(*[user_extensions.c[name] for name in Link.__struct_fields__])
)
_OF_USER = {name: users.c[name] for name in ("username", "first_name", "last_name")}
_OF_EXTENSION = {
    "extension": extensions.c.extension,
    "ext_name": extensions.c.name,
    "type": extensions.c.type,
}
_OF_LINK = {name: user_extensions.c[name] for name in Link.__struct_fields__}
_POSITION = (user_extensions.c.created_at, user_extensions.c.uuid)


class _Joined(Generic[E]):
    """The statements that read links with one view of their ends, built once.

    Only the tables that the view needs are joined. ``owner`` is the column of the link with its
    owner.
    """

    def __init__(self, view: Callable[..., E], *, owner: str) -> None:
        self.view = view
        fields: tuple[str, ...] = view.__struct_fields__  # type: ignore[attr-defined]
        columns: dict[str, ColumnElement[Any]] = {**_OF_LINK, **_OF_USER, **_OF_EXTENSION}
        read = select(*[columns[name] for name in fields]).select_from(user_extensions)
        if _OF_USER.keys() & set(fields):
            read = read.join(users, users.c.uuid == user_extensions.c.user_uuid)
        if _OF_EXTENSION.keys() & set(fields):
            read = read.join(extensions, extensions.c.uuid == user_extensions.c.extension_uuid)
        self._read = read
        self._owner = user_extensions.c[owner]
        self.rows = cache(self._rows)
        self.count = cache(self._count)

    def _rows(self, *, owned: bool, after: bool) -> Statement:
        return page(self._narrowed(self._read, owned), _POSITION, after=after)

    def _count(self, *, owned: bool) -> Statement:
        return self._narrowed(select(func.count()).select_from(user_extensions), owned)

    def _narrowed(self, statement: Select[Any], owned: bool) -> Select[Any]:
        return statement.where(self._owner == bindparam("owner")) if owned else statement


_FULL = _Joined(FullLink, owner="user_uuid")
_EXTENSIONS = _Joined(LinkedExtension, owner="user_uuid")
_USERS = _Joined(LinkedUser, owner="extension_uuid")


class _SqlLinkRows(LinkRows[E]):
    def __init__(self, connection: Connection, joined: _Joined[E]) -> None:
        self._connection = connection
        self._joined = joined

    async def count(self, owner: str | None = None) -> int:
        values = {} if owner is None else {"owner": owner}
        row = await self._connection.row(self._joined.count(owned=owner is not None), **values)
        return int(row[0]) if row else 0

    async def rows(
        self, limit: int, *, after: E | None = None, offset: int = 0, owner: str | None = None
    ) -> list[E]:
        statement = self._joined.rows(owned=owner is not None, after=after is not None)
        values: dict[str, Any] = {"limit": limit, "offset": offset}
        if owner is not None:
            values["owner"] = owner
        if after is not None:
            values["after_time"] = after.created_at  # type: ignore[attr-defined]
            values["after_key"] = after.uuid  # type: ignore[attr-defined]
        found = await self._connection.rows(statement, **values)
        return [self._joined.view(*row) for row in found]


class SqlLinks(LinkStore):
    """Links, by uuid."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, link: Link) -> None:
        row = {name: getattr(link, name) for name in link.__struct_fields__}
        await write(self._connection, _ADD, row)
        self._connection.trail.changed(link.uuid, None, link)

    async def remove(self, uuid: str) -> bool:
        removed = await self._connection.rows(_REMOVE, uuid=uuid)
        for row in removed:
            self._connection.trail.changed(uuid, Link(*row), None)
        return bool(removed)

    @cached_property
    def full(self) -> LinkRows[FullLink]:
        return _SqlLinkRows(self._connection, _FULL)

    @cached_property
    def extensions(self) -> LinkRows[LinkedExtension]:
        return _SqlLinkRows(self._connection, _EXTENSIONS)

    @cached_property
    def users(self) -> LinkRows[LinkedUser]:
        return _SqlLinkRows(self._connection, _USERS)
