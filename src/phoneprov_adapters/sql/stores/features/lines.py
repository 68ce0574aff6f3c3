"""Lines of phones, and drills, in SQL."""

from functools import cached_property
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    exists,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.sql.selectable import FromClause

from phoneprov_adapters.sql.engines.connection import Connection
from phoneprov_adapters.sql.engines.statements import Query
from phoneprov_adapters.sql.stores.features.desks import DESK
from phoneprov_adapters.sql.stores.features.numbers import SqlNumbers
from phoneprov_adapters.sql.stores.store import SqlNewestRows, SqlQueries, reader
from phoneprov_adapters.sql.tables.columns import Fields
from phoneprov_adapters.sql.tables.inventory import drills, extensions, phones, user_extensions
from phoneprov_adapters.sql.tables.people import users
from phoneprov_adapters.sql.tables.switching import current_deployments, deployments, desks
from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.features.lines.drills import KNOWN, Drill, DrillStore
from phoneprov_core.features.lines.model import LineStore, Number, PhoneNumbers, UsedPhone
from phoneprov_core.inventory.extensions import CHAN_SCCP
from phoneprov_core.inventory.phones.model import Phone

_own = extensions.alias("own")
_PHONE = Fields(Phone, phones)


def _number(table: FromClause) -> list[ColumnElement[Any]]:
    return [table.c.extension, table.c.name, table.c.voicemail]


def _is_line(table: FromClause) -> ColumnElement[bool]:
    return and_(table.c.type == bindparam("kind"), table.c.is_active)


_USED_BY = (
    phones.outerjoin(desks, desks.c.mac == phones.c.mac)
    .outerjoin(current_deployments, current_deployments.c.mac == phones.c.mac)
    .outerjoin(_own, and_(_own.c.uuid == desks.c.extension_uuid, _is_line(_own)))
)
_USED = [
    *_PHONE.columns,
    *DESK.columns,
    current_deployments.c.owner_uuid,
    current_deployments.c.created_at,
    *_number(_own),
]
_LINKS = (
    _USED_BY.outerjoin(
        user_extensions,
        or_(
            user_extensions.c.user_uuid == desks.c.user_uuid,
            user_extensions.c.user_uuid == current_deployments.c.owner_uuid,
        ),
    )
    .outerjoin(users, and_(users.c.uuid == user_extensions.c.user_uuid, users.c.is_active))
    .outerjoin(
        extensions,
        and_(extensions.c.uuid == user_extensions.c.extension_uuid, _is_line(extensions)),
    )
)
AT: Select[Any] = (
    select(*_USED, users.c.uuid, *_number(extensions))
    .select_from(_LINKS)
    .where(phones.c.mac == bindparam("mac"))
    .order_by(user_extensions.c.created_at, user_extensions.c.uuid)
)
FIND: Select[Any] = select(*_number(extensions), extensions.c.uuid).where(
    extensions.c.extension == bindparam("number"), _is_line(extensions)
)
_of_extension = user_extensions.c.extension_uuid == extensions.c.uuid
HELD: Select[Any] = FIND.where(
    or_(
        ~exists().where(_of_extension),
        exists().where(
            _of_extension, users.c.uuid == user_extensions.c.user_uuid, users.c.is_active
        ),
    )
)
LANGUAGES: Select[Any] = (
    select(users.c.lang)
    .distinct()
    .select_from(
        extensions.join(
            user_extensions, user_extensions.c.extension_uuid == extensions.c.uuid
        ).join(users, and_(users.c.uuid == user_extensions.c.user_uuid, users.c.is_active))
    )
    .where(extensions.c.extension == bindparam("number"), _is_line(extensions))
)
OF_USER: Select[Any] = (
    select(*_number(extensions))
    .select_from(
        user_extensions.join(
            users, and_(users.c.uuid == user_extensions.c.user_uuid, users.c.is_active)
        ).join(
            extensions,
            and_(extensions.c.uuid == user_extensions.c.extension_uuid, _is_line(extensions)),
        )
    )
    .where(user_extensions.c.user_uuid == bindparam("user"))
    .order_by(user_extensions.c.created_at, user_extensions.c.uuid)
)
PHONES_OF: Select[Any] = (
    select(*_USED)
    .select_from(_USED_BY)
    .where(
        phones.c.mac.in_(
            select(desks.c.mac)
            .where(desks.c.user_uuid == bindparam("user"))
            .union(
                select(current_deployments.c.mac).where(
                    current_deployments.c.owner_uuid == bindparam("user")
                )
            )
        )
    )
    .order_by(phones.c.mac)
)
_USERS = (
    select(user_extensions.c.user_uuid)
    .select_from(
        user_extensions.join(
            extensions,
            and_(extensions.c.uuid == user_extensions.c.extension_uuid, _is_line(extensions)),
        ).join(users, and_(users.c.uuid == user_extensions.c.user_uuid, users.c.is_active))
    )
    .where(extensions.c.extension == bindparam("number"))
)
_ITS_USERS = _USERS.subquery("its_users")
PHONES_WITH: Select[Any] = (
    select(_ITS_USERS.c.user_uuid, *_USED)
    .select_from(
        _USED_BY.join(
            _ITS_USERS,
            or_(
                _ITS_USERS.c.user_uuid == desks.c.user_uuid,
                _ITS_USERS.c.user_uuid == current_deployments.c.owner_uuid,
            ),
        )
    )
    .where(
        phones.c.mac.in_(
            select(desks.c.mac)
            .where(desks.c.user_uuid.in_(_USERS))
            .union(
                select(current_deployments.c.mac).where(
                    current_deployments.c.owner_uuid.in_(_USERS)
                )
            )
        )
    )
    .order_by(phones.c.mac, _ITS_USERS.c.user_uuid)
)
_LEAVERS: Select[Any] = (
    select(*_PHONE.columns)
    .select_from(
        phones.join(current_deployments, current_deployments.c.mac == phones.c.mac).outerjoin(
            users, and_(users.c.uuid == current_deployments.c.owner_uuid, users.c.is_active)
        )
    )
    # The deployments of an earlier phone with this MAC stay when the phone is deleted.
    .where(
        phones.c.is_active,
        users.c.uuid.is_(None),
        current_deployments.c.created_at >= phones.c.created_at,
    )
    .order_by(phones.c.mac)
)

