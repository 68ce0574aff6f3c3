"""A planned batch deploys what it was planned for, while its planner holds level 0."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from phoneprov_core.features.batches.commands import BatchTarget, CreateBatch
from phoneprov_core.features.batches.model import Batch, BatchState, PhoneState
from phoneprov_core.features.templates.model import CreateTemplate, TemplatePatch
from phoneprov_core.inventory.phones.model import PhonePatch
from phoneprov_core.inventory.profiles.model import CreateProfile, Profile, ProfilePatch
from phoneprov_core.kernel.actor import LevelRule
from phoneprov_core.kernel.values import timestamp
from support.floor import FLOOR, Floor
from support.records import a_mac
from support.switching import XML

NEW = "<device>written later</device>"


@pytest.fixture
async def floor() -> Floor:
    return await Floor.of(phones=3)


async def planned(floor: Floor, **fields: Any) -> Batch:
    at = timestamp(floor.clock() + timedelta(hours=1))
    new = CreateBatch(**{"action": "switch", "location": FLOOR, "start_at": at, **fields})
    return await floor.batches.start(floor.root, new)


async def run(floor: Floor, batch: Batch) -> Batch:
    floor.clock.advance(3601)
    await floor.another_runner()()
    return await floor.batches.get(floor.root, batch.uuid)


async def results(floor: Floor, batch: Batch) -> list[tuple[PhoneState, str | None]]:
    return [(one.state, one.message) for one in await floor.phones_of(batch)]


def left(why: str) -> tuple[PhoneState, str]:
    text = f"{why} The phone was left unchanged."
    return PhoneState.LEFT_OUT, text


PROFILE_CHANGED = left(
    "The profile The floor changed since the batch was created: it had revision 1."
)
DONE = (PhoneState.DONE, None)


@pytest.mark.parametrize("how", ["profile", "items", "on the phone"])
@pytest.mark.parametrize("newest", [False, True])
async def test_profile_that_changed_since_the_plan_is_left_alone(
    floor: Floor, how: str, newest: bool
) -> None:
    for number in (1, 2, 3):
        await floor.switched(floor.root, mac=a_mac(number))
    other = await floor.profile_of(floor.bob, "<bobs/>", "Bobs")
    await floor.switched(floor.root, other, a_mac(3))
    fields: dict[str, Any] = {}
    if how == "profile":
        fields = {"profile_uuid": floor.profile.uuid}
    elif how == "items":
        profiles = (floor.profile, floor.profile, other)
        items = tuple(BatchTarget(a_mac(n), one.uuid) for n, one in enumerate(profiles, 1))
        fields = {"items": items, "location": None}
    batch = await planned(floor, newest=newest, **fields)
    floor.uploader.uploads.clear()
    await floor.save(NEW)

    batch = await run(floor, batch)

    bobs = PROFILE_CHANGED if how == "profile" else DONE
    assert batch.state is BatchState.DONE
    if newest:
        assert await results(floor, batch) == [DONE] * 3
        assert floor.sent()["001"] == NEW.encode()
        assert batch.revision is None
    else:
        assert await results(floor, batch) == [PROFILE_CHANGED, PROFILE_CHANGED, bobs]
        assert "001" not in floor.sent()


async def test_revision_that_was_named_is_deployed_though_the_profile_changed(
    floor: Floor,
) -> None:
    batch = await planned(floor, profile_uuid=floor.profile.uuid, revision=1)
    await floor.save(NEW)

    batch = await run(floor, batch)

    assert batch.phones.done == 3
    assert floor.sent()["001"] == XML.encode()


async def test_batch_without_a_plan_deploys_its_revision_to_the_end(floor: Floor) -> None:
    """Its profile is changed while it runs."""
    gate = floor.gate("upload")
    batch = await floor.begin(at_once=1)
    await gate.reached.wait()
    await floor.save(NEW)
    gate.open.set()

    batch = await floor.ended(batch)

    assert batch.phones.done == 3
    assert set(floor.sent().values()) == {XML.encode()}


async def test_phone_that_got_another_profile_since_is_left_alone(floor: Floor) -> None:
    for number in (1, 2):
        await floor.switched(floor.root, mac=a_mac(number))
    batch = await planned(floor, location=None, macs=(a_mac(1), a_mac(2)))
    other = await floor.profile_of(floor.bob, "<bobs/>")
    await floor.switched(floor.root, other, a_mac(2))

    batch = await run(floor, batch)

    assert await results(floor, batch) == [
        DONE,
        left("The phone got another profile since the batch was created."),
    ]


async def templated(floor: Floor) -> Profile:
    """A profile whose template has a variant for the 7945 and one for all others; the second phone
    is another model."""
    for model, body in (("7945", "<d>7945</d>"), (None, "<d>others</d>")):
        new = CreateTemplate(name="office", body=body, model=model)
        await floor.templates.create(floor.root, new)
    await floor.phones.update(floor.root, a_mac(2), PhonePatch(model="CP-8841"))
    new_profile = CreateProfile(user_uuid=floor.ada.user_uuid, name="desk", template="office")
    return await floor.profiles.create(floor.root, new_profile)


TEMPLATE_CHANGED = "The template {} changed since the batch was created."


@pytest.mark.parametrize(
    ("what", "phones"),
    [
        ("text", [TEMPLATE_CHANGED.format("office (7945)"), None]),
        ("description", [None, None]),
        ("deleted", [TEMPLATE_CHANGED.format("office"), None]),
        ("added", [None, TEMPLATE_CHANGED.format("office (8841)")]),
    ],
)
async def test_template_that_changed_since_the_plan_is_left_alone(
    floor: Floor, what: str, phones: list[str | None]
) -> None:
    profile = await templated(floor)
    macs = (a_mac(1), a_mac(2))
    batch = await planned(floor, location=None, macs=macs, profile_uuid=profile.uuid)
    first = (await floor.templates.all(floor.root)).first[0]
    if what == "text":
        await floor.templates.update(floor.root, first.uuid, TemplatePatch(body="<d>new</d>"))
    elif what == "description":
        await floor.templates.update(floor.root, first.uuid, TemplatePatch(description="x"))
    elif what == "deleted":
        await floor.templates.delete(floor.root, first.uuid)
    else:
        new = CreateTemplate(name="office", body="<d>8841</d>", model="8841")
        await floor.templates.create(floor.root, new)

    batch = await run(floor, batch)

    assert await results(floor, batch) == [left(why) if why else DONE for why in phones]


LOST = (
    "The account that started this batch is no longer active, or no longer holds level 0. "
    "Start another batch for the rest."
)


async def lose(floor: Floor, how: str) -> None:
    """The account that planned the batch loses its right; another one has it."""
    await floor.add_user("second.root", level=0)
    if how == "deactivated":
        await floor.deactivate(floor.root.user_uuid)
    async with floor.database.write() as tx:
        if how == "unassigned":
            await tx.assignments.remove(floor.root.user_uuid)
        elif how == "deleted":
            await tx.users.remove(floor.root.user_uuid)


@pytest.mark.parametrize("how", ["deactivated", "unassigned", "deleted"])
@pytest.mark.parametrize("action", ["switch", "restart"])
async def test_planned_batch_of_an_account_that_lost_its_right_starts_no_phone(
    floor: Floor, how: str, action: str
) -> None:
    fields = {"profile_uuid": floor.profile.uuid, "undo_on_stop": True}
    batch = await planned(floor, action=action, **(fields if action == "switch" else {}))
    await lose(floor, how)

    batch = await run(floor, batch)

    assert (batch.state, batch.message, batch.code) == (
        BatchState.STOPPED, LOST, "planner_lost_right"
    )  # fmt: skip
    assert (batch.phones.left_out, batch.undone_by) == (3, None)
    assert batch.ended_at is not None
    assert floor.steps == []


async def test_planned_batch_of_an_account_that_has_its_right_again_runs(floor: Floor) -> None:
    batch = await planned(floor, profile_uuid=floor.profile.uuid)
    await floor.add_user("second.root", level=0)
    async with floor.database.write() as tx:
        before = await tx.assignments.of_user(floor.root.user_uuid)
        assert before is not None
        await tx.assignments.remove(floor.root.user_uuid)
        await tx.assignments.assign(before)

    assert (await run(floor, batch)).phones.done == 3


async def test_right_is_judged_by_the_rule_of_the_service(floor: Floor) -> None:
    """Level 1 holds level 0 by the hierarchical rule only."""
    at = timestamp(floor.clock() + timedelta(hours=1))
    new = CreateBatch(action="switch", location=FLOOR, start_at=at, profile_uuid=floor.profile.uuid)
    batch = await floor.batches.start(replace(floor.ada, level_rule=LevelRule.HIERARCHICAL), new)
    runner = floor.another_runner()
    runner.level_rule = LevelRule.STRICT
    floor.clock.advance(3601)

    await runner()

    assert (await floor.batches.get(floor.root, batch.uuid)).code == "planner_lost_right"


@pytest.mark.parametrize("undo", [False, True])
async def test_running_batch_of_an_account_that_lost_its_right_starts_no_further_phone(
    floor: Floor, undo: bool
) -> None:
    """What it changed is restored if that was asked for."""
    for number in (1, 2, 3):
        await floor.switched(floor.root, mac=a_mac(number))
    new = await floor.profile_of(floor.root, NEW)
    floor.uploader.uploads.clear()
    gate = floor.gate("upload")
    batch = await floor.begin(new, at_once=1, undo_on_stop=undo)
    await gate.reached.wait()
    await lose(floor, "unassigned")
    gate.open.set()

    batch = await floor.ended(batch)

    assert (batch.state, batch.code) == (BatchState.STOPPED, "planner_lost_right")
    assert (batch.phones.done, batch.phones.left_out) == (1, 2)
    sent = [upload.content.decode() for upload in floor.uploader.uploads]
    assert sent == [NEW, *([XML] if undo else [])]


async def test_planned_revision_of_a_deleted_profile_fails(floor: Floor) -> None:
    batch = await planned(floor, profile_uuid=floor.profile.uuid)
    await floor.profiles.delete(floor.ada, floor.profile.uuid)

    batch = await run(floor, batch)

    assert await results(floor, batch) == [(PhoneState.FAILED, "The profile was deleted.")] * 3


async def test_profile_that_was_given_away_and_not_changed_is_deployed(floor: Floor) -> None:
    batch = await planned(floor, profile_uuid=floor.profile.uuid)
    patch = ProfilePatch(user_uuid=floor.bob.user_uuid)
    await floor.profiles.update(floor.root, floor.profile.uuid, patch)

    assert (await run(floor, batch)).phones.done == 3
