"""Served files, requests for files and discovered phones in SQL."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Delete,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    update,
)

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import Query, insert_into, upsert
from phoneprov_adapters.sql.stores.store import SqlNewestRows, SqlQueries, SqlRows, reader
from phoneprov_adapters.sql.tables.columns import Fields, SealedColumn, json_text
from phoneprov_adapters.sql.tables.inventory import discovered_phones, fetches, phones, served_files
from phoneprov_core.features.serving.model import (
    MOST_DISCOVERED,
    MOST_OF_ADDRESS,
    DiscoveredPhone,
    DiscoveredPhoneStore,
    Fetch,
    FetchStore,
    ServedFile,
    ServedFileStore,
    with_name,
)
from phoneprov_core.kernel.values import address_key

_CONTENT = SealedColumn(served_files, "content")
_FILE = select(
    served_files.c.name,
    served_files.c.content_key_id,
    served_files.c.content_sealed,
    served_files.c.attempt,
).where(served_files.c.name_key == bindparam("name_key"))
_PUT_FILE = upsert(
    served_files, ["name_key"], "name", "content_sealed", "content_key_id", "attempt"
)
_ATTEMPTS = select(served_files.c.name_key, served_files.c.attempt)
_REMOVE_FILES = (
    delete(served_files)
    .where(served_files.c.name_key.contains(bindparam("digits")))
    .returning(served_files.c.name_key)
)


class SqlServedFiles(SqlQueries, ServedFileStore):
    """Served files, by name."""

    async def put(self, file: ServedFile) -> None:
        row = {"name_key": file.key, "name": file.name, "attempt": file.attempt}
        row |= _CONTENT.seal(self._connection.box, file.content, file.key)
        await self._connection.fetch_all(_PUT_FILE, **row)

    async def find(self, name: str) -> ServedFile | None:
        key = name.lower()
        row = await self._connection.fetch_one(_FILE, name_key=key)
        if row is None:
            return None
        stored_name, key_id, data, attempt = row
        content = _CONTENT.open(self._connection.box, key_id, data, key)
        return ServedFile(stored_name, content, attempt)

    async def attempts(self) -> Mapping[str, str]:
        return dict(await self._all(lambda *row: row, _ATTEMPTS))

    async def remove_of(self, mac: str) -> bool:
        digits = mac.replace(":", "").lower()
        if not digits.isalnum():
            return False
        return bool(await self._connection.fetch_all(_REMOVE_FILES, digits=digits))


_FETCH = Fields(Fetch, fetches)
_ADD_FETCH = insert(fetches)
_FIND_FETCH = select(*_FETCH.columns).where(fetches.c.uuid == bindparam("uuid"))
_OF_PHONE = Query(
    select(*_FETCH.columns).where(fetches.c.mac == bindparam("mac")),
    (fetches.c.created_at, fetches.c.uuid),
)


class SqlFetches(SqlQueries, FetchStore):
    """Requests for files, by uuid."""

    async def add(self, fetch: Fetch) -> None:
        await self._connection.execute(_ADD_FETCH, **_FETCH.row(fetch, self._connection.box))

    async def newest(self, mac: str, limit: int, *, before: str | None = None) -> list[Fetch]:
        read = reader(_FETCH, self._connection.box)
        last = None
        if before is not None:
            row = await self._connection.fetch_one(_FIND_FETCH, uuid=before)
            if row is None:
                return []
            last = read(row)
        return await SqlNewestRows(self._connection, _OF_PHONE, read, mac=mac).newest(
            limit, before=last
        )


_PHONE = Fields(DiscoveredPhone, discovered_phones)
_OUTSIDE = ~exists().where(phones.c.mac == discovered_phones.c.mac)
_DISCOVERED = Query(
    select(*_PHONE.columns).where(_OUTSIDE),
    (discovered_phones.c.first_seen_at, discovered_phones.c.mac),
    counted=select(func.count()).select_from(discovered_phones).where(_OUTSIDE),
)
_HOLD = select(*_PHONE.columns).where(discovered_phones.c.mac == bindparam("mac")).with_for_update()
_FIND_PHONE = select(*_PHONE.columns).where(_OUTSIDE, discovered_phones.c.mac == bindparam("mac"))
_SEEN = ("client_ip", "model", "last_seen_at", "names", "other_addresses")
_UPDATE: Any = (
    update(discovered_phones)
    .where(discovered_phones.c.mac == bindparam("the_mac"))
    .values({name: bindparam(name) for name in _SEEN})
)


def _forget_oldest(most: int, *of: ColumnElement[bool]) -> Delete:
    # Another transaction may delete the same rows at the same time; it skips the rows held here.
    return delete(discovered_phones).where(
        discovered_phones.c.mac.in_(
            select(discovered_phones.c.mac)
            .where(*of)
            .order_by(discovered_phones.c.last_seen_at.desc(), discovered_phones.c.mac.desc())
            .offset(most)
            .limit(100)
            .with_for_update(skip_locked=True)
        )
    )


_OF_ADDRESS = discovered_phones.c.discovered_by == bindparam("address")
_FORGET_OF_ADDRESS = _forget_oldest(MOST_OF_ADDRESS, _OF_ADDRESS)
_FORGET_OLDEST = _forget_oldest(MOST_DISCOVERED)
_ADD_PHONE = (
    insert_into(discovered_phones)
    .on_conflict_do_nothing(index_elements=["mac"])
    .returning(discovered_phones.c.mac)
)


class SqlDiscoveredPhones(SqlRows[DiscoveredPhone], DiscoveredPhoneStore):
    """Discovered phones, by MAC."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _DISCOVERED, reader(_PHONE, connection.box))

    async def find(self, mac: str) -> DiscoveredPhone | None:
        return await self._one(self._phone, _FIND_PHONE, mac=mac)

    async def see(self, mac: str, client_ip: str, model: str | None, name: str, now: str) -> None:
        values = {"client_ip": client_ip, "last_seen_at": now}
        address = address_key(client_ip)
        new = {"mac": mac, "model": model, "first_seen_at": now, "names": json_text((name,))}
        new |= {"discovered_by": address, "other_addresses": json_text(())}
        if await self._connection.fetch_all(_ADD_PHONE, **values, **new):
            await self._connection.fetch_all(_FORGET_OF_ADDRESS, address=address)
            await self._connection.fetch_all(_FORGET_OLDEST)
            return
        before = await self._one(self._phone, _HOLD, mac=mac)
        if before is None:
            return
        seen = {"model": model or before.model, "names": json_text(with_name(before.names, name))}
        seen["other_addresses"] = json_text(before.others_than(client_ip))
        await self._connection.fetch_all(_UPDATE, the_mac=mac, **values, **seen)

    def _phone(self, *row: Any) -> DiscoveredPhone:
        return _PHONE.read(row, self._connection.box)


class ServingStores:
    """The stores of files for phones."""

    _connection: Connection

    served_files = cached_property(lambda self: SqlServedFiles(self._connection))
    fetches = cached_property(lambda self: SqlFetches(self._connection))
    discovered_phones = cached_property(lambda self: SqlDiscoveredPhones(self._connection))
