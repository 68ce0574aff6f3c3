"""Drills: what counts as a difference, what is recorded, and when the drill ends."""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import count

import pytest

from phoneprov_adapters.memory.database import MemoryDatabase
from phoneprov_core.features.lines.drills import (
    AGAIN_SECONDS,
    AT_ONCE,
    MOST_FAILURES,
    Drill,
    DrillCall,
    DrillExchange,
    Drills,
    difference,
)
from phoneprov_core.inventory.locations import NO_EMERGENCY, Emergency
from phoneprov_core.inventory.phones.model import Phone
from phoneprov_core.kernel.actor import SYSTEM_ACTOR
from phoneprov_core.kernel.errors import NotFound, PhoneprovError, Refused, TimedOut
from support.phone_records import a_location, a_phone
from support.records import a_mac, identifier

BERLIN = Emergency("+4930112", "Hof; 100 % = ü")
MAIN = Emergency("+4930", "Our company")


class Exchange(DrillExchange):
    """Presents what it has of a phone; the main number without it. An error is raised."""

    def __init__(self) -> None:
        self.has: dict[str, list[tuple[DrillCall, ...] | PhoneprovError]] = {}
        self.asked: list[str] = []
        self.numbers: dict[str, list[str]] = {}
        self.at_once = self.most_at_once = 0

    async def calls(self, phone: Phone, numbers: Iterable[str]) -> tuple[DrillCall, ...]:
        self.asked.append(phone.mac)
        self.numbers[phone.mac] = [*numbers]
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        answers = self.has.get(phone.mac, [(call(BERLIN),)])
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, PhoneprovError):
            raise answer
        return answer


def call(given: Emergency, presented: Emergency | None = None, line: str = "101") -> DrillCall:
    return DrillCall(line, given, presented or given)


class Rig:
    """Drills of phones in Berlin, with a clock that stands still."""

    def __init__(self) -> None:
        self.database = MemoryDatabase()
        self.exchange = Exchange()
        self.paused: list[float] = []
        self.done: list[Drill] = []
        numbers = count(1)
        self.drills = Drills(
            self.database,
            self.exchange,
            lambda: datetime(2026, 6, 1, tzinfo=UTC),
            lambda: identifier(next(numbers)),
            self._pause,
        )

    async def _pause(self, seconds: float) -> None:
        self.paused.append(seconds)

    async def office(self, phones: int) -> list[str]:
        place = {"emergency_number": BERLIN.number, "emergency_place": BERLIN.place}
        async with self.database.write() as tx:
            await tx.locations.add(a_location(1, name="Berlin", **place))
            for number in range(1, phones + 1):
                await tx.phones.add(a_phone(number, location="Berlin/3"))
        return [a_mac(number) for number in range(1, phones + 1)]

    async def run(self, macs: list[str]) -> dict[str, str]:
        """The results by MAC; each is also the newest one of its phone."""
        found = await self.drills.run(SYSTEM_ACTOR, macs, self.done.append)
        assert {*self.done} >= {*found}
        for one in found:
            newest = await self.drills.newest(SYSTEM_ACTOR, one.mac, 1)
            assert newest == [one]
        return {one.mac: one.result.value for one in found}


@pytest.fixture
def rig() -> Rig:
    return Rig()


@pytest.mark.parametrize(
    ("recorded", "made", "says"),
    [
        (BERLIN, call(BERLIN), None),
        (NO_EMERGENCY, call(NO_EMERGENCY), None),
        (NO_EMERGENCY, call(NO_EMERGENCY, MAIN), None),
        (Emergency("+4930112"), call(Emergency("+4930112"), Emergency("+4930112", "x")), None),
        (BERLIN, call(BERLIN, Emergency("4930112", BERLIN.place)),
         'A call from 101 presents the number "4930112" instead of "+4930112".'),
        (BERLIN, call(BERLIN, Emergency(BERLIN.number), ""),
         'A call presents the place none instead of "Hof; 100 % = ü".'),
        (BERLIN, call(NO_EMERGENCY, MAIN),
         ('A call from 101 presents the number "+4930" instead of "+4930112", and the place '
          '"Our company" instead of "Hof; 100 % = ü".')),
        (NO_EMERGENCY, call(BERLIN, MAIN),
         ('A call from 101 presents the number "+4930112", which no location of the phone has, and '
          'the place "Hof; 100 % = ü", which no location of the phone has.')),
    ],
)  # fmt: skip
def test_difference_is_said_in_words(
    recorded: Emergency, made: DrillCall, says: str | None
) -> None:
    assert difference(recorded, made) == says


async def test_desks_as_recorded_agree_and_are_asked_once(rig: Rig) -> None:
    macs = await rig.office(3 * AT_ONCE)
    assert await rig.run(macs) == dict.fromkeys(macs, "agrees")
    assert sorted(rig.exchange.asked) == macs
    assert rig.exchange.most_at_once == AT_ONCE
    assert rig.paused == []


