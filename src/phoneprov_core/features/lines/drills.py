"""Drills: what an emergency call from each desk would present now, asked of the exchange and
compared with the record. Level 0 runs and reads them."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Protocol

from msgspec import Struct
from msgspec.structs import replace

from phoneprov_core.features.lines.model import LinesTransaction, numbers_of
from phoneprov_core.inventory.extensions import CHAN_PJSIP
from phoneprov_core.inventory.locations import Emergency, emergency_at
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.inventory.phones.use_cases import PhoneStore
from phoneprov_core.kernel.actor import Actor, require_superadmin
from phoneprov_core.kernel.errors import PhoneprovError, Refused, require
from phoneprov_core.kernel.fields import CreatedAt, RecordUuid, StoredMac, schema
from phoneprov_core.kernel.ports import Clock, NewId, Pause, ReadAndWrite, listing
from phoneprov_core.kernel.search import Search
from phoneprov_core.kernel.values import known_mac, timestamp
from phoneprov_core.people.access import is_within

AT_ONCE = 4
"""Maximum number of desks that are asked at a time."""
MOST_FAILURES = 8
"""Failures in a row after which no further desk is asked: the exchange answers none."""
AGAIN_SECONDS = 2.0
"""Seconds before the desks that differ are asked again: a phone that is being switched, or a
record that is being changed, is no fault."""

_SILENT = "The exchange was not asked: it answered none of the desks before."
_NOT_REGISTERED = "The phone is not registered."
_NO_EXCHANGE = "No exchange can be asked: set PHONEPROV_AMI_HOST."


class DrillResult(Enum):
    """The result of a drill of one desk."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_REGISTERED = "not_registered"
    """The phone cannot call."""
    UNKNOWN = "unknown"
    """The exchange did not say."""


KNOWN = (DrillResult.AGREES, DrillResult.DIFFERS)
"""The results that replace an earlier result of the phone."""


class DrillCall(Struct, frozen=True):
    """A call from a line of a desk: the values that the exchange gives it, and the values
    that it presents after the dialplan."""

    line: str
    given: Emergency
    presented: Emergency


def difference(recorded: Emergency, call: DrillCall) -> str | None:
    """What a call presents other than the record, None if nothing. Where the record has no value,
    the dialplan may present its own, but the exchange must give none."""
    line = f"A call from {call.line}" if call.line else "A call"
    found = []
    for name in "number", "place":
        wanted, given = getattr(recorded, name), getattr(call.given, name)
        presented = getattr(call.presented, name)
        if wanted is not None and presented != wanted:
            shown = f'"{presented}"' if presented else "none"
            found.append(f'the {name} {shown} instead of "{wanted}"')
        elif wanted is None and given is not None:
            found.append(f'the {name} "{given}", which no location of the phone has')
    return f"{line} presents {', and '.join(found)}." if found else None


class Drill(Struct, frozen=True):
    """What a call from a phone would have presented, beside the record of that moment."""

    uuid: RecordUuid
    mac: StoredMac
    location: Annotated[str, schema("Location of the phone")] | None
    line: Annotated[str, schema("Line of the call; null if none is known", examples=["101"])] | None
    recorded_number: Annotated[str, schema("Emergency number of the location")] | None
    recorded_place: Annotated[str, schema("Emergency place of the location")] | None
    presented_number: Annotated[str, schema("Number that the call presents")] | None
    presented_place: Annotated[str, schema("Place that the call presents")] | None
    result: Annotated[
        DrillResult,
        schema(
            "`differs`: the call presents something else than the record; `not_registered`: the "
            "phone cannot call; `unknown`: the exchange did not say"
        ),
    ]
    message: Annotated[str, schema("What differs, or why it is not known")] | None
    created_at: CreatedAt

    def after(self, calls: Sequence[DrillCall]) -> "Drill":
        """With what these calls present: the first that differs from the record, else the first."""
        if not calls:
            return replace(self, result=DrillResult.NOT_REGISTERED, message=_NOT_REGISTERED)
        recorded = Emergency(self.recorded_number, self.recorded_place)
        messages = [difference(recorded, one) for one in calls]
        first = next((n for n, message in enumerate(messages) if message), 0)
        call, message = calls[first], messages[first]
        return replace(
            self,
            line=call.line or None,
            presented_number=call.presented.number,
            presented_place=call.presented.place,
            result=DrillResult.DIFFERS if message else DrillResult.AGREES,
            message=message,
        )


