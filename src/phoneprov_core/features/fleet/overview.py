"""The state of one phone, and the numbers of the fleet; level 0 reads them."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated, Protocol

from msgspec import Struct

from phoneprov_core.features.fleet.model import FleetStore, FleetTransaction
from phoneprov_core.features.fleet.states import FleetState, PhoneStatus, status_of
from phoneprov_core.inventory.phones.model import bare_model
from phoneprov_core.kernel.actor import SYSTEM_ACTOR, Actor
from phoneprov_core.kernel.addresses import known_mac
from phoneprov_core.kernel.commands import QueryCommand
from phoneprov_core.kernel.errors import Unavailable, require
from phoneprov_core.kernel.fields import schema, within
from phoneprov_core.kernel.store import ReadAndWrite
from phoneprov_core.kernel.system import Clock, timestamp
from phoneprov_core.people.access import require_superadmin

HISTORY = 20
MOST_DAYS = 365
_SETTLED_DAYS = 2
"""Deployments of earlier days do not change any more: they are counted once and for all."""
_DAYS_AT_ONCE = timedelta(days=30)
"""Days that are counted in one transaction."""


class FleetQuery(QueryCommand, frozen=True, kw_only=True):
    """Which days are shown."""

    days: Annotated[int, within(1, MOST_DAYS, "Number of days of deployments")] = 30


class FleetDay(Struct, frozen=True):
    """The deployments of one day (UTC)."""

    day: Annotated[str, schema("The day", format="date", examples=["2026-01-31"])]
    outcomes: Annotated[dict[str, int], schema("Number of deployments by outcome")]


class Fleet(Struct, frozen=True):
    """Active phones in numbers, and deployments by day. A value that is not known is not counted
    under ``models`` and ``loads``."""

    phones: Annotated[int, schema("Number of active phones", minimum=0, examples=[200])]
    states: Annotated[
        dict[str, int], schema("Phones by state; one with several states counts in each")
    ]
    last_outcomes: Annotated[dict[str, int], schema("Phones by outcome of the newest deployment")]
    models: Annotated[dict[str, int], schema("Phones by model, as recorded, in its bare form")]
    loads: Annotated[dict[str, int], schema("Phones by firmware, as reported")]
    days: Annotated[tuple[FleetDay, ...], schema("Days with deployments, oldest first")]


@dataclass(frozen=True)
class ViewFleet:
    """Reads what looking at the phones found."""

    database: ReadAndWrite[FleetTransaction]
    clock: Clock

    async def state(self, actor: Actor, mac: str) -> PhoneStatus:
        """Raises ``Forbidden``, ``NotFound``."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            phone = require(await tx.phones.find(known_mac(mac)), "phone")
            seen = await tx.fleet.find(phone.mac)
            history = await tx.fleet.history(phone.mac, HISTORY)
        return status_of(phone, seen, tuple(history))

    async def numbers(self, actor: Actor, wanted: FleetQuery) -> Fleet:
        """Raises ``Forbidden``."""
        require_superadmin(actor)
        now = self.clock()
        today, since = timestamp(now)[:10], timestamp(now - timedelta(days=wanted.days - 1))[:10]
        # Once a day. Until it succeeds, the days are counted each time.
        with suppress(Unavailable):
            await self.count_days()
        async with self.database.read() as tx:
            counted = await tx.fleet.counts()
            days = await tx.fleet.days(since, today)
        phones = sum(count for *_, count in counted.recorded)
        states = _by(
            (state.value, count) for states, _, count in counted.observed for state in states
        )
        if unseen := phones - sum(count for *_, count in counted.observed):
            never = FleetState.NEVER_SEEN.value
            states = _by([*states.items(), (never, unseen)])
        return Fleet(
            phones=phones,
            states=states,
            last_outcomes=_by((outcome, count) for outcome, _, count in counted.recorded),
            models=_by((bare_model(model or ""), count) for _, model, count in counted.recorded),
            loads=_by((load or "", count) for _, load, count in counted.observed),
            days=tuple(FleetDay(day, dict(outcomes)) for day, outcomes in sorted(days.items())),
        )

    async def count_days(self) -> None:
        """Count the deployments of days that are over, unless they are counted."""
        await count_days(self.database, self.clock())


class DaysTransaction(Protocol):
    """The store that counting days reads and writes."""

    @property
    def fleet(self) -> FleetStore: ...


async def count_days(database: ReadAndWrite[DaysTransaction], now: datetime) -> None:
    """Count the deployments of days that are over, in pieces, unless they are counted. Raises
    ``Unavailable``."""
    settled = timestamp(now - timedelta(days=_SETTLED_DAYS))[:10]
    async with database.read() as tx:
        begin = await tx.fleet.summed_until()
    while begin is not None and begin < settled:
        until = min(settled, (date.fromisoformat(begin) + _DAYS_AT_ONCE).isoformat())
        async with database.write(by=SYSTEM_ACTOR) as tx:
            await tx.fleet.sum_days(begin, until)
        begin = until


def _by(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Number of phones per value, the largest first; phones without a value are left out."""
    total: Counter[str] = Counter()
    for value, phones in counts:
        if value:
            total[value] += phones
    return dict(sorted(total.items(), key=lambda one: (-one[1], one[0])))
