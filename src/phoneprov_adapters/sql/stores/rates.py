"""Rate limits in SQL."""

from __future__ import annotations

from functools import cache

from sqlalchemy import and_, bindparam, case, delete, or_, select, update

from phoneprov_adapters.sql.engines.connection import Connection, InsertFactory
from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.tables import rates
from phoneprov_core.kernel.rates import Rate, RateStore

_DAY = 24 * 3600 * 1000

_FIRST_AT = select(rates.c.first_at).where(rates.c.subject == bindparam("subject"))
_TAKE_BACK = (
    update(rates)
    .where(rates.c.subject == bindparam("the_subject"), rates.c.events > 0)
    .values(events=rates.c.events - 1)
)
# Skips rows that other transactions hold: two transactions that delete old rows could deadlock.
_FORGET = delete(rates).where(
    rates.c.subject.in_(
        select(rates.c.subject)
        .where(rates.c.first_at < bindparam("before"))
        .limit(100)
        .with_for_update(skip_locked=True)
    )
)


@cache
def _add(insert: InsertFactory) -> Statement:
    row = insert(rates)
    new = row.excluded
    over = or_(
        rates.c.first_at <= new.first_at - bindparam("window", type_=rates.c.first_at.type),
        rates.c.first_at > new.first_at + bindparam("window", type_=rates.c.first_at.type),
    )
    counted = and_(new["items"] != "", rates.c["items"].contains(new["items"]))
    most = bindparam("most", type_=rates.c.events.type)
    return row.on_conflict_do_update(
        index_elements=["subject"],
        set_={
            "first_at": case((over, new.first_at), else_=rates.c.first_at),
            "events": case((over, 1), (counted, rates.c.events), else_=rates.c.events + 1),
            "items": case(
                (over, new["items"]),
                (counted, rates.c["items"]),
                else_=rates.c["items"] + new["items"],
            ),
        },
        where=or_(over, counted, rates.c.events < most),
    ).returning(rates.c.events)


class SqlRates(RateStore):
    """Rates, one row per subject. ``items`` is the concatenation of the items."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def add(
        self, subject: str, rate: Rate, now: int, *, item: str = "", force: bool = False
    ) -> int:
        if not rate.most:
            return 0
        rows = await self._connection.rows(
            _add(self._connection.insert),
            subject=subject,
            first_at=now,
            events=1,
            items=item,
            window=rate.window,
            most=2**31 - 1 if force else rate.most,
        )
        if not rows:
            first = await self._connection.row(_FIRST_AT, subject=subject)
            return max(1, min(rate.window, int(first[0]) + rate.window - now)) if first else 1
        if rows[0][0] == 1:
            await self._connection.soon(_FORGET, before=now - _DAY)
        return 0

    async def take_back(self, subject: str) -> None:
        await self._connection.soon(_TAKE_BACK, the_subject=subject)
