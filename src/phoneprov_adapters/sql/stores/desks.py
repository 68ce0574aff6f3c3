"""Desks in SQL."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import and_, bindparam, delete, exists, func, null, or_, select, update

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import Query, is_over, upsert
from phoneprov_adapters.sql.stores.store import SqlQueries, SqlRows
from phoneprov_adapters.sql.tables.accounts import users
from phoneprov_adapters.sql.tables.inventory import extensions, phones, vendor_phones
from phoneprov_adapters.sql.tables.switching import desks, leases, profiles
from phoneprov_core.desk_records import DeskRecord, Due
from phoneprov_core.desks.model import Desk, ListedDesk, PhoneState
from phoneprov_core.desks.ports import DeskStore
from phoneprov_core.phones.model import Phone
from phoneprov_core.users.model import User

_FIELDS = DeskRecord.__struct_fields__
RECORD = [desks.c[name] for name in _FIELDS]
_PHONE = [phones.c[name] for name in Phone.__struct_fields__]
_USER = [users.c[name] for name in User.__struct_fields__]

_FIND = select(*RECORD).where(desks.c.mac == bindparam("mac"))
_FIND_AND_HOLD = _FIND.with_for_update()
_PUT = upsert(desks, ["mac"], *_FIELDS[1:])
# Of two transactions that find no row, one waits here, and gets the row of the other.
_ADD_AND_HOLD = upsert(desks, ["mac"], mac=desks.c.mac).returning(*RECORD)
_REMOVE = delete(desks).where(desks.c.mac == bindparam("mac")).returning(*RECORD)
_OF_USER = (
    select(*RECORD)
    .where(
        or_(
            desks.c.user_uuid == bindparam("of"),
            desks.c.change_user_uuid == bindparam("of"),
        )
    )
    .order_by(desks.c.mac)
)
_OF_DEFAULT = (
    select(*RECORD).where(desks.c.default_profile_uuid == bindparam("of")).order_by(desks.c.mac)
)
_OF_EXTENSION = (
    select(*RECORD).where(desks.c.extension_uuid == bindparam("of")).order_by(desks.c.mac)
)
_OF = {"user": _OF_USER, "default": _OF_DEFAULT, "extension": _OF_EXTENSION}
_HOLD_OF = {name: statement.with_for_update() for name, statement in _OF.items()}
_IS_HELD = exists().where(
    leases.c.mac == desks.c.mac,
    leases.c.holder == desks.c.change_uuid,
    ~is_over(leases.c.expires_at),
)
_UNSETTLED = (
    select(*RECORD)
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
    select(*_PHONE, vendor_phones.c.vendor, *RECORD, *_USER)
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
_TO_CLEAR = select(*RECORD).where(_IS_DEFAULT).order_by(desks.c.mac).with_for_update()
_CLEAR_DEFAULT = update(desks).where(_IS_DEFAULT).values(default_profile_uuid=null())

_DEFAULTS, _OWNERS = profiles.alias("defaults"), users.alias("owners")
_LISTED = Query(
    select(
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
        extensions.c.extension,
        _OWNERS.c.username,
        _DEFAULTS.c.name,
    ).select_from(
        phones.outerjoin(desks, desks.c.mac == phones.c.mac)
        .outerjoin(users, users.c.uuid == desks.c.user_uuid)
        .outerjoin(profiles, profiles.c.uuid == desks.c.profile_uuid)
        .outerjoin(_DEFAULTS, _DEFAULTS.c.uuid == desks.c.default_profile_uuid)
        .outerjoin(_OWNERS, _OWNERS.c.uuid == _DEFAULTS.c.user_uuid)
        .outerjoin(extensions, extensions.c.uuid == desks.c.extension_uuid)
    ),
    (phones.c.created_at, phones.c.mac),
    owner=desks.c.user_uuid == bindparam("owner"),
    counted=select(func.count()).select_from(phones.outerjoin(desks, desks.c.mac == phones.c.mac)),
)


class SqlDesks(SqlQueries, DeskStore):
    """Desks, one row a phone."""

    async def find(self, mac: str) -> DeskRecord:
        if not self._connection.writing:
            row = await self._connection.fetch_one(_FIND, mac=mac)
            return DeskRecord(mac) if row is None else record_of(row)
        row = await self._connection.fetch_one(_FIND_AND_HOLD, mac=mac)
        if row is None:
            [row] = await self._connection.fetch_all(_ADD_AND_HOLD, **_row(DeskRecord(mac)))
        return record_of(row)

    async def of(
        self, *, user: str = "", default: str = "", extension: str = ""
    ) -> list[DeskRecord]:
        kind = "user" if user else "default" if default else "extension"
        statement = (_HOLD_OF if self._connection.writing else _OF)[kind]
        of = user or default or extension
        return _records(await self._connection.fetch_all(statement, of=of))

    async def unsettled(self, now: str, now_ms: int, limit: int) -> list[DeskRecord]:
        values = {"now": now, "now_ms": now_ms, "limit": limit}
        return _records(await self._connection.fetch_all(_UNSETTLED, **values))

    async def put(self, desk: DeskRecord) -> None:
        await self._connection.execute(_PUT, **_row(desk))

    async def remove(self, mac: str) -> bool:
        row = await self._connection.fetch_one(_REMOVE, mac=mac)
        if row is None or record_of(row) == DeskRecord(mac):
            return False
        self._connection.trail.changed(mac, record_of(row), None)
        return True

    async def forget_default(self, profile_uuid: str = "", *, of_user: str = "") -> None:
        """Clear a profile, or those of a user, as the default of desks, with an entry for each."""
        values = {"the_profile": profile_uuid, "of_user": of_user}
        cleared = _records(await self._connection.fetch_all(_TO_CLEAR, **values))
        if cleared:
            await self._connection.execute(_CLEAR_DEFAULT, **values)
        for desk in cleared:
            after = msgspec.structs.replace(desk, default_profile_uuid=None)
            self._connection.trail.changed(desk.mac, desk, after)

    async def at(self, mac: str) -> PhoneState | None:
        row = await self._connection.fetch_one(_AT, mac=mac) if mac else None
        if row is None:
            return None
        phone = Phone(*row[: len(_PHONE)])
        vendor, rest = row[len(_PHONE)], row[len(_PHONE) + 1 :]
        record, user = rest[: len(RECORD)], rest[len(RECORD) :]
        return PhoneState(
            phone=phone,
            vendor=vendor,
            desk=DeskRecord(mac) if record[0] is None else record_of(record),
            user=None if user[0] is None else User(*user),
        )


def listed_desks(connection: Connection) -> SqlRows[ListedDesk]:
    """The desk of every phone."""
    return SqlRows(connection, _LISTED, _listed)


def _row(desk: DeskRecord) -> dict[str, object]:
    row = msgspec.structs.asdict(desk)
    row["due"] = desk.due and desk.due.value
    return row


def record_of(row: Row) -> DeskRecord:
    """The record of a row with the columns ``RECORD``."""
    values = dict(zip(_FIELDS, row, strict=True))
    values["due"] = None if values["due"] is None else Due(values["due"])
    return DeskRecord(**values)


def _records(rows: Sequence[Row]) -> list[DeskRecord]:
    return [record_of(row) for row in rows]


def _listed(row: Row) -> ListedDesk:
    created_at, mac, default, hotdesk, extension, user_uuid, username, profile, since, until = row[
        :10
    ]
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
    )
    return ListedDesk(created_at, mac, desk, *row[10:])
