"""Desks in SQL."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import msgspec
from sqlalchemy import Text, and_, bindparam, delete, exists, func, null, or_, select, update

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Query, at_places, is_over, json_items, upsert
from phoneprov_adapters.sql.stores.store import SqlQueries, SqlRows
from phoneprov_adapters.sql.tables.columns import Fields, json_text
from phoneprov_adapters.sql.tables.inventory import extensions, phones, vendor_phones
from phoneprov_adapters.sql.tables.people import users
from phoneprov_adapters.sql.tables.switching import (
    current_deployments,
    deployments,
    desks,
    leases,
    profiles,
)
from phoneprov_core.features.desks.model import (
    Desk,
    DeskStore,
    ListedDesk,
    ListedDesks,
    PhoneState,
)
from phoneprov_core.features.desks.records import DeskRecord, DeskUses
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.people.users.model import User

DESK = Fields(DeskRecord, desks)
_RECORD = DESK.columns
_PHONE, _USER = Fields(Phone, phones), Fields(User, users)

_FIND = select(*_RECORD).where(desks.c.mac == bindparam("mac"))
_PUT = upsert(desks, ["mac"], *DESK.names[1:])
# Of two transactions that find no row, one waits here, and gets the row of the other.
_ADD_AND_HOLD = upsert(desks, ["mac"], mac=desks.c.mac).returning(*_RECORD)
_REMOVE = delete(desks).where(desks.c.mac == bindparam("mac")).returning(*_RECORD)
_OF = {
    name: select(*_RECORD).where(condition).order_by(desks.c.mac)
    for name, condition in {
        "user": or_(
            desks.c.user_uuid == bindparam("of"), desks.c.change_user_uuid == bindparam("of")
        ),
        "default": desks.c.default_profile_uuid == bindparam("of"),
        "extension": desks.c.extension_uuid == bindparam("of"),
    }.items()
}
_UNUSED = (
    select(*_RECORD)
    .where(
        desks.c.user_uuid.is_(None),
        desks.c.mac.in_(
            select(current_deployments.c.mac)
            .join(deployments, deployments.c.uuid == current_deployments.c.uuid)
            .where(
                current_deployments.c.owner_uuid == bindparam("owner"),
                bindparam("the_profile", type_=Text()).in_(["", deployments.c.profile_uuid]),
            )
        ),
    )
    .order_by(desks.c.mac)
)
_IS_HELD = exists().where(
    leases.c.mac == desks.c.mac,
    leases.c.holder == desks.c.change_uuid,
    ~is_over(leases.c.expires_at),
)
_UNSETTLED = (
    select(*_RECORD)
    .where(
        or_(
            desks.c.due.is_not(None),
            desks.c.until <= bindparam("now"),
            and_(desks.c.change_uuid.is_not(None), ~_IS_HELD),
        ),
        desks.c.not_before <= bindparam("now_ms"),
    )
    .order_by(desks.c.mac)
    .limit(bindparam("limit"))
)
_AT = (
    select(*_PHONE.columns, *_RECORD, *_USER.columns, vendor_phones.c.vendor)
    .select_from(
        phones.outerjoin(vendor_phones, vendor_phones.c.mac == phones.c.mac)
        .outerjoin(desks, desks.c.mac == phones.c.mac)
        .outerjoin(users, users.c.uuid == desks.c.user_uuid)
    )
    .where(phones.c.mac == bindparam("mac"))
)
# The default profile is one profile, or one of a user.
_IS_DEFAULT = desks.c.default_profile_uuid.in_(
    select(profiles.c.uuid).where(
        or_(
            profiles.c.uuid == bindparam("the_profile"),
            profiles.c.user_uuid == bindparam("of_user"),
        )
    )
)
_TO_CLEAR = select(*_RECORD).where(_IS_DEFAULT).order_by(desks.c.mac).with_for_update()
_CLEAR_DEFAULT = update(desks).where(_IS_DEFAULT).values(default_profile_uuid=null())

_DEFAULTS, _OWNERS = profiles.alias("defaults"), users.alias("owners")
_LISTED_COLUMNS = select(
    phones.c.created_at,
    phones.c.mac,
    _DEFAULTS.c.uuid,
    desks.c.hotdesk,
    desks.c.extension_uuid,
    users.c.uuid,
    users.c.username,
    profiles.c.uuid,
    desks.c.since,
    desks.c.until,
    desks.c.ends_at,
    extensions.c.extension,
    _OWNERS.c.username,
    _DEFAULTS.c.name,
    phones.c.name,
    phones.c.location,
).select_from(
    phones.outerjoin(desks, desks.c.mac == phones.c.mac)
    .outerjoin(users, users.c.uuid == desks.c.user_uuid)
    .outerjoin(profiles, profiles.c.uuid == desks.c.profile_uuid)
    .outerjoin(_DEFAULTS, _DEFAULTS.c.uuid == desks.c.default_profile_uuid)
    .outerjoin(_OWNERS, _OWNERS.c.uuid == _DEFAULTS.c.user_uuid)
    .outerjoin(extensions, extensions.c.uuid == desks.c.extension_uuid)
)
_MACS = json_items(bindparam("macs", type_=Text())).table_valued("value")
_LISTED_OF = _LISTED_COLUMNS.where(phones.c.mac.in_(select(_MACS.c.value)))
_IS_USERS = desks.c.user_uuid == bindparam("owner")
_LISTED, _LISTED_AT = (
    Query(
        _LISTED_COLUMNS,
        (phones.c.created_at, phones.c.mac),
        owner=owned,
        counted=select(func.count()).select_from(
            phones.outerjoin(desks, desks.c.mac == phones.c.mac)
        ),
    )
    for owned in (_IS_USERS, or_(_IS_USERS, at_places(phones)))
)


class SqlDesks(SqlQueries, DeskStore):
    """Desks, one row a phone."""

    def _desk(self, *row: Any) -> DeskRecord:
        return DESK.read(row, self._connection.box)

    async def find(self, mac: str) -> DeskRecord:
        desk = await self._one(self._desk, self._held(_FIND), mac=mac)
        if desk is None and self._connection.writing:
            new = DESK.row(DeskRecord(mac), self._connection.box)
            [desk] = await self._all(self._desk, _ADD_AND_HOLD, **new)
        return desk or DeskRecord(mac)

    async def of(
        self, *, user: str = "", default: str = "", extension: str = ""
    ) -> list[DeskRecord]:
        kind = "user" if user else "default" if default else "extension"
        return await self._all(self._desk, self._held(_OF[kind]), of=user or default or extension)

    async def unused(self, owner_uuid: str, profile_uuid: str = "") -> list[DeskRecord]:
        values = {"owner": owner_uuid, "the_profile": profile_uuid}
        return await self._all(self._desk, self._held(_UNUSED), **values)

    async def unsettled(self, now: str, now_ms: int, limit: int) -> list[DeskRecord]:
        values = {"now": now, "now_ms": now_ms, "limit": limit}
        return await self._all(self._desk, _UNSETTLED, **values)

    async def put(self, desk: DeskRecord) -> None:
        await self._connection.execute(_PUT, **DESK.row(desk, self._connection.box))

    async def remove(self, mac: str) -> bool:
        removed = await self._one(self._desk, _REMOVE, mac=mac)
        if removed is None or removed == DeskRecord(mac):
            return False
        self._connection.trail.changed(mac, removed, None)
        return True

    async def forget_default(self, profile_uuid: str = "", *, of_user: str = "") -> None:
        """Clear a profile, or all profiles of a user, as the default of desks, with an audit entry
        each."""
        values = {"the_profile": profile_uuid, "of_user": of_user}
        cleared = await self._all(self._desk, _TO_CLEAR, **values)
        if cleared:
            await self._connection.execute(_CLEAR_DEFAULT, **values)
        for desk in cleared:
            after = msgspec.structs.replace(desk, default_profile_uuid=None)
            self._connection.trail.changed(desk.mac, desk, after)

    async def at(self, mac: str) -> PhoneState | None:
        row = await self._connection.fetch_one(_AT, mac=mac) if mac else None
        if row is None:
            return None
        box = self._connection.box
        phone, row = _PHONE.first(row, box)
        desk, row = DESK.first(row, box)
        user, (vendor,) = _USER.first(row, box)
        assert phone is not None
        return PhoneState(phone=phone, vendor=vendor, desk=desk or DeskRecord(mac), user=user)


class SqlListedDesks(SqlRows[ListedDesk], ListedDesks):
    """The desk of every phone."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, _LISTED, _listed)

    def at(self, places: Sequence[str]) -> SqlRows[ListedDesk]:
        return SqlRows(self._connection, _LISTED_AT, _listed, places=json_text(places))

    async def of(self, macs: Sequence[str]) -> dict[str, ListedDesk]:
        rows = await self._connection.fetch_all(_LISTED_OF, macs=json_text(macs))
        return {one.mac: one for one in map(_listed, rows)}


def _listed(row: Row) -> ListedDesk:
    created_at, mac, default, hotdesk, extension, user_uuid, username, profile, *times = row[:11]
    since, until, ends_at = times
    is_used = user_uuid is not None
    desk = Desk(
        mac=mac,
        default_profile_uuid=default,
        hotdesk=hotdesk is None or hotdesk,
        extension_uuid=extension,
        user_uuid=user_uuid,
        username=username,
        profile_uuid=profile if is_used else None,
        since=since if is_used else None,
        until=until if is_used else None,
        ends_at=ends_at,
    )
    return ListedDesk(created_at, mac, desk, *row[11:])


class DeskStores:
    """The stores of desks."""

    _connection: Connection

    desks = cached_property(lambda self: SqlDesks(self._connection))
    desk_uses = cached_property(lambda self: DeskUses(self))
    listed_desks = cached_property(lambda self: SqlListedDesks(self._connection))
