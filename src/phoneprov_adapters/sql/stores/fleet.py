"""What was seen of phones, and the numbers of the fleet in SQL."""

import msgspec
from sqlalchemy import Text, bindparam, func, insert, literal_column, select

from phoneprov_adapters.runtime.system import ordered_id
from phoneprov_adapters.sql.engines.connection import Row
from phoneprov_adapters.sql.engines.statements import insert_into, upsert
from phoneprov_adapters.sql.stores.deployments import IS_IN_PLACE
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables.fleet import deployment_days, phone_state_changes, phone_states
from phoneprov_adapters.sql.tables.inventory import phones
from phoneprov_adapters.sql.tables.switching import current_deployments, deployments
from phoneprov_core.fleet.ports import FleetStore
from phoneprov_core.fleet.states import (
    CountedFleet,
    Days,
    FleetState,
    SeenPhone,
    StateChange,
    WatchedFile,
)
from phoneprov_core.phones.model import Phone

_NAMES = SeenPhone.__struct_fields__
_SEEN = [phone_states.c[name] for name in _NAMES]
_FIND = select(*_SEEN).where(phone_states.c.mac == bindparam("mac"))
_PUT = upsert(phone_states, ["mac"], *(name for name in _NAMES if name != "mac"))
_ADD_CHANGE = insert(phone_state_changes)
_HISTORY = (
    select(phone_state_changes.c.state, phone_state_changes.c.at)
    .where(phone_state_changes.c.mac == bindparam("mac"))
    .order_by(phone_state_changes.c.at.desc(), phone_state_changes.c.uuid.desc())
    .limit(bindparam("limit"))
)
_PHONE = Phone.__struct_fields__
_WATCHED = (
    select(*(phones.c[name] for name in _PHONE), *_SEEN)
    .outerjoin_from(phones, phone_states, phone_states.c.mac == phones.c.mac)
    .where(
        phones.c.mac > bindparam("after"),
        phones.c.is_active.is_(True),
        phones.c.phone_ip.is_not(None),
    )
    .order_by(phones.c.mac)
    .limit(bindparam("limit"))
)
_FILES = (
    select(
        *(phones.c.mac, phones.c.phone_ip, phone_states.c.file, phone_states.c.answers),
        *(deployments.c.uuid, deployments.c.filename),
    )
    .outerjoin_from(phones, phone_states, phone_states.c.mac == phones.c.mac)
    .outerjoin(current_deployments, current_deployments.c.mac == phones.c.mac)
    .outerjoin(deployments, IS_IN_PLACE)
    .where(
        phones.c.mac > bindparam("after"),
        phones.c.is_active.is_(True),
        phones.c.phone_ip.is_not(None),
    )
    .order_by(phones.c.mac)
    .limit(bindparam("limit"))
)
# Each reads an index alone. Few phones are inactive: their states are subtracted.
_RECORDED = (
    select(phones.c.last_outcome, phones.c.model, func.count())
    .where(phones.c.is_active.is_(True))
    .group_by(phones.c.last_outcome, phones.c.model)
)
_KNOWN = (phone_states.c.state, phone_states.c.reported_load)
_OBSERVED = select(*_KNOWN, func.count()).group_by(*_KNOWN)
_OF_INACTIVE = (
    select(*_KNOWN, func.count())
    .join_from(phones, phone_states, phone_states.c.mac == phones.c.mac)
    .where(phones.c.is_active.is_(False))
    .group_by(*_KNOWN)
)
# The row that says how far days are counted; no deployment has this outcome.
_UNTIL = ""
_day = func.substr(deployments.c.created_at, literal_column("1"), literal_column("10"))
_SUMMED_UNTIL = select(
    func.coalesce(
        select(func.max(deployment_days.c.day))
        .where(deployment_days.c.outcome == _UNTIL)
        .scalar_subquery(),
        func.substr(
            select(func.min(deployments.c.created_at)).scalar_subquery(),
            literal_column("1"),
            literal_column("10"),
        ),
    )
)