async def test_desk_that_differs_is_asked_again_and_that_counts(rig: Rig) -> None:
    first, second, third = macs = await rig.office(3)
    wrong = (call(NO_EMERGENCY, MAIN),)
    rig.exchange.has = {first: [wrong, wrong], second: [wrong, (call(BERLIN),)]}
    assert await rig.run(macs) == {first: "differs", second: "agrees", third: "agrees"}
    assert rig.exchange.asked.count(third) == 1
    assert rig.paused == [AGAIN_SECONDS]
    assert len(await rig.drills.newest(SYSTEM_ACTOR, second, 9)) == 1


async def test_desk_with_several_lines_differs_if_one_does(rig: Rig) -> None:
    [mac] = await rig.office(1)
    rig.exchange.has[mac] = [(call(BERLIN), call(NO_EMERGENCY, MAIN, "102"), call(MAIN, line="1"))]
    assert await rig.run([mac]) == {mac: "differs"}
    assert (rig.done[0].line, rig.done[0].presented_number) == ("102", "+4930")


async def test_phone_that_is_not_registered_is_not_compared(rig: Rig) -> None:
    [mac] = await rig.office(1)
    rig.exchange.has[mac] = [()]
    assert await rig.run([mac]) == {mac: "not_registered"}
    assert (rig.done[0].presented_number, rig.done[0].recorded_number) == (None, BERLIN.number)


async def test_failure_of_a_desk_is_not_known_and_the_others_are_asked(rig: Rig) -> None:
    first, second = macs = await rig.office(2)
    rig.exchange.has[first] = [TimedOut("The dialplan did not answer.")]
    assert await rig.run(macs) == {first: "unknown", second: "agrees"}
    assert {one.message for one in rig.done} == {"The dialplan did not answer.", None}


async def test_exchange_that_answers_none_is_not_asked_for_each_desk(rig: Rig) -> None:
    macs = await rig.office(10 * MOST_FAILURES)
    rig.exchange.has = {mac: [Refused("No.")] for mac in macs}
    assert await rig.run(macs) == dict.fromkeys(macs, "unknown")
    assert len(rig.exchange.asked) < MOST_FAILURES + AT_ONCE
    assert "was not asked" in (rig.done[-1].message or "")


async def test_record_that_changes_during_the_drill_is_no_difference(rig: Rig) -> None:
    [mac] = await rig.office(1)
    leipzig = Emergency("+49341112", "Markt 2")
    rig.exchange.has[mac] = [(call(leipzig),)]

    async def moves(seconds: float) -> None:
        async with rig.database.write() as tx:
            place = {"emergency_number": leipzig.number, "emergency_place": leipzig.place}
            await tx.locations.add(a_location(2, name="Leipzig", **place))
            await tx.phones.put(a_phone(1, location="Leipzig"))

    object.__setattr__(rig.drills, "pause", moves)
    assert await rig.run([mac]) == {mac: "agrees"}


async def test_phone_that_is_deleted_during_the_drill_has_no_row(rig: Rig) -> None:
    first, second = macs = await rig.office(2)
    async with rig.database.write() as tx:
        await tx.phones.remove(first)
    assert await rig.run(macs) == {second: "agrees"}
    with pytest.raises(NotFound):
        await rig.drills.newest(SYSTEM_ACTOR, first, 1)


async def test_two_drills_at_once_record_a_row_each(rig: Rig) -> None:
    macs = await rig.office(2 * AT_ONCE)
    await asyncio.gather(*(rig.drills.run(SYSTEM_ACTOR, macs) for _ in range(2)))
    for mac in macs:
        rows = await rig.drills.newest(SYSTEM_ACTOR, mac, 9)
        assert [row.result.value for row in rows] == ["agrees", "agrees"]


async def test_desks_are_active_and_within_the_location(rig: Rig) -> None:
    await rig.office(1)
    others = [
        a_phone(2, location="berlin / 3 / 301"),
        a_phone(3, location="Berlin/30"),
        a_phone(4, location="Berlin/3", is_active=False),
        a_phone(5, location=None),
    ]
    async with rig.database.write() as tx:
        for phone in others:
            await tx.phones.add(phone)
    desks = rig.drills.desks
    assert await desks(SYSTEM_ACTOR, "BERLIN/3") == [a_mac(1), a_mac(2)]
    assert await desks(SYSTEM_ACTOR) == [a_mac(number) for number in (1, 2, 3, 5)]
    assert await desks(SYSTEM_ACTOR, "Hamburg") == []


async def test_drill_without_an_exchange_is_refused() -> None:
    rig = Rig()
    object.__setattr__(rig.drills, "exchange", None)
    with pytest.raises(Refused, match="PHONEPROV_AMI_HOST"):
        await rig.drills.run(SYSTEM_ACTOR, [])
