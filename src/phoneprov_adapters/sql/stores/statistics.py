"""Numbers of records in SQL."""

from sqlalchemy import func, select

from phoneprov_adapters.sql.engines.statements import now_ms
from phoneprov_adapters.sql.stores.store import SqlQueries
from phoneprov_adapters.sql.tables.fleet import phone_states
from phoneprov_adapters.sql.tables.inventory import phones
from phoneprov_adapters.sql.tables.switching import batches, desks
from phoneprov_core.fleet.states import FleetState
from phoneprov_core.statistics import Statistics, StatisticsStore

_PHONES = select(phones.c.is_active, func.count()).group_by(phones.c.is_active)
_BATCHES = (
    select(batches.c.state, func.count())
    .where(batches.c.ended_at.is_(None))
    .group_by(batches.c.state)
)
_SESSIONS = select(func.count()).where(desks.c.user_uuid.is_not(None))


_FLEET = (
    select(phone_states.c.state, func.count())
    .join(phones, phones.c.mac == phone_states.c.mac)
    .where(phones.c.is_active.is_(True))
    .group_by(phone_states.c.state)
)
_CLOCK = select(now_ms())


class SqlStatistics(SqlQueries, StatisticsStore):
    """Numbers of records, by ``GROUP BY``."""

    async def read(self) -> Statistics:
        by_active = await self._connection.fetch_all(_PHONES)
        by_state = await self._connection.fetch_all(_BATCHES)
        sessions = await self._connection.fetch_all(_SESSIONS)
        phones = {"active" if active else "inactive": count for active, count in by_active}
        fleet = {str(state): count for state, count in await self._connection.fetch_all(_FLEET)}
        if (unseen := phones.get("active", 0) - sum(fleet.values())) > 0:
            never = FleetState.NEVER_SEEN.value
            fleet[never] = fleet.get(never, 0) + unseen
        states = {str(state): count for state, count in by_state}
        return Statistics(phones, states, sessions[0][0], fleet)

    async def clock(self) -> int:
        rows = await self._connection.fetch_all(_CLOCK)
        return int(rows[0][0])
