"""Phones with their flags and KEMs, in SQL."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import Any

from sqlalchemy import func, select

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Statement, page
from phoneprov_adapters.sql.tables import kems, phones, vendor_phones
from phoneprov_core.kems.model import Kem
from phoneprov_core.me.model import EnrichedPhone, enriched
from phoneprov_core.me.ports import EnrichedPhoneStore
from phoneprov_core.phones.model import Phone
from phoneprov_core.vendor_phones.model import VendorPhone

_PHONE = Phone.__struct_fields__
_KEM = Kem.__struct_fields__
_COUNT = select(func.count()).select_from(phones)


@cache
def _rows(*, after: bool) -> Statement:
    """The phones of one piece, one row per KEM and one row for a phone without: the phone, its
    flag, a KEM."""
    position = (phones.c.created_at, phones.c.mac)
    piece = select(*[phones.c[name] for name in _PHONE])
    some = page(piece, position, after=after).subquery("page")
    return (
        select(
            *[some.c[name] for name in _PHONE],
            vendor_phones.c.vendor,
            *[kems.c[name] for name in _KEM],
        )
        .select_from(some)
        .outerjoin(vendor_phones, vendor_phones.c.mac == some.c.mac)
        .outerjoin(kems, kems.c.connected_phone == some.c.mac)
        .order_by(some.c.created_at, some.c.mac, kems.c.created_at, kems.c.uuid)
    )


class SqlEnrichedPhones(EnrichedPhoneStore):
    """Phones with their flags and KEMs, one query per piece."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def count(self, owner: str | None = None) -> int:
        assert owner is None, "phones have no owner"
        row = await self._connection.row(_COUNT)
        return int(row[0]) if row else 0

    async def rows(
        self,
        limit: int,
        *,
        after: EnrichedPhone | None = None,
        offset: int = 0,
        owner: str | None = None,
    ) -> list[EnrichedPhone]:
        assert owner is None, "phones have no owner"
        values: dict[str, Any] = {"limit": limit, "offset": offset}
        if after is not None:
            values["after_time"] = after.created_at
            values["after_key"] = after.mac
        found = await self._connection.rows(_rows(after=after is not None), **values)
        return [_enriched(list(rows)) for _, rows in groupby(found, lambda row: row[0])]


def _enriched(rows: list[Row]) -> EnrichedPhone:
    phone = Phone(*rows[0][: len(_PHONE)])
    flag = rows[0][len(_PHONE)]
    vendor = None if flag is None else VendorPhone(phone.mac, flag)
    parts = [row[len(_PHONE) + 1 :] for row in rows]
    return enriched(phone, vendor, tuple(Kem(*part) for part in parts if part[0] is not None))
