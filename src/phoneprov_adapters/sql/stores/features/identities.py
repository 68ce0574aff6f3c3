"""Identities at a provider in SQL."""

from functools import cached_property

from sqlalchemy import bindparam, select

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.stores.store import SqlStore
from phoneprov_adapters.sql.tables.people import IDENTITIES
from phoneprov_core.features.identities.model import Identity, IdentityStore

_TABLE = IDENTITIES.table
_OF = select(*IDENTITIES.fields.columns).where(
    _TABLE.c.issuer == bindparam("issuer"), _TABLE.c.subject == bindparam("subject")
)
_IS_LINKED = select(_TABLE.c.uuid).where(
    _TABLE.c.user_uuid == bindparam("user_uuid"), _TABLE.c.issuer == bindparam("issuer")
)


class SqlIdentities(SqlStore[Identity], IdentityStore):
    """Identities, found by what the provider states."""

    records = IDENTITIES

    async def of(self, issuer: str, subject: str) -> Identity | None:
        return await self._found(_OF, issuer=issuer, subject=subject)

    async def is_linked(self, user_uuid: str, issuer: str) -> bool:
        found = await self._one(str, _IS_LINKED, user_uuid=user_uuid, issuer=issuer)
        return found is not None


class IdentityStores:
    """The stores of sign-in with a provider."""

    _connection: Connection

    identities = cached_property(lambda self: SqlIdentities(self._connection))
