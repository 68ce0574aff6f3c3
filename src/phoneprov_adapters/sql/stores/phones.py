"""Phones in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from sqlalchemy import BindParameter, bindparam, func, select

from phoneprov_adapters.sql.engines.statements import Statement
from phoneprov_adapters.sql.stores.store import Records, SqlSearchedStore
from phoneprov_adapters.sql.tables import deployments, desks, phones
from phoneprov_core.phones.model import Phone
from phoneprov_core.phones.ports import PhoneStore
from phoneprov_core.phones.search import PHONE_FIELDS

_MACS = 500
"""MACs a statement; SQLite takes no more than 999 values in some builds."""


@cache
def _known(size: int) -> Statement:
    macs: list[BindParameter[str]] = [bindparam(f"mac_{place}") for place in range(size)]
    return select(phones.c.mac).where(phones.c.mac.in_(macs))


_OF_PHONE = deployments.c.mac == bindparam("mac")
_LAST = {
    "last_outcome": func.coalesce(
        select(deployments.c.outcome)
        .where(_OF_PHONE)
        .order_by(deployments.c.number.desc())
        .limit(1)
        .scalar_subquery(),
        "none",
    ),
    "last_number": select(func.max(deployments.c.number)).where(_OF_PHONE).scalar_subquery(),
}
"""A MAC may have deployments before it is in the inventory: from a phone that was deleted."""

_USED = select(desks.c.mac).where(desks.c.user_uuid == bindparam("only_user_uuid"))


class SqlPhones(SqlSearchedStore[Phone], PhoneStore):
    """Phones, by MAC."""

    records = Records(
        Phone,
        phones,
        key="mac",
        one_name="phone",
        search=PHONE_FIELDS,
        conditions={"user_uuid": lambda mac: mac.in_(_USED)},
        derived=_LAST,
    )

    async def unknown(self, macs: Sequence[str]) -> list[str]:
        known: set[str] = set()
        for begin in range(0, len(macs), _MACS):
            piece = macs[begin : begin + _MACS]
            # Two statements for all numbers of MACs: a short piece repeats its last one.
            size = 1 if len(piece) == 1 else _MACS
            padded = [*piece, *[piece[-1]] * (size - len(piece))]
            values = {f"mac_{place}": mac for place, mac in enumerate(padded)}
            known.update(row[0] for row in await self._connection.rows(_known(size), **values))
        return [mac for mac in macs if mac not in known]
