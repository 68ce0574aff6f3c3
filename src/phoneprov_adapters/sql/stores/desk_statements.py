"""The statements of desks."""

from typing import Any

from sqlalchemy import and_, bindparam, delete, exists, func, null, or_, select, update

from phoneprov_adapters.sql.engines.statements import is_over, upsert
from phoneprov_adapters.sql.stores.rows import Query
from phoneprov_adapters.sql.tables.accounts import users
from phoneprov_adapters.sql.tables.inventory import phones, vendor_phones
from phoneprov_adapters.sql.tables.switching import desks, leases, profiles
from phoneprov_core.desks.model import DeskRecord, Due
from phoneprov_core.phones.model import Phone
from phoneprov_core.users.model import User

RECORD = [desks.c[name] for name in DeskRecord.__struct_fields__]
PHONE = [phones.c[name] for name in Phone.__struct_fields__]
_USER = [users.c[name] for name in User.__struct_fields__]
NEW: dict[str, Any] = dict.fromkeys(column.name for column in desks.c) | {
    "hotdesk": True,
    "turn": 0,
    "not_before": 0,
}
_IS_MAC = desks.c.mac == bindparam("the_mac")

FIND = select(*RECORD).where(desks.c.mac == bindparam("mac"))
FIND_AND_HOLD = FIND.with_for_update()
AT = (
    select(*PHONE, vendor_phones.c.vendor, *RECORD, *_USER)
    .select_from(
        phones.outerjoin(vendor_phones, vendor_phones.c.mac == phones.c.mac)
        .outerjoin(desks, desks.c.mac == phones.c.mac)
        .outerjoin(users, users.c.uuid == desks.c.user_uuid)
    )
    .where(phones.c.mac == bindparam("mac"))
)
_ENDED: dict[str, Any] = {
    "user_uuid": null(),
    "profile_uuid": null(),
    "since": null(),
    "until": null(),
    "not_before": 0,
    "turn": desks.c.turn + 1,
}
RELEASE = (
    update(desks)
    .where(_IS_MAC, desks.c.user_uuid.is_not(None))
    .values({**_ENDED, "due": bindparam("the_due")})
    .returning(desks.c.mac)
)
EXPIRE = (
    update(desks)
    .where(desks.c.until <= bindparam("now"))
    .values({**_ENDED, "due": Due.EXPIRY.value})
    .returning(desks.c.mac)
)
END_USER = (
    update(desks)
    .where(desks.c.user_uuid == bindparam("the_user"))
    .values({**_ENDED, "due": Due.LOGOUT.value})
    .returning(desks.c.mac)
)
END_ELSEWHERE = END_USER.where(desks.c.mac != bindparam("the_mac"))
ELSEWHERE = (
    select(desks.c.mac)
    .where(
        or_(
            desks.c.user_uuid == bindparam("user_uuid"),
            desks.c.change_user_uuid == bindparam("user_uuid"),
        ),
        desks.c.mac != bindparam("mac"),
    )
    .limit(1)
)
END_CHANGE = (
    update(desks)
    .where(_IS_MAC, desks.c.change_uuid == bindparam("the_change"))
    .values(change_uuid=null(), change_user_uuid=null())
)
SETTLE = (
    update(desks)
    .where(_IS_MAC)
    .values(due=null(), change_uuid=null(), change_user_uuid=null(), not_before=0)
)
POSTPONE = update(desks).where(_IS_MAC).values(not_before=bindparam("until_ms"))
NEXT_TURN = (
    update(desks)
    .where(_IS_MAC, desks.c.turn == bindparam("the_turn"))
    .values(turn=desks.c.turn + 1)
    .returning(desks.c.mac)
)
REMOVE = delete(desks).where(desks.c.mac == bindparam("mac")).returning(desks.c.mac)
_IS_HELD = exists().where(
    leases.c.mac == desks.c.mac,
    leases.c.holder == desks.c.change_uuid,
    ~is_over(leases.c.expires_at),
)
UNSETTLED = (
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
CONFIGURE = upsert(desks, ["mac"], "default_profile_uuid", "hotdesk")
BEGIN_CHANGE = upsert(desks, ["mac"], "change_uuid", "change_user_uuid")
TAKE_TURN = upsert(desks, ["mac"], turn=desks.c.turn + 1).returning(desks.c.mac)
USE = upsert(
    desks,
    ["mac"],
    *("user_uuid", "profile_uuid", "since", "until", "due", "not_before"),
    turn=desks.c.turn + 1,
)
TAKE_FIRST_TURN = upsert(
    desks, ["mac"], turn=desks.c.turn + 1, where=lambda new: desks.c.turn + 1 == new.turn
).returning(desks.c.mac)

_DEFAULTS = profiles.alias("defaults")
_DESK = select(
    phones.c.created_at,
    phones.c.mac,
    _DEFAULTS.c.uuid,
    desks.c.hotdesk,
    users.c.uuid,
    users.c.username,
    profiles.c.uuid,
    desks.c.since,
    desks.c.until,
).select_from(
    phones.outerjoin(desks, desks.c.mac == phones.c.mac)
    .outerjoin(users, users.c.uuid == desks.c.user_uuid)
    .outerjoin(profiles, profiles.c.uuid == desks.c.profile_uuid)
    .outerjoin(_DEFAULTS, _DEFAULTS.c.uuid == desks.c.default_profile_uuid)
)
ALL = Query(
    _DESK,
    (phones.c.created_at, phones.c.mac),
    owner=desks.c.user_uuid == bindparam("owner"),
    counted=select(func.count()).select_from(phones.outerjoin(desks, desks.c.mac == phones.c.mac)),
)
