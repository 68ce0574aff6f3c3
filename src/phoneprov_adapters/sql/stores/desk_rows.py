"""The list of desks in SQL."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select

from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.stores.rows import Query, SqlRows
from phoneprov_adapters.sql.tables import desks, phones, profiles, users
from phoneprov_core.desks.model import Desk, ListedDesk
from phoneprov_core.kernel.store import Rows

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
_QUERY = Query(
    _DESK,
    (phones.c.created_at, phones.c.mac),
    owner=desks.c.user_uuid == bindparam("owner"),
    counted=select(func.count()).select_from(phones.outerjoin(desks, desks.c.mac == phones.c.mac)),
)


def _listed(row: Row) -> ListedDesk:
    created_at, mac, default, hotdesk, user_uuid, username, profile, since, until = row
    is_used = user_uuid is not None
    desk = Desk(
        mac=mac,
        default_profile_uuid=default,
        hotdesk=hotdesk is None or hotdesk,
        user_uuid=user_uuid,
        username=username,
        profile_uuid=profile if is_used else None,
        since=since if is_used else None,
        until=until if is_used else None,
    )
    return ListedDesk(created_at, mac, desk)


def desk_rows(connection: Connection) -> Rows[ListedDesk]:
    """The desk of every phone."""
    return SqlRows(connection, _QUERY, _listed)
