"""Phones in SQL."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from sqlalchemy import Text, bindparam, exists, func, select

from phoneprov_adapters.sql.engines.statements import json_items
from phoneprov_adapters.sql.stores.store import Records, SqlSearchedStore
from phoneprov_adapters.sql.tables import deployments, desks, phones
from phoneprov_core.phones.model import PHONE_FIELDS, Phone
from phoneprov_core.phones.ports import PhoneStore

_MACS = json_items(bindparam("macs", type_=Text())).table_valued("value")
_UNKNOWN = select(_MACS.c.value).where(~exists().where(phones.c.mac == _MACS.c.value))


_OF_PHONE = deployments.c.mac == bindparam("mac")
_LAST = {
    "last_outcome": func.coalesce(
        select(deployments.c.outcome)
        .where(_OF_PHONE)
        .order_by(deployments.c.number.desc())
        .limit(1)
        .scalar_subquery(),
        "none",
    ),
    "last_number": select(func.max(deployments.c.number)).where(_OF_PHONE).scalar_subquery(),
}
"""A MAC may have deployments before it is in the inventory: from a phone that was deleted."""

_USED = select(desks.c.mac).where(desks.c.user_uuid == bindparam("only_user_uuid"))


class SqlPhones(SqlSearchedStore[Phone], PhoneStore):
    """Phones, by MAC."""

    records = Records(
        Phone,
        phones,
        key="mac",
        one_name="phone",
        search=PHONE_FIELDS,
        conditions={"user_uuid": phones.c.mac.in_(_USED)},
        derived=_LAST,
    )

    async def unknown(self, macs: Sequence[str]) -> list[str]:
        text = msgspec.json.encode(macs).decode()
        unknown = {row[0] for row in await self._connection.rows(_UNKNOWN, macs=text)}
        return [mac for mac in macs if mac in unknown]
