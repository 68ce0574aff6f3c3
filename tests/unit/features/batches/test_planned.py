"""Batches with a profile for each phone, at a planned time, or with first phones."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from phoneprov_core.features.batches.changes import NOT_KNOWN, OTHER_USER
from phoneprov_core.features.batches.commands import BatchTarget, CreateBatch
from phoneprov_core.features.batches.model import BatchState
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid, NotFound, TimedOut
from phoneprov_core.kernel.values import timestamp
from phoneprov_core.switching.deployments.model import INTERRUPTED, NOT_SEEN, Confirmation, Outcome
from support.floor import FLOOR, Floor
from support.office import Settings
from support.polling import until
from support.records import a_mac
from support.store_tests import existing
from support.switching import NOWHERE, XML


async def test_each_item_gets_its_own_profile(floor: Floor) -> None:
    other = await floor.profile_of(floor.root, "<other/>")
    items = (BatchTarget(a_mac(2), other.uuid), BatchTarget("001bd4000001", floor.profile.uuid))

    new = CreateBatch(action="switch", items=items)
    batch = await floor.ended(await floor.batches.start(floor.root, new))

    assert floor.sent() == {"001": XML.encode(), "002": b"<other/>"}
    assert [(one.mac, one.profile_uuid) for one in await floor.phones_of(batch)] == [
        (a_mac(2), other.uuid),
        (a_mac(1), floor.profile.uuid),
    ]


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({"items": []}, {"items"}),
        ({"items": [{"mac": "x", "profile_uuid": NOWHERE}]}, {"items"}),
        ({"items": [{"mac": a_mac(1), "profile_uuid": "x"}]}, {"items"}),
        ({"items": [{"mac": a_mac(1)}]}, {"items"}),
        ({"items": [{"mac": a_mac(1), "profile_uuid": NOWHERE, "x": 1}]}, {"items"}),
        ({"items": [{"mac": a_mac(1), "profile_uuid": uuid}
                    for uuid in (NOWHERE, NOWHERE.replace("f", "e"))]}, {"items"}),
        ({"items": [{"mac": a_mac(1), "profile_uuid": NOWHERE}], "macs": [a_mac(1)],
          "profile_uuid": NOWHERE, "location": "x"}, {"macs", "profile_uuid", "location"}),
        ({"macs": [a_mac(1)], "template": "x"}, {"template"}),
        ({"location": "x", "action": "restart", "first": 3, "undo_on_stop": True,
          "only_changed": True, "newest": True},
         {"first", "undo_on_stop", "only_changed", "newest"}),
        ({"location": "x", "profile_uuid": NOWHERE, "revision": 1, "newest": True}, {"newest"}),
        ({"location": "x", "start_at": "2026-01-31T08:15:30"}, {"start_at"}),
        ({"location": "x", "first": 0, "first_minutes": 0}, {"first", "first_minutes"}),
    ],
)  # fmt: skip
def test_contradicting_fields_are_named(fields: dict[str, Any], problems: set[str]) -> None:
    with pytest.raises(Invalid) as invalid:
        command_of(CreateBatch, {"action": "switch", **fields})

    assert {problem.field for problem in invalid.value.problems} == problems


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"items": (BatchTarget(a_mac(1), NOWHERE),)}, NotFound, NOWHERE),
        ({"template": "office"}, NotFound, "no template office"),
        ({"macs": (a_mac(1),), "profile_uuid": NOWHERE}, NotFound, "profile"),
        ({"macs": (a_mac(1),), "profile_uuid": "", "revision": 99}, NotFound, "revision"),
        ({"macs": (a_mac(1),), "start_at": "2020-01-01T00:00:00.000Z"}, Invalid,
         "start_at must be in the future"),
        ({"macs": (a_mac(1),), "start_at": "2026-05-01T08:16:00.000Z"}, Invalid,
         "start_at must be at most 90 days ahead"),
    ],
)  # fmt: skip
async def test_batch_of_unknown_records_or_in_the_past_is_neither_started_nor_planned(
    floor: Floor, fields: dict[str, Any], error: type[Exception], message: str
) -> None:
    if fields.get("profile_uuid") == "":
        fields = {**fields, "profile_uuid": floor.profile.uuid}
    with pytest.raises(error, match=message):
        await floor.batches.start(floor.root, CreateBatch(action="switch", **fields))
    with pytest.raises(error, match=message):
        await floor.plan(**fields)
    assert (await floor.all_batches()) == []


@pytest.mark.parametrize(
    ("at", "in_utc"),
    [
        # The clocks of Berlin go from 02:00 to 03:00 on 29 March, and from 03:00 back to 02:00 on
        # 25 October, so that 02:30 is there twice; those of Lord Howe change by half an hour.
        ("2026-03-29T01:59:59+01:00", "2026-03-29T00:59:59.000Z"),
        ("2026-03-29T03:30:00+02:00", "2026-03-29T01:30:00.000Z"),
        ("2026-10-25T02:30:00+02:00", "2026-10-25T00:30:00.000Z"),
        ("2026-10-25T02:30:00+01:00", "2026-10-25T01:30:00.000Z"),
        ("2026-10-04T02:30:00+11:00", "2026-10-03T15:30:00.000Z"),
        ("2026-04-05T01:30:00+10:30", "2026-04-04T15:00:00.000Z"),
    ],
)
async def test_planned_batch_begins_at_its_time_and_once(
    floor: Floor, at: str, in_utc: str
) -> None:
    floor.clock.now = datetime.fromisoformat(in_utc) - timedelta(days=7)
    batch = await floor.begin(start_at=at)
    await floor.background.done()

    assert (batch.state, batch.start_at) == (BatchState.PLANNED, in_utc)
    floor.clock.now = datetime.fromisoformat(in_utc) - timedelta(seconds=1)
    await asyncio.gather(*(floor.another_runner()() for _ in range(3)))
    assert floor.uploader.uploads == []
    assert (await floor.batches.get(floor.root, batch.uuid)).state is BatchState.PLANNED

    floor.clock.advance(1)
    await asyncio.gather(*(floor.another_runner()() for _ in range(3)))

    batch = await floor.batches.get(floor.root, batch.uuid)
    assert (batch.state, batch.phones.done) == (BatchState.DONE, 12)
    assert len(floor.uploader.uploads) == 12


async def test_planned_batch_whose_worker_was_killed_is_continued_once(floor: Floor) -> None:
    batch = await floor.begin(start_at=timestamp(floor.clock() + timedelta(days=90)))
    await floor.background.done()
    floor.clock.advance(90 * 86_400)
    async with floor.database.write() as tx:
        assert await tx.batches.take("a killed process", 30)

    await floor.another_runner()()
    assert floor.uploader.uploads == []
    floor.clock.advance(31)
    await floor.another_runner()()

    assert (await floor.batches.get(floor.root, batch.uuid)).phones.done == 12
    assert len(floor.uploader.uploads) == 12


async def test_cancelled_planned_batch_ends_at_once(floor: Floor) -> None:
    at = timestamp(floor.clock() + timedelta(hours=1))
    batch = await floor.begin(start_at=at)

    cancelled = await floor.batches.cancel(floor.root, batch.uuid)
    floor.clock.advance(7200)
    await floor.another_runner()()

    assert (cancelled.state, cancelled.phones.left_out) == (BatchState.CANCELLED, 12)
    assert cancelled.ended_at is not None
    assert floor.uploader.uploads == []


@pytest.mark.parametrize("missed", [0, 1])
async def test_others_follow_when_the_first_phones_are_confirmed(missed: int) -> None:
    floor = await Floor.of(Settings(with_watch=True), phones=6)
    seen = {a_mac(number) for number in range(1, 7)} - {a_mac(missed)}

    batch = await floor.begin(first=2, at_once=6)
    batch = await floor.until_it_ended(batch, seen)

    if not missed:
        assert (batch.state, batch.phones.done) == (BatchState.DONE, 6)
        return
    assert (batch.state, batch.phones.done, batch.phones.left_out) == (BatchState.STOPPED, 2, 4)
    assert f"{a_mac(1)}, one of the first phones, is not confirmed" in str(batch.message)
    assert len(floor.uploader.uploads) == 2


@pytest.mark.parametrize("message", [NOT_SEEN, INTERRUPTED])
@pytest.mark.parametrize("times", [1, 3])
async def test_first_phone_whose_watch_was_interrupted_is_switched_again(
    monkeypatch: pytest.MonkeyPatch, message: str, times: int
) -> None:
    floor = await Floor.of(Settings(with_watch=True), phones=4)
    batch = await floor.begin(first=1, at_once=4, undo_on_stop=True)
    comes_back = floor.watch.comes_back

    def back(mac: str) -> None:
        if mac == a_mac(1) and len(floor.uploader.uploads) <= times:
            floor.watch.goes_missing(mac, TimedOut(message))
        else:
            comes_back(mac)

    monkeypatch.setattr(floor.watch, "comes_back", back)
    batch = await floor.until_it_ended(batch, {a_mac(number) for number in range(1, 5)})

    sent = [upload.filename for upload in floor.uploader.uploads]
    if times == 1:
        assert (batch.state, batch.phones.done, batch.undone_by) == (BatchState.DONE, 4, None)
        assert len(sent) == 5
        assert sent[0] == sent[1]
    else:
        assert (batch.state, batch.phones.left_out) == (BatchState.STOPPED, 3)
        assert message in str(batch.message)
        assert sent[:3] == [sent[0]] * 3


async def test_unwatched_first_phones_stop_the_batch(floor: Floor) -> None:
    batch = await floor.run(first=3)

    assert (batch.state, batch.phones.done) == (BatchState.STOPPED, 3)
    assert "is not confirmed" in str(batch.message)


@pytest.mark.parametrize(
    "fields", [{"restart": "It refused."}, {"confirmation": Confirmation.NOT_CONFIRMED}]
)
async def test_phone_that_was_not_seen_to_restart_is_not_unchanged(
    floor: Floor, fields: dict[str, Any]
) -> None:
    for number in (1, 2):
        await floor.switched(floor.root, mac=a_mac(number))
    macs = (a_mac(1), a_mac(2))
    async with floor.database.write() as tx:
        current = await tx.deployments.current(a_mac(2))
        assert current is not None
        await tx.deployments.put(msgspec.structs.replace(current, **fields))
    floor.uploader.uploads.clear()

    for action in ("switch", "restart"):
        found = await floor.plan(action=action, macs=macs)
        assert (found.unchanged, found.changed) == (1, 1)
        assert [(one.macs, one.diff) for one in found.groups] == [((a_mac(2),), NOT_KNOWN)]
    batch = await floor.begin(macs=macs, only_changed=True)
    await floor.ended(batch)
    assert list(floor.sent()) == ["002"]


async def test_equal_text_of_another_user_or_after_an_interruption_is_not_unchanged(
    floor: Floor,
) -> None:
    """Bob's lines are in the exchange; and the file may be that of the interrupted switch."""
    for number in (1, 2, 3):
        await floor.switched(floor.root, mac=a_mac(number))
    bobs = await floor.profile_of(floor.bob, XML)
    async with floor.database.write() as tx:
        current = existing(await tx.deployments.current(a_mac(2)))
        cut = {"uuid": NOWHERE, "number": 9, "place": None, "outcome": Outcome.INTERRUPTED}
        await tx.deployments.add(msgspec.structs.replace(current, **cut))
    floor.uploader.uploads.clear()
    profiles = (bobs, floor.profile, floor.profile)
    items = tuple(BatchTarget(a_mac(n), one.uuid) for n, one in enumerate(profiles, 1))

    found = await floor.plan(items=items)
    new = CreateBatch(action="switch", items=items, only_changed=True)
    await floor.ended(await floor.batches.start(floor.root, new))

    assert (found.unchanged, found.changed) == (1, 2)
    assert {one.macs: one.diff[: len(NOT_KNOWN)] for one in found.groups} == {
        (a_mac(1),): OTHER_USER, (a_mac(2),): NOT_KNOWN
    }  # fmt: skip
    assert list(floor.sent()) == ["001", "002"]


