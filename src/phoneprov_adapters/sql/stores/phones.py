"""Phones in SQL."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlalchemy import Text, bindparam, exists, select

from phoneprov_adapters.sql.engines.statements import json_items
from phoneprov_adapters.sql.stores.store import Records, SqlSearchedStore
from phoneprov_adapters.sql.tables import phones
from phoneprov_core.phones.model import Phone
from phoneprov_core.phones.ports import PhoneStore
from phoneprov_core.phones.search import PHONE_FIELDS

_MACS = json_items(bindparam("macs", type_=Text())).table_valued("value")
_UNKNOWN = select(_MACS.c.value).where(~exists().where(phones.c.mac == _MACS.c.value))


class SqlPhones(SqlSearchedStore[Phone], PhoneStore):
    """Phones, by MAC."""

    records = Records(Phone, phones, key="mac", one_name="phone", search=PHONE_FIELDS)

    async def unknown(self, macs: Sequence[str]) -> list[str]:
        text = msgspec.json.encode(macs).decode()
        unknown = {row[0] for row in await self._connection.rows(_UNKNOWN, macs=text)}
        return [mac for mac in macs if mac in unknown]
