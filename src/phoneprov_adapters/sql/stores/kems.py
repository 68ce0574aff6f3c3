"""Key expansion modules in SQL."""

from __future__ import annotations

import msgspec
from sqlalchemy import bindparam, null, update

from phoneprov_adapters.sql.stores.store import Records, SqlStore
from phoneprov_adapters.sql.tables import kems
from phoneprov_core.kems.model import Kem, KemStore

_DISCONNECT = (
    update(kems)
    .where(kems.c.connected_phone == bindparam("phone_mac"))
    .values(connected_phone=null())
    .returning(*[kems.c[name] for name in Kem.__struct_fields__])
)


class SqlKems(SqlStore[Kem], KemStore):
    """KEMs, by uuid."""

    records = Records(Kem, kems, one_name="KEM")

    async def disconnect(self, phone_mac: str) -> None:
        for row in await self._connection.rows(_DISCONNECT, phone_mac=phone_mac):
            kem = self._entity_of(row)
            self._changed(msgspec.structs.replace(kem, connected_phone=phone_mac), kem)
