"""What was seen of phones, the numbers of the fleet, and numbers of records in SQL."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from msgspec.json import Decoder
from sqlalchemy import Select, Text, and_, bindparam, case, func, insert, literal_column, select

from phoneprov_adapters.runtime.tasks import ordered_id
from phoneprov_adapters.sql.engines.connection import Connection, Row
from phoneprov_adapters.sql.engines.statements import at_places, insert_into, now_ms, upsert
from phoneprov_adapters.sql.stores.inventory.phones import HAS_LEFT, IS_LEFT, LEFT_ON
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.stores.switching import IS_IN_PLACE
from phoneprov_adapters.sql.tables.columns import Fields, json_text
from phoneprov_adapters.sql.tables.inventory import (
    deployment_days,
    phone_state_changes,
    phone_states,
    phones,
)
from phoneprov_adapters.sql.tables.people import directory_sources
from phoneprov_adapters.sql.tables.switching import batches, current_deployments, deployments, desks
from phoneprov_core.features.fleet.model import (
    CountedFleet,
    FleetStore,
    Statistics,
    StatisticsStore,
)
from phoneprov_core.features.fleet.states import (
    Days,
    FleetState,
    SeenPhone,
    WatchedFile,
    after_sign,
    of_left,
)
from phoneprov_core.features.fleet.status import StateChange
from phoneprov_core.inventory.phones.model import Phone

_SEEN, _PHONE = Fields(SeenPhone, phone_states), Fields(Phone, phones)
_FIND = select(*_SEEN.columns).where(phone_states.c.mac == bindparam("mac"))
_PUT = upsert(phone_states, ["mac"], *_SEEN.names[1:])
_ADD_CHANGE = insert(phone_state_changes)
_HISTORY = (
    select(phone_state_changes.c.state, phone_state_changes.c.at)
    .where(phone_state_changes.c.mac == bindparam("mac"))
    .order_by(phone_state_changes.c.at.desc(), phone_state_changes.c.uuid.desc())
    .limit(bindparam("limit"))
)


def _watched(*columns: Any) -> Select[Any]:
    """Active phones with an address, by MAC."""
    return (
        select(*columns)
        .outerjoin_from(phones, phone_states, phone_states.c.mac == phones.c.mac)
        .where(
            phones.c.mac > bindparam("after"),
            phones.c.is_active.is_(True),
            phones.c.phone_ip.is_not(None),
        )
        .order_by(phones.c.mac)
        .limit(bindparam("limit"))
    )


_WATCHED = _watched(*_PHONE.columns, *_SEEN.columns)
_FILES = (
    _watched(
        *(phones.c.mac, case((phones.c.address_confirmed, phones.c.phone_ip))),
        *(phone_states.c.file, phone_states.c.answers),
        *(deployments.c.uuid, deployments.c.filename),
    )
    .outerjoin(current_deployments, current_deployments.c.mac == phones.c.mac)
    .outerjoin(deployments, IS_IN_PLACE)
)
# Each reads an index alone. Few phones are inactive: their states are subtracted.
_RECORDED = (
    select(phones.c.last_outcome, phones.c.model, func.count())
    .where(phones.c.is_active.is_(True))
    .group_by(phones.c.last_outcome, phones.c.model)
)
_DRILLED = (
    select(phones.c.last_drill, func.count())
    .where(phones.c.is_active.is_(True))
    .group_by(phones.c.last_drill)
)
_KNOWN = (phone_states.c.states, phone_states.c.reported_load)
_OBSERVED = select(*_KNOWN, func.count()).group_by(*_KNOWN)
_OF_INACTIVE = (
    select(*_KNOWN, func.count())
    .join_from(phones, phone_states, phone_states.c.mac == phones.c.mac)
    .where(phones.c.is_active.is_(False))
    .group_by(*_KNOWN)
)
_LEFT = (
    select(*_KNOWN, func.count())
    .select_from(
        LEFT_ON.join(
            phones,
            and_(
                phones.c.mac == LEFT_ON.c.mac,
                phones.c.is_active.is_(True),
                phones.c.created_at <= LEFT_ON.c.created_at,
            ),
        ).outerjoin(phone_states, phone_states.c.mac == phones.c.mac)
    )
    .where(HAS_LEFT)
    .group_by(*_KNOWN)
)
_IS_LEFT = select(phones.c.mac).where(phones.c.mac == bindparam("mac"), IS_LEFT)
_OF_ALL = (_RECORDED, _OBSERVED, _LEFT)
_AT_PLACES = (
    _RECORDED.where(at_places(phones)),
    select(*_KNOWN, func.count())
    .join_from(phones, phone_states, phone_states.c.mac == phones.c.mac)
    .where(phones.c.is_active.is_(True), at_places(phones))
    .group_by(*_KNOWN),
    _LEFT.where(at_places(phones)),
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
_OF_DAYS_AT = _OF_DAYS.where(deployments.c.mac.in_(select(phones.c.mac).where(at_places(phones))))
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
_STATES = Decoder(tuple[FleetState, ...])
_UNSEEN = (FleetState.NEVER_SEEN,)
_WITH_PHONE = (
    select(*_PHONE.columns, *_SEEN.columns)
    .outerjoin_from(phones, phone_states, phone_states.c.mac == phones.c.mac)
    .where(phones.c.mac == bindparam("mac"))
)


def _minute(moment: str) -> str:
    return moment[: len("2026-01-31T08:15")]


def _by_day(rows: Sequence[Row]) -> Days:
    days: dict[str, dict[str, int]] = {}
    for day, outcome, count in sorted(tuple(row) for row in rows):
        days.setdefault(day, {})[outcome] = count
    return days


class SqlFleet(SqlQueries, FleetStore):
    """What was seen of phones."""

    async def find(self, mac: str) -> SeenPhone | None:
        return await self._one(self._seen, _FIND, mac=mac)

    async def put(self, seen: SeenPhone, *, is_change: bool) -> None:
        await self._connection.execute(_PUT, **_SEEN.row(seen, self._connection.box))
        if is_change:
            change = {"uuid": ordered_id(), "mac": seen.mac, "at": seen.since}
            await self._connection.execute(_ADD_CHANGE, state=seen.state.value, **change)

    async def saw(self, mac: str, at: str) -> None:
        row = await self._connection.fetch_one(_WITH_PHONE, mac=mac)
        if row is None:
            return
        size = len(_PHONE.columns)
        seen = _SEEN.first(row[size:], self._connection.box)[0]
        if seen is not None and _minute(seen.seen_at or "") >= _minute(at):
            return
        found = after_sign(Phone(*row[:size]), seen, at)
        before = FleetState.NEVER_SEEN if seen is None else seen.state
        await self.put(found, is_change=found.state is not before)

    async def left(self, mac: str) -> bool:
        return await self._connection.fetch_one(_IS_LEFT, mac=mac) is not None

    async def history(self, mac: str, limit: int) -> list[StateChange]:
        return await self._all(
            lambda state, at: StateChange(FleetState(state), at), _HISTORY, mac=mac, limit=limit
        )

    async def watched(self, after: str, limit: int) -> list[tuple[Phone, SeenPhone | None]]:
        size = len(_PHONE.columns)
        return [
            (Phone(*row[:size]), _SEEN.first(row[size:], self._connection.box)[0])
            for row in await self._connection.fetch_all(_WATCHED, after=after, limit=limit)
        ]

    async def files(self, after: str, limit: int) -> list[WatchedFile]:
        rows = await self._connection.fetch_all(_FILES, after=after, limit=limit)
        return [WatchedFile(row[0], row[1], row[2] or "unknown", *row[3:]) for row in rows]

    async def counts(self, places: Sequence[str] | None = None) -> CountedFleet:
        at = {} if places is None else {"places": json_text(places)}
        recorded, seen, left = _OF_ALL if places is None else _AT_PLACES
        observed: Counter[tuple[tuple[FleetState, ...], str | None]] = Counter()
        for states, load, count in await self._connection.fetch_all(seen, **at):
            observed[_STATES.decode(states), load] += count
        inactive = () if at else await self._connection.fetch_all(_OF_INACTIVE)
        for states, load, count in inactive:
            observed[_STATES.decode(states), load] -= count
        for states, load, count in await self._connection.fetch_all(left, **at):
            known = _UNSEEN if states is None else _STATES.decode(states)
            observed[of_left(known), load] += count
            if states is not None:
                observed[known, load] -= count
        return CountedFleet(
            await self._all(lambda *row: row, recorded, **at),
            [(states, load, count) for (states, load), count in observed.items() if count > 0],
            {} if at else dict(await self._all(lambda *row: row, _DRILLED)),
        )

    async def summed_until(self) -> str | None:
        return await self._one(lambda day: day, _SUMMED_UNTIL)

    async def sum_days(self, begin: str, until: str) -> None:
        await self._connection.fetch_all(_SUM, from_day=begin, to_day=until)
        await self._connection.fetch_all(_MARK, day=until, outcome=_UNTIL, deployments=0)

    async def days(self, since: str, until: str, places: Sequence[str] | None = None) -> Days:
        rows: list[Row] = []
        if places is not None:
            within = {"from_day": since, "to_day": until + _AFTER, "places": json_text(places)}
            rows += await self._connection.fetch_all(_OF_DAYS_AT, **within)
            return _by_day(rows)
        summed_until = await self.summed_until() or ""
        if since < summed_until:
            rows += await self._connection.fetch_all(
                _SUMMED, from_day=since, to_day=min(summed_until, until + _AFTER)
            )
        live = {"from_day": max(since, summed_until), "to_day": until + _AFTER}
        rows += await self._connection.fetch_all(_OF_DAYS, **live)
        return _by_day(rows)

    def _seen(self, *row: Any) -> SeenPhone:
        return _SEEN.read(row, self._connection.box)


_PHONES = select(phones.c.is_active, func.count()).group_by(phones.c.is_active)
_BATCHES = (
    select(batches.c.state, func.count())
    .where(batches.c.ended_at.is_(None))
    .group_by(batches.c.state)
)
_SESSIONS = select(func.count()).where(desks.c.user_uuid.is_not(None))


_FLEET = (
    select(phone_states.c.states, func.count())
    .join(phones, phones.c.mac == phone_states.c.mac)
    .where(phones.c.is_active.is_(True))
    .group_by(phone_states.c.states)
)
_SYNCS = select(directory_sources.c.source, directory_sources.c.finished_at)
_CLOCK = select(now_ms())


class SqlStatistics(SqlQueries, StatisticsStore):
    """Numbers of records, by ``GROUP BY``."""

    async def read(self) -> Statistics:
        by_active = await self._connection.fetch_all(_PHONES)
        by_state = await self._connection.fetch_all(_BATCHES)
        sessions = await self._connection.fetch_all(_SESSIONS)
        phones = {"active" if active else "inactive": count for active, count in by_active}
        unseen, fleet = phones.get("active", 0), Counter[str]()
        for states_of_phones, count in await self._connection.fetch_all(_FLEET):
            unseen -= count
            fleet.update({state.value: count for state in _STATES.decode(states_of_phones)})
        for states_of_left, _, count in await self._connection.fetch_all(_LEFT):
            known = _UNSEEN if states_of_left is None else _STATES.decode(states_of_left)
            fleet[FleetState.USER_INACTIVE.value] += count
            if FleetState.FINE in known:
                fleet[FleetState.FINE.value] -= count
        if unseen > 0:
            fleet[FleetState.NEVER_SEEN.value] += unseen
        states = {str(state): count for state, count in by_state}
        syncs = dict(await self._all(lambda source, at: (source, at), _SYNCS))
        drills = dict(await self._all(lambda *row: row, _DRILLED))
        return Statistics(phones, states, sessions[0][0], fleet, syncs, drills)

    async def clock(self) -> int:
        rows = await self._connection.fetch_all(_CLOCK)
        return int(rows[0][0])


class FleetStores:
    """The stores of the fleet."""

    _connection: Connection

    fleet = cached_property(lambda self: SqlFleet(self._connection))
    statistics = cached_property(lambda self: SqlStatistics(self._connection))
