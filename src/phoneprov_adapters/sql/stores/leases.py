"""Leases of phones in SQL."""

from sqlalchemy import bindparam, select, update

from phoneprov_adapters.sql.engines.statements import insert_into, is_over, now_ms
from phoneprov_adapters.sql.stores.rows import SqlQueries
from phoneprov_adapters.sql.tables.switching import leases
from phoneprov_core.deployments.ports import LeaseStore

_row = insert_into(leases).values(
    mac=bindparam("mac"),
    holder=bindparam("holder"),
    fence=1,
    expires_at=now_ms() + bindparam("lifetime_ms", type_=leases.c.expires_at.type),
)
_TAKE = _row.on_conflict_do_update(
    index_elements=["mac"],
    set_={
        "holder": _row.excluded.holder,
        "fence": leases.c.fence + 1,
        "expires_at": _row.excluded.expires_at,
    },
    where=is_over(leases.c.expires_at),
).returning(leases.c.fence)
_RELEASE = (
    update(leases)
    .where(
        leases.c.mac == bindparam("the_mac"),
        leases.c.holder == bindparam("the_holder"),
        leases.c.fence == bindparam("the_fence"),
        leases.c.expires_at > now_ms(),
    )
    .values(expires_at=0)
    .returning(leases.c.mac)
)
_HOLDER = select(leases.c.holder).where(
    leases.c.mac == bindparam("mac"), ~is_over(leases.c.expires_at)
)
_RELEASE_ALL = update(leases).where(leases.c.expires_at != 0).values(expires_at=0)


class SqlLeases(SqlQueries, LeaseStore):
    """Leases, by MAC. The row of a released lease is kept, so that its fence continues to grow."""

    async def take(self, mac: str, holder: str, seconds: int) -> int | None:
        row = await self._connection.row(_TAKE, mac=mac, holder=holder, lifetime_ms=seconds * 1000)
        return None if row is None else int(row[0])

    async def release(self, mac: str, holder: str, fence: int) -> bool:
        return bool(
            await self._connection.rows(_RELEASE, the_mac=mac, the_holder=holder, the_fence=fence)
        )

    async def holder(self, mac: str) -> str | None:
        row = await self._connection.row(_HOLDER, mac=mac)
        return None if row is None else str(row[0])

    async def release_all(self) -> None:
        await self._connection.rows(_RELEASE_ALL)
