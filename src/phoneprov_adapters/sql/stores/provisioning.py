"""Served files, requests for files and discovered phones in SQL."""

from collections.abc import Mapping
from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, exists, func, insert, select, update

from phoneprov_adapters.security.box import SecretBox
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Query, insert_into, upsert
from phoneprov_adapters.sql.stores.sealed import SealedColumn
from phoneprov_adapters.sql.stores.store import SqlNewestRows, SqlQueries, SqlRows
from phoneprov_adapters.sql.tables.inventory import phones
from phoneprov_adapters.sql.tables.provisioning import discovered_phones, fetches, served_files
from phoneprov_core.provisioning.model import (
    MOST_DISCOVERED,
    DiscoveredPhone,
    Fetch,
    FetchResult,
    ServedFile,
    Transport,
    with_name,
)
from phoneprov_core.provisioning.ports import DiscoveredPhoneStore, FetchStore, ServedFileStore

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

    def __init__(self, connection: Connection, box: SecretBox) -> None:
        super().__init__(connection)
        self._box = box

    async def put(self, file: ServedFile) -> None:
        row = {"name_key": file.key, "name": file.name, "attempt": file.attempt}
        row |= _CONTENT.sealed(self._box, file.content, file.key)
        await self._connection.fetch_all(_PUT_FILE, **row)

    async def find(self, name: str) -> ServedFile | None:
        key = name.lower()
        row = await self._connection.fetch_one(_FILE, name_key=key)
        if row is None:
            return None
        stored_name, key_id, data, attempt = row
        return ServedFile(stored_name, _CONTENT.opened(self._box, key_id, data, key), attempt)

    async def attempts(self) -> Mapping[str, str]:
        rows = await self._connection.fetch_all(_ATTEMPTS)
        return dict(tuple(row) for row in rows)

    async def remove_of(self, mac: str) -> bool:
        digits = mac.replace(":", "").lower()
        if not digits.isalnum():
            return False
        return bool(await self._connection.fetch_all(_REMOVE_FILES, digits=digits))


_FETCH_COLUMNS = [fetches.c[name] for name in Fetch.__struct_fields__]
_ADD_FETCH = insert(fetches)
_FIND_FETCH = select(*_FETCH_COLUMNS).where(fetches.c.uuid == bindparam("uuid"))
_OF_PHONE = Query(
    select(*_FETCH_COLUMNS).where(fetches.c.mac == bindparam("mac")),
    (fetches.c.created_at, fetches.c.uuid),
)


class SqlFetches(SqlQueries, FetchStore):
    """Requests for files, by uuid."""

    async def add(self, fetch: Fetch) -> None:
        await self._connection.execute(_ADD_FETCH, **msgspec.to_builtins(fetch))

    async def newest(self, mac: str, limit: int, *, before: str | None = None) -> list[Fetch]:
        last = None
        if before is not None:
            row = await self._connection.fetch_one(_FIND_FETCH, uuid=before)
            if row is None:
                return []
            last = _fetch(row)
        of_phone = SqlNewestRows(self._connection, _OF_PHONE, _fetch, mac=mac)
        return await of_phone.newest(limit, before=last)


def _fetch(row: Row) -> Fetch:
    fields = dict(zip(Fetch.__struct_fields__, row, strict=True))
    fields["transport"] = Transport(fields["transport"])
    fields["result"] = FetchResult(fields["result"])
    return Fetch(**fields)


_PHONE_COLUMNS = [discovered_phones.c[name] for name in DiscoveredPhone.__struct_fields__]
_OUTSIDE = ~exists().where(phones.c.mac == discovered_phones.c.mac)
_DISCOVERED = Query(
    select(*_PHONE_COLUMNS).where(_OUTSIDE),
    (discovered_phones.c.first_seen_at, discovered_phones.c.mac),
    counted=select(func.count()).select_from(discovered_phones).where(_OUTSIDE),
)
_HOLD = select(*_PHONE_COLUMNS).where(discovered_phones.c.mac == bindparam("mac")).with_for_update()
_FIND_PHONE = select(*_PHONE_COLUMNS).where(_OUTSIDE, discovered_phones.c.mac == bindparam("mac"))
_UPDATE: Any = (
    update(discovered_phones)
    .where(discovered_phones.c.mac == bindparam("the_mac"))
    .values({name: bindparam(name) for name in ("client_ip", "model", "last_seen_at", "names")})
)
# Another transaction may delete the same rows at the same time; it skips those held here.
_FORGET_OLDEST = delete(discovered_phones).where(
    discovered_phones.c.mac.in_(
        select(discovered_phones.c.mac)
        .order_by(discovered_phones.c.last_seen_at.desc(), discovered_phones.c.mac.desc())
        .offset(MOST_DISCOVERED)
        .limit(100)
        .with_for_update(skip_locked=True)
    )
)
_ADD_PHONE = (
    insert_into(discovered_phones)
    .on_conflict_do_nothing(index_elements=["mac"])
    .returning(discovered_phones.c.mac)
)


class SqlDiscoveredPhones(SqlRows[DiscoveredPhone], DiscoveredPhoneStore):
    """Discovered phones, by MAC."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _DISCOVERED, _phone)

    async def find(self, mac: str) -> DiscoveredPhone | None:
        row = await self._connection.fetch_one(_FIND_PHONE, mac=mac)
        return None if row is None else _phone(row)

    async def see(self, mac: str, client_ip: str, model: str | None, name: str, now: str) -> None:
        values = {"client_ip": client_ip, "last_seen_at": now}
        new = {"mac": mac, "model": model, "first_seen_at": now, "names": _text((name,))}
        if await self._connection.fetch_all(_ADD_PHONE, **values, **new):
            await self._connection.fetch_all(_FORGET_OLDEST)
            return
        row = await self._connection.fetch_one(_HOLD, mac=mac)
        if row is None:
            return
        before = _phone(row)
        seen = {"model": model or before.model, "names": _text(with_name(before.names, name))}
        await self._connection.fetch_all(_UPDATE, the_mac=mac, **values, **seen)


def _text(names: tuple[str, ...]) -> str:
    return msgspec.json.encode(names).decode()


def _phone(row: Row) -> DiscoveredPhone:
    fields = dict(zip(DiscoveredPhone.__struct_fields__, row, strict=True))
    fields["names"] = msgspec.json.decode(fields["names"], type=tuple[str, ...])
    return DiscoveredPhone(**fields)