class DrillExchange(Protocol):
    """Asks the exchange what an emergency call presents."""

    async def calls(self, phone: Phone, numbers: Iterable[str]) -> tuple[DrillCall, ...]:
        """The calls from the lines with which a phone is registered now, empty if it is not
        registered. ``numbers`` are the record's; they identify a SIP phone without a
        recorded address. No call reaches a trunk or a phone. Raises ``Refused``, and ``TimedOut``
        within the deadline of the exchange."""


class DrillStore(Protocol):
    """The record of drills."""

    async def add(self, drill: Drill) -> None:
        """Keep a new record; if its result is one of ``KNOWN``, also as the last one of the phone,
        if the phone exists."""

    async def newest(self, mac: str, limit: int, *, before: str | None = None) -> list[Drill]:
        """At most ``limit`` drills of a phone, newest first (by creation, then uuid), beginning
        after the uuid ``before``. Empty if ``before`` does not exist."""


class DrillsTransaction(LinesTransaction, Protocol):
    """Stores that drills read and write."""

    @property
    def phones(self) -> PhoneStore: ...
    @property
    def drills(self) -> DrillStore: ...


@dataclass(frozen=True)
class Drills:
    """Drills of desks, and their record. Without ``exchange`` none can be asked."""

    database: ReadAndWrite[DrillsTransaction]
    exchange: DrillExchange | None
    clock: Clock
    new_id: NewId
    pause: Pause

    async def newest(
        self, actor: Actor, mac: str, limit: int, *, before: str | None = None
    ) -> list[Drill]:
        """At most ``limit`` drills of a phone, newest first, after the uuid
        ``before``. Raises ``Forbidden``; ``NotFound`` if the phone is not in the inventory."""
        require_superadmin(actor)
        async with self.database.read() as tx:
            phone = require(await tx.phones.find(known_mac(mac)), "phone")
            return await tx.drills.newest(phone.mac, limit, before=before)

    async def desks(self, actor: Actor, location: str | None = None) -> list[str]:
        """The MACs of the active phones, at a location and within it if one is named."""
        require_superadmin(actor)
        search = Search(filters=(("is_active", True),))
        phones = await listing(self.database.read, lambda tx: tx.phones.matching(search))
        return [
            phone.mac
            for phone in await phones.everything()
            if location is None or is_within(phone.location, location)
        ]

    async def run(
        self, actor: Actor, macs: Sequence[str], done: Callable[[Drill], None] = lambda _: None
    ) -> list[Drill]:
        """Ask what a call from each phone would present, and record the results, which ``done``
        gets one by one. A phone that differs is asked again after the others, and that result
        counts. A phone that was deleted meanwhile has none. Raises ``Forbidden``, and ``Refused``
        without an exchange."""
        require_superadmin(actor)
        if self.exchange is None:
            raise Refused(_NO_EXCHANGE)
        turns, failures = asyncio.Semaphore(AT_ONCE), 0
        drills: dict[str, Drill] = {}

        async def ask(mac: str, *, last: bool) -> None:
            nonlocal failures
            async with turns:
                drill = await self._drill(mac, is_silent=failures >= MOST_FAILURES)
            if drill is None:
                drills.pop(mac, None)
                return
            failures = failures + 1 if drill.result is DrillResult.UNKNOWN else 0
            drills[mac] = drill
            if last or drill.result is not DrillResult.DIFFERS:
                async with self.database.write(by=actor) as tx:
                    await tx.drills.add(drill)
                done(drill)

        await asyncio.gather(*(ask(mac, last=False) for mac in macs))
        again = [mac for mac, one in drills.items() if one.result is DrillResult.DIFFERS]
        if again:
            await self.pause(AGAIN_SECONDS)
            await asyncio.gather(*(ask(mac, last=True) for mac in again))
        return [drills[mac] for mac in macs if mac in drills]

    async def _drill(self, mac: str, *, is_silent: bool) -> Drill | None:
        assert self.exchange is not None
        async with self.database.read() as tx:
            phone = await tx.phones.find(mac)
            used = await tx.lines.at(mac, CHAN_PJSIP)
            if phone is None or used is None:
                return None
            recorded = await emergency_at(tx, phone)
        numbers = [one.number for one in numbers_of(used, timestamp(self.clock()))]
        drill = Drill(
            uuid=self.new_id(),
            mac=mac,
            location=phone.location,
            line=None,
            recorded_number=recorded.number,
            recorded_place=recorded.place,
            presented_number=None,
            presented_place=None,
            result=DrillResult.UNKNOWN,
            message=_SILENT,
            created_at=timestamp(self.clock()),
        )
        if is_silent:
            return drill
        try:
            return drill.after(await self.exchange.calls(phone, numbers))
        except PhoneprovError as error:
            return replace(drill, message=error.message)