async def test_plan_of_phones_without_a_deployment(floor: Floor) -> None:
    found = await floor.plan(location=FLOOR, profile_uuid=floor.profile.uuid)
    without = await floor.plan(location=FLOOR)

    assert (found.phones, found.changed, len(found.groups)) == (12, 12, 1)
    assert found.groups[0].diff.startswith(f"{NOT_KNOWN}+<device>\n")
    assert (without.unfit, without.problems[0].count) == (12, 12)
    restarts = await floor.plan(action="restart", location=FLOOR)
    assert [(one.count, one.diff) for one in restarts.groups] == [(12, NOT_KNOWN)]


async def test_batch_is_watching_until_it_is_known_whether_its_phones_are_back() -> None:
    floor = await Floor.of(Settings(with_watch=True), phones=2)
    batch = await floor.begin()

    async def are_done() -> bool:
        return (await floor.batches.get(floor.root, batch.uuid)).phones.done == 2

    await until(are_done)

    assert await floor.batches.is_watching(floor.root, batch.uuid)
    floor.watch.comes_back(a_mac(1))
    await until(lambda: len(floor.watch.watched) == 1)
    assert await floor.batches.is_watching(floor.root, batch.uuid)
    floor.watch.goes_missing(a_mac(2))
    await floor.background.done()
    assert not await floor.batches.is_watching(floor.root, batch.uuid)
