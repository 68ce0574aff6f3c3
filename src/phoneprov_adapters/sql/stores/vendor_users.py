"""PINs in SQL."""

from __future__ import annotations

from functools import cache

from sqlalchemy import bindparam, delete, select

from phoneprov_adapters.sql.engines.connection import Connection, InsertFactory
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.tables import vendor_users
from phoneprov_core.vendor_users.model import VendorUser, VendorUserStore

_COLUMNS = [vendor_users.c[name] for name in VendorUser.__struct_fields__]
_OF_USER = select(*_COLUMNS).where(vendor_users.c.user_uuid == bindparam("user_uuid"))
_REMOVE = (
    delete(vendor_users)
    .where(vendor_users.c.user_uuid == bindparam("user_uuid"))
    .returning(*_COLUMNS)
)


@cache
def _save(insert: InsertFactory) -> Statement:
    statement = insert(vendor_users)
    return statement.on_conflict_do_update(
        index_elements=["user_uuid"], set_={"pin_code": statement.excluded.pin_code}
    ).returning(*_COLUMNS)


class SqlVendorUsers(VendorUserStore):
    """PINs, by user."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def of_user(self, user_uuid: str) -> VendorUser | None:
        row = await self._connection.row(_OF_USER, user_uuid=user_uuid)
        return None if row is None else VendorUser(*row)

    async def save(self, vendor_user: VendorUser) -> VendorUser:
        row = {name: getattr(vendor_user, name) for name in vendor_user.__struct_fields__}
        (kept,) = await self._connection.rows(_save(self._connection.insert), **row)
        saved = VendorUser(*kept)
        # A record that existed keeps its uuid. The PIN counts as changed even if it is the same.
        before = None if saved.uuid == vendor_user.uuid else saved
        self._connection.trail.changed(
            saved.user_uuid, before, saved, secrets=("pin_code",) if before else ()
        )
        return saved

    async def remove(self, user_uuid: str) -> bool:
        removed = await self._connection.rows(_REMOVE, user_uuid=user_uuid)
        for row in removed:
            self._connection.trail.changed(user_uuid, VendorUser(*row), None)
        return bool(removed)