_WITH_LOGINS: Select[Any] = (
    select(*_PHONE.columns)
    .select_from(phones.outerjoin(desks, desks.c.mac == phones.c.mac))
    .where(phones.c.is_active, or_(desks.c.hotdesk.is_(None), desks.c.hotdesk))
    .order_by(phones.c.mac)
)

_LAST = (
    select(deployments.c.owner_uuid, deployments.c.number)
    .where(deployments.c.mac == bindparam("mac"), deployments.c.place.is_not(None))
    .order_by(deployments.c.number.desc())
    .limit(5)
    .subquery("last_subquery")
)
EARLIER: Select[Any] = (
    select(extensions.c.extension)
    .select_from(
        _LAST.join(user_extensions, user_extensions.c.user_uuid == _LAST.c.owner_uuid).join(
            extensions,
            and_(extensions.c.uuid == user_extensions.c.extension_uuid, _is_line(extensions)),
        )
    )
    .order_by(_LAST.c.number.desc(), user_extensions.c.created_at, user_extensions.c.uuid)
)


class SqlLines(SqlQueries, LineStore):
    """Lines of phones, read with the phones."""

    async def at(self, mac: str, kind: str = CHAN_SCCP) -> PhoneNumbers | None:
        rows = await self._connection.fetch_all(AT, mac=mac, kind=kind)
        if not rows:
            return None
        linked = [row[len(_USED) :] for row in rows]
        numbers = [(of[0], Number(*of[1:])) for of in linked if of[0] and of[1] is not None]
        return PhoneNumbers(self._used(*rows[0][: len(_USED)]), tuple(numbers))

    async def of_user(self, user_uuid: str) -> list[Number]:
        return await self._all(Number, OF_USER, user=user_uuid, kind=CHAN_SCCP)

    async def find(self, number: str, kind: str = CHAN_SCCP) -> Number | None:
        return await self._one(lambda *row: Number(*row[:-1]), FIND, number=number, kind=kind)

    async def languages(self, number: str, kind: str) -> list[str]:
        return await self._all(str, LANGUAGES, number=number, kind=kind)

    async def uuid_of(self, number: str, kind: str) -> str | None:
        return await self._one(lambda *row: str(row[-1]), FIND, number=number, kind=kind)

    async def held(self, number: str, kind: str) -> tuple[Number, str] | None:
        def made(*row: Any) -> tuple[Number, str]:
            return Number(*row[:-1]), str(row[-1])

        return await self._one(made, HELD, number=number, kind=kind)

    async def earlier_numbers(self, mac: str, kind: str) -> list[str]:
        return await self._all(str, EARLIER, mac=mac, kind=kind)

    async def phones_of(self, user_uuid: str) -> list[UsedPhone]:
        return await self._all(self._used, PHONES_OF, user=user_uuid, kind=CHAN_SCCP)

    async def phones_with(self, number: str, kind: str) -> list[tuple[str, UsedPhone]]:
        rows = await self._connection.fetch_all(PHONES_WITH, number=number, kind=kind)
        return [(row[0], self._used(*row[1:])) for row in rows]

    async def phones_of_leavers(self) -> list[Phone]:
        return await self._all(self._phone, _LEAVERS)

    async def phones_with_logins(self) -> list[Phone]:
        return await self._all(self._phone, _WITH_LOGINS)

    def _phone(self, *row: Any) -> Phone:
        return _PHONE.read(row, self._connection.box)

    def _used(self, *row: Any) -> UsedPhone:
        phone, row = _PHONE.first(row, self._connection.box)
        desk, (owner, deployed_at, *own) = DESK.first(row, self._connection.box)
        assert phone is not None
        return UsedPhone(
            phone=phone,
            desk=desk or DeskRecord(phone.mac),
            deployed_owner=owner,
            deployed_at=deployed_at,
            own=None if own[0] is None else Number(*own),
        )


