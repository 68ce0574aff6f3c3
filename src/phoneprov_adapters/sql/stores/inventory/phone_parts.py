"""Expansion modules of phones, their vendor flags, and phones with both, in SQL."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import msgspec
from sqlalchemy import (
    Select,
    bindparam,
    null,
    select,
    update,
)

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Query, upsert
from phoneprov_adapters.sql.stores.inventory.phones import SqlPhones
from phoneprov_adapters.sql.stores.store import SqlRows, SqlStore
from phoneprov_adapters.sql.tables.inventory import (
    KEMS,
    VENDOR_PHONES,
    kems,
    phones,
    vendor_phones,
)
from phoneprov_core.inventory.phone_parts import (
    Kem,
    KemStore,
    VendorPhone,
    VendorPhoneRecord,
    VendorPhoneStore,
)
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.phones.use_cases import EnrichedPhone, enriched

_DISCONNECT = (
    update(kems)
    .where(kems.c.connected_phone == bindparam("phone_mac"))
    .values(connected_phone=null())
    .returning(*KEMS.fields.columns)
)


class SqlKems(SqlStore[Kem], KemStore):
    """KEMs, by uuid; their owner is the connected phone."""

    records = KEMS

    async def disconnect(self, phone_mac: str) -> None:
        for row in await self._connection.fetch_all(_DISCONNECT, phone_mac=phone_mac):
            kem = self._entity_of(row)
            self._changed(msgspec.structs.replace(kem, connected_phone=phone_mac), kem)


_SAVE_FLAG = upsert(vendor_phones, ["mac"], "vendor")


class SqlVendorPhones(SqlStore[VendorPhoneRecord], VendorPhoneStore):
    """Flags, by MAC."""

    records = VENDOR_PHONES

    async def save(self, record: VendorPhoneRecord) -> None:
        before = await self._before(record)
        await self._connection.fetch_all(_SAVE_FLAG, **self._row_of(record))
        self._changed(before, record)


_PHONE, _KEM = SqlPhones.records.fields, KEMS.fields


class _EnrichedQuery(Query):
    """The phones of one piece, one row per KEM and one row for a phone without: the phone, its
    flag, a KEM."""

    def _page(self, *, owned: bool, after: bool, newest_first: bool = False) -> Select[Any]:
        some = super()._page(owned=owned, after=after, newest_first=newest_first).subquery("page")
        return (
            select(
                *[some.c[name] for name in _PHONE.names],
                vendor_phones.c.vendor,
                *_KEM.columns,
            )
            .select_from(some)
            .outerjoin(vendor_phones, vendor_phones.c.mac == some.c.mac)
            .outerjoin(kems, kems.c.connected_phone == some.c.mac)
            .order_by(some.c.created_at, some.c.mac, kems.c.created_at, kems.c.uuid)
        )


_ENRICHED = _EnrichedQuery(select(*_PHONE.columns), (phones.c.created_at, phones.c.mac))


class SqlEnrichedPhones(SqlRows[EnrichedPhone]):
    """Phones with their flags and KEMs, one query per piece."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _ENRICHED)

    def _entities(self, rows: Sequence[Row]) -> list[EnrichedPhone]:
        return [_enriched(list(of_phone)) for _, of_phone in groupby(rows, lambda row: row[0])]


def _enriched(rows: list[Row]) -> EnrichedPhone:
    size = len(_PHONE.columns)
    phone, flag = Phone(*rows[0][:size]), rows[0][size]
    vendor = None if flag is None else VendorPhone(phone.mac, flag)
    parts = [row[size + 1 :] for row in rows]
    return enriched(phone, vendor, tuple(Kem(*part) for part in parts if part[0] is not None))
