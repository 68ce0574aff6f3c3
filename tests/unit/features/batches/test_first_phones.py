"""The phones that are switched first are those that were chosen."""

from datetime import timedelta
from typing import Any

import pytest

from phoneprov_core.features.batches.commands import BatchTarget, CreateBatch
from phoneprov_core.features.batches.model import Batch, BatchState, PhoneState
from phoneprov_core.inventory.phones.model import PhonePatch
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid, NotFound
from phoneprov_core.kernel.values import timestamp
from support.floor import FLOOR, Floor
from support.office import Settings
from support.records import a_mac

ALL = {a_mac(number) for number in range(1, 7)}


@pytest.fixture
async def floor() -> Floor:
    return await Floor.of(Settings(with_watch=True), phones=6)


async def order_of(floor: Floor, batch: Batch) -> list[str]:
    return [one.mac for one in await floor.phones_of(batch)]


@pytest.mark.parametrize("how", ["filter", "macs", "items"])
async def test_chosen_phones_are_switched_first_in_their_order(floor: Floor, how: str) -> None:
    uuid = floor.profile.uuid
    ways: dict[str, dict[str, Any]] = {
        "filter": {"location": FLOOR, "profile_uuid": uuid},
        "macs": {"macs": tuple(sorted(ALL)), "profile_uuid": uuid},
        "items": {"items": tuple(BatchTarget(mac, uuid) for mac in sorted(ALL))},
    }
    chosen = {**ways[how], "first_macs": (a_mac(5), a_mac(2))}

    plan = await floor.plan(**chosen)
    new = CreateBatch(action="switch", at_once=6, **chosen)
    batch = await floor.until_it_ended(await floor.batches.start(floor.root, new), ALL)

    assert (batch.state, batch.first, batch.phones.total) == (BatchState.DONE, 2, 6)
    assert await order_of(floor, batch) == [a_mac(number) for number in (5, 2, 1, 3, 4, 6)]
    sent = [upload.filename for upload in floor.uploader.uploads]
    assert {name[-11:-8] for name in sent[:2]} == {"002", "005"}
    assert [(one.mac, one.outcome) for one in plan.first] == [
        (a_mac(5), "changed"), (a_mac(2), "changed")
    ]  # fmt: skip


async def test_other_phones_wait_for_the_chosen_ones(floor: Floor) -> None:
    batch = await floor.begin(first_macs=(a_mac(4),), at_once=6)
    batch = await floor.until_it_ended(batch, ALL - {a_mac(4)})

    assert (batch.state, batch.phones.left_out) == (BatchState.STOPPED, 5)
    assert list(floor.sent()) == ["004"]
    assert f"{a_mac(4)}, one of the first phones, is not confirmed" in str(batch.message)


async def test_plan_names_the_first_phones_that_prove_nothing(floor: Floor) -> None:
    await floor.until_it_ended(await floor.begin(macs=(a_mac(2),)), ALL)
    await floor.phones.update(floor.root, a_mac(3), PhonePatch(is_active=False))
    fields = {"macs": tuple(sorted(ALL)), "profile_uuid": floor.profile.uuid}

    plan = await floor.plan(**fields, first=3)
    without = await floor.plan(**fields)

    assert [(one.mac, one.outcome) for one in plan.first] == [
        (a_mac(1), "changed"), (a_mac(2), "unchanged"), (a_mac(3), "unfit")
    ]  # fmt: skip
    assert without.first == ()


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({"first_macs": []}, [("first_macs", "must name at least one phone")]),
        ({"first_macs": ["x"]}, [("first_macs", "must have 12 hex")]),
        ({"first_macs": [a_mac(1), a_mac(2), "001bd4000001", a_mac(2)]},
         [("first_macs", f"names {a_mac(1)}, {a_mac(2)} more than once")]),
        ({"first_macs": [a_mac(1)], "first": 2}, [("first", "is not allowed with `first_macs`")]),
        ({"first_macs": [a_mac(1)], "action": "restart"},
         [("first_macs", "is not allowed with `action=restart`")]),
    ],
)  # fmt: skip
def test_wrong_choice_is_refused(fields: dict[str, Any], problems: list[tuple[str, str]]) -> None:
    with pytest.raises(Invalid) as invalid:
        command_of(CreateBatch, {"action": "switch", "location": FLOOR, **fields})

    found = [(one.field, one.message) for one in invalid.value.problems]
    assert [field for field, _ in found] == [field for field, _ in problems]
    assert all(part in text for (_, text), (_, part) in zip(found, problems, strict=True))


async def test_chosen_phones_that_are_not_in_the_batch_are_all_named(floor: Floor) -> None:
    """Two left between the choice and the start: one moved, one is no longer active."""
    await floor.phones.update(floor.root, a_mac(2), PhonePatch(location="Cellar"))
    await floor.phones.update(floor.root, a_mac(3), PhonePatch(is_active=False))
    fields: dict[str, Any] = {"location": FLOOR, "profile_uuid": floor.profile.uuid}
    new = CreateBatch(action="switch", **fields, first_macs=(a_mac(1), a_mac(2), a_mac(3)))

    for attempt in (floor.plan(**fields, first_macs=new.first_macs),
                    floor.batches.start(floor.root, new)):  # fmt: skip
        with pytest.raises(Invalid) as invalid:
            await attempt
        assert [(one.field, one.message) for one in invalid.value.problems] == [
            ("first_macs", f"names {a_mac(2)}, which is not in the batch"),
            ("first_macs", f"names {a_mac(3)}, which is not in the batch"),
        ]
    assert await floor.all_batches() == []


async def test_chosen_phone_that_does_not_exist_is_not_found(floor: Floor) -> None:
    await floor.phones.delete(floor.root, a_mac(2))

    with pytest.raises(NotFound, match=a_mac(2)):
        await floor.begin(first_macs=(a_mac(2),))
    assert await floor.all_batches() == []


@pytest.mark.parametrize("how", ["profile", "deleted", "inactive"])
async def test_first_phone_that_leaves_before_the_begin_stops_the_batch(
    floor: Floor, how: str
) -> None:
    """The batch does not wait for the confirmation of a phone that it leaves alone."""
    at = timestamp(floor.clock() + timedelta(hours=1))
    batch = await floor.begin(first_macs=(a_mac(4),), start_at=at)
    if how == "profile":
        await floor.save("<device>later</device>")
    elif how == "deleted":
        await floor.phones.delete(floor.root, a_mac(4))
    else:
        await floor.phones.update(floor.root, a_mac(4), PhonePatch(is_active=False))
    floor.clock.advance(3601)
    floor.background(floor.another_runner()())

    batch = await floor.until_it_ended(batch, ALL)

    first, *others = await floor.phones_of(batch)
    assert batch.state is BatchState.STOPPED
    assert f"{a_mac(4)}, one of the first phones: {first.message}" == batch.message
    assert {one.state for one in others} == {PhoneState.LEFT_OUT}
    assert floor.uploader.uploads == []
