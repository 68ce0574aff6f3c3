"""Extensions, and their links to users, in SQL."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, Integer, bindparam, exists, func, not_, or_, select

from phoneprov_adapters.sql.engines.statements import Query
from phoneprov_adapters.sql.stores.features.numbers import extensions_of_users
from phoneprov_adapters.sql.stores.store import Removes, SqlRows, SqlSearchedStore, SqlStore
from phoneprov_adapters.sql.tables.inventory import (
    EXTENSIONS,
    LINKS,
    extensions,
    user_extensions,
)
from phoneprov_adapters.sql.tables.people import users
from phoneprov_adapters.sql.tables.switching import desks
from phoneprov_core.inventory.extensions import Extension, ExtensionStore, KnownNumber
from phoneprov_core.inventory.links import FullLink, Link, LinkedExtension, LinkedUser, LinkStore
from phoneprov_core.kernel.ports import Rows

_IS_OF_ANOTHER = select(
    exists().where(
        extensions.c.extension == bindparam("number"),
        ~exists().where(
            user_extensions.c.extension_uuid == extensions.c.uuid,
            user_extensions.c.user_uuid == bindparam("user_uuid"),
        ),
    )
)


_BETWEEN = (
    select(
        extensions.c.extension,
        extensions.c.uuid,
        not_(
            or_(
                extensions.c.is_active,
                exists().where(user_extensions.c.extension_uuid == extensions.c.uuid),
                exists().where(desks.c.extension_uuid == extensions.c.uuid),
            )
        ),
    )
    .where(
        # PostgreSQL parses no collation inside BETWEEN.
        extensions.c.extension >= bindparam("first"),
        extensions.c.extension <= bindparam("last"),
        func.length(extensions.c.extension) == bindparam("length", type_=Integer()),
    )
    .order_by(extensions.c.extension)
)


class SqlExtensions(SqlSearchedStore[Extension], ExtensionStore):
    """Extensions, by uuid; passwords and passcodes are encrypted."""

    records = EXTENSIONS.searched_with(people=extensions_of_users)

    async def is_of_another(self, number: str, user_uuid: str) -> bool:
        row = await self._connection.fetch_one(_IS_OF_ANOTHER, number=number, user_uuid=user_uuid)
        return row is not None and bool(row[0])

    async def between(self, first: str, last: str) -> list[KnownNumber]:
        rows = await self._connection.fetch_all(_BETWEEN, first=first, last=last, length=len(first))
        return [KnownNumber(number, uuid, bool(is_free)) for number, uuid, is_free in rows]

    def _dependents(self) -> Sequence[tuple[Removes, str]]:
        return [(SqlLinks(self._connection), "extension_uuid")]


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


class SqlLinks(SqlStore[Link], LinkStore):
    """Links, by uuid."""

    records = LINKS

    async def add(self, entity: Link) -> None:
        await super().add(entity)
        await self._connection.flush()

    @property
    def full(self) -> Rows[FullLink]:
        return SqlRows(self._connection, _FULL, lambda row: FullLink(*row))

    @property
    def extensions(self) -> Rows[LinkedExtension]:
        return SqlRows(self._connection, _EXTENSIONS, lambda row: LinkedExtension(*row))

    @property
    def users(self) -> Rows[LinkedUser]:
        return SqlRows(self._connection, _USERS, lambda row: LinkedUser(*row))
