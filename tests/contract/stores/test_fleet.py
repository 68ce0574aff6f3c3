"""The contract of ``FleetStore``, and the numbers of the fleet, on every database."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from phoneprov_adapters.sql.engines.transaction import Database
from phoneprov_core.features.desks.records import DeskRecord
from phoneprov_core.features.fleet.states import FleetState, SeenPhone, WatchedFile
from phoneprov_core.features.fleet.status import StateChange
from phoneprov_core.features.fleet.use_cases import FleetQuery, ViewFleet
from phoneprov_core.features.retention import Expiring, KeepDays, Prune
from phoneprov_core.inventory.phones.model import PhoneSearch
from phoneprov_core.inventory.phones.use_cases import Phones
from phoneprov_core.kernel.actor import LevelRule, SharedWrite, system_actor
from phoneprov_core.kernel.errors import Forbidden, NotFound
from phoneprov_core.kernel.ports import Window
from phoneprov_core.switching.deployments.model import Outcome
from support.kinds import add
from support.phone_records import a_deployment, a_phone
from support.records import a_mac, a_user, identifier, moment

ROOT = system_actor(LevelRule.STRICT)
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
STRANGER = msgspec.structs.replace(ROOT, level=None)


def seen(number: int, state: FleetState = FleetState.FINE, **more: Any) -> SeenPhone:
    return SeenPhone(a_mac(number), state, moment(number), **more)


async def keep(database: Database, *phones: SeenPhone) -> None:
    for phone in phones:
        async with database.write() as tx:
            await tx.fleet.put(phone, is_change=True)


async def test_what_was_seen_is_found_with_the_history_of_states(database: Database) -> None:
    await add(database, a_phone(1))
    known: dict[str, Any] = {
        "reported_mac": a_mac(2),
        "reported_model": "é",
        "reported_load": "l",
        "serial": "s",
    }
    known |= {"seen_at": moment(2), "file": "changed"}
    first = seen(1, answers=True, is_registered=False, misses=1, **known)
    second = seen(1, FleetState.FOREIGN, answers=False)
    await keep(database, first)
    async with database.read() as tx:
        assert await tx.fleet.find(a_mac(1)) == first
        assert await tx.fleet.find(a_mac(2)) is None
    await keep(database, msgspec.structs.replace(second, since=moment(9)))
    async with database.write() as tx:
        await tx.fleet.put(msgspec.structs.replace(second, since=moment(9)), is_change=False)

    async with database.read() as tx:
        history = await tx.fleet.history(a_mac(1), 5)
        assert await tx.fleet.history(a_mac(1), 1) == history[:1]
    assert history == [
        StateChange(FleetState.FOREIGN, moment(9)),
        StateChange(FleetState.FINE, moment(1)),
    ]


async def test_use_of_phones_has_state_and_time_of_those_that_were_looked_at(
    database: Database,
) -> None:
    await add(database, a_phone(1))
    await add(database, a_phone(2))
    await keep(database, seen(1, FleetState.FOREIGN, seen_at=moment(3)))

    async with database.read() as tx:
        uses = await tx.phones.uses([a_mac(1), a_mac(2)])
    assert (uses[a_mac(1)].state, uses[a_mac(1)].seen_at) == ("foreign", moment(3))
    assert (uses[a_mac(2)].state, uses[a_mac(2)].seen_at) == (None, None)
    assert (uses[a_mac(2)].last_outcome, uses[a_mac(2)].hotdesk) == ("none", True)


async def test_phone_outside_the_inventory_is_refused_and_its_deletion_forgets(
    database: Database,
) -> None:
    with pytest.raises(NotFound):
        await keep(database, seen(1))
    await add(database, a_phone(1))
    await keep(database, seen(1))
    async with database.write() as tx:
        await tx.phones.remove(a_mac(1))

    async with database.read() as tx:
        assert await tx.fleet.find(a_mac(1)) is None
        assert not await tx.fleet.history(a_mac(1), 5)


async def test_watched_phones_are_active_and_have_an_address(database: Database) -> None:
    phones = [a_phone(number, phone_ip=f"10.0.0.{number}") for number in range(1, 5)]
    phones[1] = msgspec.structs.replace(phones[1], is_active=False)
    phones[2] = msgspec.structs.replace(phones[2], phone_ip=None)
    await add(database, *phones)
    await keep(database, seen(4))

    async with database.read() as tx:
        assert await tx.fleet.watched("", 9) == [(phones[0], None), (phones[3], seen(4))]
        assert await tx.fleet.watched("", 1) == [(phones[0], None)]
        assert await tx.fleet.watched(a_mac(1), 9) == [(phones[3], seen(4))]


async def test_files_are_those_of_watched_phones_with_the_deployment_in_place(
    database: Database,
) -> None:
    phones = [
        a_phone(number, phone_ip=f"10.0.0.{number}", created_at=moment(0)) for number in range(1, 6)
    ]
    phones[1] = msgspec.structs.replace(phones[1], is_active=False)
    phones[2] = msgspec.structs.replace(phones[2], phone_ip=None)
    await add(database, *phones)
    in_place: dict[str, Any] = {"outcome": Outcome.DEPLOYED, "place": "s/f"}
    for number in (1, 2, 3, 5):
        await add(database, a_deployment(number, a_mac(number), filename="f", **in_place))
    unknown = {"outcome": Outcome.UNKNOWN, "place": "f", "number": 7}
    await add(database, a_deployment(7, a_mac(5), **unknown))
    await keep(database, seen(4, file="missing", answers=False), seen(5, file="changed"))

    first = WatchedFile(a_mac(1), "10.0.0.1", "unknown", None, identifier(1), "f")
    fourth = WatchedFile(a_mac(4), "10.0.0.4", "missing", False, None, None)
    fifth = WatchedFile(a_mac(5), "10.0.0.5", "changed", None, None, None)
    async with database.read() as tx:
        assert await tx.fleet.files("", 9) == [first, fourth, fifth]
        assert await tx.fleet.files(a_mac(1), 1) == [fourth]


async def test_numbers_count_active_phones_and_days(database: Database) -> None:
    await add(
        database,
        *(a_phone(number, model="CP-7945G", location="Hall") for number in (1, 2, 3)),
        a_phone(4, model="7945", location="hall"),
        a_phone(5, is_active=False),
        a_phone(6, model=None),
    )
    await keep(
        database,
        seen(1, reported_load="a"),
        seen(2, reported_load="a"),
        seen(3, FleetState.FOREIGN, reported_load="b"),
        seen(5),
    )
    wanted = [(0, Outcome.DEPLOYED), (0, Outcome.FAILED), (1, Outcome.DEPLOYED)]
    wanted += [(5, Outcome.DEPLOYED), (5, Outcome.DEPLOYED), (40, Outcome.FAILED)]
    for number, (age, outcome) in enumerate(wanted):
        at = (NOW - timedelta(days=age)).isoformat()[:19] + ".000Z"
        await add(database, a_deployment(100 + number, a_mac(1), outcome=outcome, created_at=at))
    view = ViewFleet(database, lambda: NOW)

    first = await view.numbers(ROOT, FleetQuery(days=30))

    assert first.phones == 5
    assert first.states == {"fine": 2, "never_seen": 2, "foreign": 1}
    assert sum(first.last_outcomes.values()) == 5
    assert first.models == {"7945": 4}
    assert first.loads == {"a": 2, "b": 1}
    assert first.locations == {"Hall": 4, "": 1}
    assert (first.inactive, first.in_use, first.discovered) == (1, 0, 0)
    days = {one.day: one.outcomes for one in first.days}
    assert days == {
        "2026-03-05": {"deployed": 2},
        "2026-03-09": {"deployed": 1},
        "2026-03-10": {"deployed": 1, "failed": 1},
    }
    assert await view.numbers(ROOT, FleetQuery(days=30)) == first
    assert len((await view.numbers(ROOT, FleetQuery(days=365))).days) == 4
    assert [one.day for one in (await view.numbers(ROOT, FleetQuery(days=1))).days] == [
        "2026-03-10"
    ]


async def test_deployments_of_today_are_counted_when_they_change_and_later_stored(
    database: Database,
) -> None:
    await add(database, a_phone(1))
    deployment = a_deployment(1, a_mac(1), outcome=Outcome.RUNNING, created_at=moment(1))
    await add(database, deployment)
    day = moment(1)[:10]
    begin = datetime.fromisoformat(moment(1))

    def on(later: int) -> ViewFleet:
        return ViewFleet(database, lambda: begin + timedelta(days=later))

    async def outcomes(later: int) -> dict[str, int]:
        (one,) = (await on(later).numbers(ROOT, FleetQuery(days=30))).days
        assert one.day == day
        return one.outcomes

    assert await outcomes(0) == {"running": 1}
    async with database.write() as tx:
        await tx.deployments.put(msgspec.structs.replace(deployment, outcome=Outcome.DEPLOYED))
    assert await outcomes(1) == {"deployed": 1}
    assert await outcomes(9) == {"deployed": 1}
    async with database.read() as tx:
        assert await tx.fleet.days(day, day) == {day: {"deployed": 1}}


async def test_days_that_are_over_are_counted_once_and_stay_when_deployments_are_removed(
    database: Database,
) -> None:
    """A year, in pieces; two readers at once, and the time between two."""

    def on(day: int) -> str:
        return f"{(NOW + timedelta(days=day)).isoformat()[:19]}.000Z"

    await ViewFleet(database, lambda: NOW).count_days()
    days = range(-363, 2)
    for number, day in enumerate(days):
        outcome = Outcome.FAILED if number % 3 else Outcome.DEPLOYED
        await add(
            database, a_deployment(number, a_mac(number), outcome=outcome, created_at=on(day))
        )
    view = ViewFleet(database, lambda: NOW + timedelta(days=1))
    async with database.read() as tx:
        assert await tx.fleet.summed_until() == on(-363)[:10]

    await asyncio.gather(view.count_days(), view.count_days())

    async with database.read() as tx:
        assert await tx.fleet.summed_until() == on(-1)[:10]
    year = await view.numbers(ROOT, FleetQuery(days=365))
    assert [(one.day, one.outcomes) for one in year.days] == [
        (on(day)[:10], {"failed" if number % 3 else "deployed": 1})
        for number, day in enumerate(days)
    ]
    for number in range(100):  # The earlier ones of these phones can be removed.
        await add(
            database, a_deployment(1000 + number, a_mac(number), number=999, created_at=on(1))
        )
    prune = Prune(database, KeepDays(), lambda: NOW + timedelta(days=90), asyncio.sleep)
    pruned = {one.kind: one.count for one in await prune()}
    # Of 88 that are old enough, 30 were on their phones until that moment.
    assert (pruned[Expiring.DEPLOYMENTS], pruned[Expiring.DAYS]) == (58, 91)
    later = ViewFleet(database, lambda: NOW + timedelta(days=90))
    assert (await later.numbers(ROOT, FleetQuery(days=365))).days[:-1] == year.days[89:-1]


async def test_phones_are_filtered_by_state(database: Database) -> None:
    await add(database, *(a_phone(number) for number in (1, 2, 3)), a_phone(4, is_active=False))
    await keep(database, seen(1), seen(2, FleetState.FOREIGN), seen(4))
    phones = Phones(database, SharedWrite.SUPERADMIN, lambda: NOW)

    async def macs(state: Any) -> list[str]:
        return [one.mac for one in (await phones.all(ROOT, None, PhoneSearch(state=state))).first]

    assert await macs("fine") == [a_mac(1)]
    assert await macs("foreign") == [a_mac(2)]
    assert await macs("never_seen") == [a_mac(3)]
    assert not await macs("unreachable")
    for call in (
        phones.all(STRANGER, None, PhoneSearch(state="fine")),
        ViewFleet(database, lambda: NOW).numbers(STRANGER, FleetQuery()),
        ViewFleet(database, lambda: NOW).state(STRANGER, a_mac(1)),
    ):
        with pytest.raises(Forbidden):
            await call


async def test_sign_of_life_is_kept_to_the_minute_and_ends_never_seen(database: Database) -> None:
    await add(database, a_phone(1, phone_ip="10.0.0.1"))
    await add(database, a_phone(2))
    moments = [f"2026-01-31T08:{minute}:00.000Z" for minute in ("10", "12", "11")]
    for at in (*moments, "2026-01-31T08:12:30.000Z"):
        async with database.write() as tx:
            for mac in (a_mac(1), a_mac(2), a_mac(3)):
                await tx.fleet.saw(mac, at)

    async with database.read() as tx:
        found = await tx.fleet.find(a_mac(1))
        assert found == SeenPhone(a_mac(1), FleetState.FINE, moments[0], seen_at=moments[1])
        assert await tx.fleet.history(a_mac(1), 5) == [StateChange(FleetState.FINE, moments[0])]
        assert await tx.fleet.find(a_mac(3)) is None
    async with database.write() as tx:
        wrong = msgspec.structs.replace(
            seen(2, FleetState.WRONG_LOAD),
            since=moments[1],
            seen_at=moments[0],
            runs_expected=False,
        )
        await tx.fleet.put(wrong, is_change=True)
        await tx.fleet.saw(a_mac(2), moments[1])
        found = await tx.fleet.find(a_mac(2))
        history = await tx.fleet.history(a_mac(2), 5)
    assert found == msgspec.structs.replace(wrong, seen_at=moments[1])
    assert history[0].state is FleetState.WRONG_LOAD


async def test_phone_is_listed_and_counted_under_each_of_its_states(database: Database) -> None:
    both = (FleetState.UNREACHABLE, FleetState.FILE_CHANGED)
    await add(database, *(a_phone(number) for number in range(1, 4)))
    await keep(
        database,
        seen(1, FleetState.UNREACHABLE, states=both, reported_load="l"),
        seen(2, FleetState.FILE_CHANGED),
    )
    phones = Phones(database, SharedWrite.SUPERADMIN, lambda: NOW)

    async def listed(state: str) -> list[str]:
        wanted = msgspec.convert({"state": state}, PhoneSearch)
        return [phone.mac for phone in (await phones.all(ROOT, None, wanted)).first]

    assert await listed("file_changed") == [a_mac(1), a_mac(2)]
    assert await listed("unreachable") == [a_mac(1)]
    assert await listed("never_seen") == [a_mac(3)]
    numbers = await ViewFleet(database, lambda: NOW).numbers(ROOT, FleetQuery())
    assert numbers.states == {"file_changed": 2, "never_seen": 1, "unreachable": 1}
    assert (numbers.phones, numbers.loads) == (3, {"l": 1})
    async with database.read() as tx:
        assert (await tx.statistics.read()).fleet == numbers.states


async def test_phone_of_an_account_that_is_not_active_needs_attention(database: Database) -> None:
    await add(database, a_user(1), a_user(2, is_active=False))
    await add(database, *(a_phone(number) for number in range(1, 6)), a_phone(6, is_active=False))
    later = {"place": "server/file", "outcome": Outcome.DEPLOYED, "created_at": moment(50)}
    owners = {1: 1, 2: 2, 3: 3, 4: 2, 6: 2}  # the third account was deleted
    for number, owner in owners.items():
        fields = {**later, "owner_uuid": a_user(owner).uuid}
        await add(database, a_deployment(number, a_mac(number), **fields))
    # That of an earlier phone of this MAC, which was deleted.
    earlier = {**later, "owner_uuid": a_user(2).uuid, "created_at": moment(-50)}
    await add(database, a_deployment(5, a_mac(5), **earlier))
    await keep(database, seen(1), seen(2), seen(3, FleetState.FILE_CHANGED), seen(5), seen(6))
    phones, view = Phones(database, SharedWrite.SUPERADMIN, lambda: NOW), ViewFleet(
        database, lambda: NOW
    )  # fmt: skip

    async def macs(state: Any) -> list[str]:
        found = await phones.all(ROOT, Window(), PhoneSearch(state=state))
        return [one.mac for one in found.first]

    assert await macs("user_inactive") == [a_mac(2), a_mac(3), a_mac(4)]
    assert await macs("fine") == [a_mac(1), a_mac(5)]
    assert await macs("file_changed") == [a_mac(3)]
    assert await macs("never_seen") == [a_mac(4)]
    counts = {"user_inactive": 3, "fine": 2, "file_changed": 1, "never_seen": 1}
    assert (await view.numbers(ROOT, FleetQuery())).states == counts
    async with database.read() as tx:
        assert dict((await tx.statistics.read()).fleet) == counts
        uses = await tx.phones.uses([a_mac(number) for number in range(1, 7)])
    shown = [
        None if (one := uses.get(a_mac(number))) is None else one.state for number in range(1, 7)
    ]
    left = "user_inactive"
    assert shown == ["fine", left, left, left, "fine", "fine"]
    status = await view.state(ROOT, a_mac(3))
    assert [one.value for one in status.states] == [left, "file_changed"]
    assert status.message.startswith("The phone has the configuration of an account that is no")
    assert status.next_step == "Switch the phone to the profile of another user, or deactivate it."
    assert (await view.state(ROOT, a_mac(6))).state is FleetState.FINE


async def test_phone_needs_attention_until_it_restarted_without_the_account_that_left(
    database: Database,
) -> None:
    await add(database, a_user(1), a_user(2, is_active=False))
    await add(database, *(a_phone(number) for number in range(1, 4)))
    later = {"place": "server/file", "outcome": Outcome.DEPLOYED, "created_at": moment(50)}
    emptied = {"owner_uuid": a_user(2).uuid, "template_name": "empty"}
    for number, fields in {1: {"owner_uuid": a_user(1).uuid}, 2: emptied, 3: emptied}.items():
        await add(database, a_deployment(number, a_mac(number), **later, **fields))
    async with database.write() as tx:
        await tx.desks.put(DeskRecord(a_mac(1), left_user_uuid=a_user(2).uuid))
        await tx.desks.put(DeskRecord(a_mac(2), left_user_uuid=a_user(1).uuid))
    phones = Phones(database, SharedWrite.SUPERADMIN, lambda: NOW)
    found = await phones.all(ROOT, Window(), PhoneSearch(state="user_inactive"))
    assert [one.mac for one in found.first] == [a_mac(1)]
    numbers = await ViewFleet(database, lambda: NOW).numbers(ROOT, FleetQuery())
    assert numbers.states["user_inactive"] == 1


async def test_numbers_of_places_are_those_of_phones_that_are_there_now(database: Database) -> None:
    for number, place in (
        (1, "K\u00f6ln"),
        (2, "K\u00f6ln"),
        (3, "Bonn"),
        (4, None),
        (5, "K\u00f6ln"),
    ):
        await add(database, a_phone(number, location=place, is_active=number != 5))
        await add(database, a_deployment(number, a_mac(number), created_at=moment(number)))
    await add(database, a_deployment(6, a_mac(6), created_at=moment(6)))
    await keep(database, seen(1, reported_load="l"), seen(3), seen(5))
    day = moment(1)[:10]

    async with database.read() as tx:
        counted = await tx.fleet.counts(["K\u00f6ln", "Ulm"])
        assert sum(count for *_, count in counted.recorded) == 2
        assert counted.observed == [((FleetState.FINE,), "l", 1)]
        assert sum((await tx.fleet.days(day, day, ["K\u00f6ln"]))[day].values()) == 3
        assert sum((await tx.fleet.days(day, day))[day].values()) == 6
        assert await tx.fleet.days(day, day, []) == {}
        assert (await tx.fleet.counts([])).recorded == []
