"""Links between users and extensions in SQL."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, bindparam, delete, insert, select

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.stores.rows import Query, SqlRows
from phoneprov_adapters.sql.tables import extensions, user_extensions, users
from phoneprov_core.kernel.store import Rows
from phoneprov_core.links.model import FullLink, Link, LinkedExtension, LinkedUser, LinkStore

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


def _query(view: type[Struct], *, owner: str) -> Query:
    """Links with one view of their ends. Only the tables that the view needs are joined; ``owner``
    is the column of the link with its owner."""
    fields = view.__struct_fields__
    columns: dict[str, ColumnElement[Any]] = {**_OF_LINK, **_OF_USER, **_OF_EXTENSION}
    read = select(*[columns[name] for name in fields]).select_from(user_extensions)
    if _OF_USER.keys() & set(fields):
        read = read.join(users, users.c.uuid == user_extensions.c.user_uuid)
    if _OF_EXTENSION.keys() & set(fields):
        read = read.join(extensions, extensions.c.uuid == user_extensions.c.extension_uuid)
    position = (user_extensions.c.created_at, user_extensions.c.uuid)
    return Query(read, position, owner=user_extensions.c[owner] == bindparam("owner"))


_FULL = _query(FullLink, owner="user_uuid")
_EXTENSIONS = _query(LinkedExtension, owner="user_uuid")
_USERS = _query(LinkedUser, owner="extension_uuid")


class SqlLinks(LinkStore):
    """Links, by uuid."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(self, link: Link) -> None:
        row = {name: getattr(link, name) for name in link.__struct_fields__}
        await self._connection.rows(_ADD, **row)
        self._connection.trail.changed(link.uuid, None, link)

    async def remove(self, uuid: str) -> bool:
        removed = await self._connection.rows(_REMOVE, uuid=uuid)
        for row in removed:
            self._connection.trail.changed(uuid, Link(*row), None)
        return bool(removed)

    @property
    def full(self) -> Rows[FullLink]:
        return SqlRows(self._connection, _FULL, lambda row: FullLink(*row))

    @property
    def extensions(self) -> Rows[LinkedExtension]:
        return SqlRows(self._connection, _EXTENSIONS, lambda row: LinkedExtension(*row))

    @property
    def users(self) -> Rows[LinkedUser]:
        return SqlRows(self._connection, _USERS, lambda row: LinkedUser(*row))