_OF_DAYS = (
    select(_day.label("day"), deployments.c.outcome, func.count().label("deployments"))
    .where(
        deployments.c.created_at >= bindparam("from_day", type_=Text()),
        deployments.c.created_at < bindparam("to_day", type_=Text()),
    )
    .group_by(_day, deployments.c.outcome)
)
_SUM = (
    insert_into(deployment_days)
    .from_select(["day", "outcome", "deployments"], _OF_DAYS)
    .on_conflict_do_nothing(index_elements=["day", "outcome"])
)
_MARK = insert_into(deployment_days).on_conflict_do_nothing(index_elements=["day", "outcome"])
_SUMMED = select(
    deployment_days.c.day, deployment_days.c.outcome, deployment_days.c.deployments
).where(
    deployment_days.c.day >= bindparam("from_day", type_=Text()),
    deployment_days.c.day < bindparam("to_day", type_=Text()),
    deployment_days.c.outcome != literal_column("''"),
)
_AFTER = "U"
"""A day with this is later than its moments, ``2026-01-31T...``."""


class SqlFleet(SqlQueries, FleetStore):
    """What was seen of phones."""

    async def find(self, mac: str) -> SeenPhone | None:
        row = await self._connection.fetch_one(_FIND, mac=mac)
        return None if row is None else _seen(row)

    async def put(self, seen: SeenPhone, *, is_change: bool) -> None:
        await self._connection.execute(_PUT, **msgspec.to_builtins(seen))
        if is_change:
            change = {"uuid": ordered_id(), "mac": seen.mac, "at": seen.since}
            await self._connection.execute(_ADD_CHANGE, state=seen.state.value, **change)

    async def history(self, mac: str, limit: int) -> list[StateChange]:
        rows = await self._connection.fetch_all(_HISTORY, mac=mac, limit=limit)
        return [StateChange(FleetState(state), at) for state, at in rows]

    async def watched(self, after: str, limit: int) -> list[tuple[Phone, SeenPhone | None]]:
        rows = await self._connection.fetch_all(_WATCHED, after=after, limit=limit)
        return [
            (
                Phone(*row[: len(_PHONE)]),
                None if row[len(_PHONE)] is None else _seen(row[len(_PHONE) :]),
            )
            for row in rows
        ]

    async def files(self, after: str, limit: int) -> list[WatchedFile]:
        rows = await self._connection.fetch_all(_FILES, after=after, limit=limit)
        return [WatchedFile(row[0], row[1], row[2] or "unknown", *row[3:]) for row in rows]

    async def counts(self) -> CountedFleet:
        recorded = await self._connection.fetch_all(_RECORDED)
        observed = {(row[0], row[1]): row[2] for row in await self._connection.fetch_all(_OBSERVED)}
        for state, load, count in await self._connection.fetch_all(_OF_INACTIVE):
            observed[state, load] -= count
        return CountedFleet(
            [(outcome, model, count) for outcome, model, count in recorded],
            [(state, load, count) for (state, load), count in observed.items() if count > 0],
        )

    async def summed_until(self) -> str | None:
        row = await self._connection.fetch_one(_SUMMED_UNTIL)
        return None if row is None else row[0]

    async def sum_days(self, begin: str, until: str) -> None:
        await self._connection.fetch_all(_SUM, from_day=begin, to_day=until)
        await self._connection.fetch_all(_MARK, day=until, outcome=_UNTIL, deployments=0)

    async def days(self, since: str, until: str) -> Days:
        summed_until = await self.summed_until() or ""
        rows: list[Row] = []
        if since < summed_until:
            rows += await self._connection.fetch_all(
                _SUMMED, from_day=since, to_day=min(summed_until, until + _AFTER)
            )
        live = {"from_day": max(since, summed_until), "to_day": until + _AFTER}
        rows += await self._connection.fetch_all(_OF_DAYS, **live)
        days: dict[str, dict[str, int]] = {}
        for day, outcome, count in sorted(tuple(row) for row in rows):
            days.setdefault(day, {})[outcome] = count
        return days


def _seen(row: Row) -> SeenPhone:
    return SeenPhone(row[0], FleetState(row[1]), *row[2:])
