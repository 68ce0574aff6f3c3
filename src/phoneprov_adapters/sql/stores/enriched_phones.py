"""Phones with their flags and KEMs, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import Select, select

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.rows import Query, SqlRows
from phoneprov_adapters.sql.tables import kems, phones, vendor_phones
from phoneprov_core.kems.model import Kem
from phoneprov_core.me.model import EnrichedPhone, enriched
from phoneprov_core.phones.model import Phone
from phoneprov_core.vendor_phones.model import VendorPhone

_PHONE = Phone.__struct_fields__
_KEM = Kem.__struct_fields__
_POSITION = (phones.c.created_at, phones.c.mac)


class _Query(Query):
    """The phones of one piece, one row per KEM and one row for a phone without: the phone, its
    flag, a KEM."""

    def _page(self, *, owned: bool, after: bool, newest_first: bool = False) -> Select[Any]:
        some = super()._page(owned=owned, after=after, newest_first=newest_first).subquery("page")
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


_QUERY = _Query(select(*[phones.c[name] for name in _PHONE]), _POSITION)


class SqlEnrichedPhones(SqlRows[EnrichedPhone]):
    """Phones with their flags and KEMs, one query per piece."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _QUERY)

    def _entities(self, rows: Sequence[Row]) -> list[EnrichedPhone]:
        return [_enriched(list(of_phone)) for _, of_phone in groupby(rows, lambda row: row[0])]


def _enriched(rows: list[Row]) -> EnrichedPhone:
    phone = Phone(*rows[0][: len(_PHONE)])
    flag = rows[0][len(_PHONE)]
    vendor = None if flag is None else VendorPhone(phone.mac, flag)
    parts = [row[len(_PHONE) + 1 :] for row in rows]
    return enriched(phone, vendor, tuple(Kem(*part) for part in parts if part[0] is not None))