_DRILL = Fields(Drill, drills)
_ADD_DRILL = insert(drills)
_FIND_DRILL = select(*_DRILL.columns).where(drills.c.uuid == bindparam("uuid"))
_DRILLS = Query(
    select(*_DRILL.columns).where(drills.c.mac == bindparam("mac")),
    (drills.c.created_at, drills.c.uuid),
)
_REMEMBER_DRILL = (
    update(phones)
    .where(phones.c.mac == bindparam("the_mac"))
    .values(last_drill=bindparam("the_result"))
)


class SqlDrills(SqlQueries, DrillStore):
    """Drills, by uuid."""

    async def add(self, drill: Drill) -> None:
        await self._connection.execute(_ADD_DRILL, **_DRILL.row(drill, self._connection.box))
        if drill.result in KNOWN:
            await self._connection.execute(
                _REMEMBER_DRILL, the_mac=drill.mac, the_result=drill.result.value
            )

    async def newest(self, mac: str, limit: int, *, before: str | None = None) -> list[Drill]:
        read, last = reader(_DRILL, self._connection.box), None
        if before is not None:
            row = await self._connection.fetch_one(_FIND_DRILL, uuid=before)
            if row is None:
                return []
            last = read(row)
        rows = SqlNewestRows(self._connection, _DRILLS, read, mac=mac)
        return await rows.newest(limit, before=last)


class LineStores:
    """The stores of lines, numbers and drills."""

    _connection: Connection

    lines = cached_property(lambda self: SqlLines(self._connection))
    numbers = cached_property(lambda self: SqlNumbers(self._connection))
    drills = cached_property(lambda self: SqlDrills(self._connection))
