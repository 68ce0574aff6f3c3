"""Rollouts: a profile for each phone, templates, planned batches, first phones, undo, plans."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from phoneprov_adapters.memory.system import compare_directly
from phoneprov_adapters.rendering.renderer import JinjaRenderer
from phoneprov_core.batches import plan as plans
from phoneprov_core.batches.commands import BatchTarget, CreateBatch
from phoneprov_core.batches.model import Batch, BatchAction, BatchState, PhoneState
from phoneprov_core.batches.plan import NOT_KNOWN, OTHER_REASONS, OTHERS, PlanBatch
from phoneprov_core.batches.work import UNCHANGED
from phoneprov_core.deployments.model import Confirmation
from phoneprov_core.deployments.rollback import RollbackRequest
from phoneprov_core.extensions import CreateExtension
from phoneprov_core.kernel.actor import Actor
from phoneprov_core.kernel.commands import command_of
from phoneprov_core.kernel.errors import Invalid, NotFound
from phoneprov_core.kernel.system import shown
from phoneprov_core.links import CreateLink
from phoneprov_core.profiles.model import CreateProfile, Profile, ProfilePatch
from phoneprov_core.templates.model import CreateTemplate, Template, TemplatePatch
from phoneprov_core.templates.use_cases import Templates
from support.floor import FLOOR, begin, create_floor, ended, phones_of
from support.office import Office, Settings
from support.records import a_mac
from support.switching import NOWHERE, XML, switch

BODY = (
    "<device>\n<load>old</load>\n<mac>{{ phone.hex }}</mac>\n<name>{{ user.last_name }}</name>\n"
    "{% for line in lines %}<line>{{ line.number }}</line>\n<pw>{{ line.password }}</pw>\n"
    "{% endfor %}<v>{{ values.v|default('none') }}</v>\n</device>"
)


@pytest.fixture
def watched() -> Office:
    return Office(Settings(with_watch=True))


def templates(office: Office) -> Templates:
    return Templates(office.database, JinjaRenderer(), office.clock, office.new_id)


async def templated(
    office: Office, root: Actor, phones: int = 4, **fields: Any
) -> tuple[Template, list[Profile]]:
    """A floor of which each phone has the profile of its own user, with a line, from one
    template."""
    await create_floor(office, root, root, phones)
    made = await templates(office).create(root, CreateTemplate(name="office", body=BODY, **fields))
    profiles = []
    for number in range(1, phones + 1):
        user = await office.add_user(f"user{number}")
        extension = await office.extensions.create(
            root,
            CreateExtension(
                type="chan_sccp", extension=f"100{number}", name="x", password=f"secret {number}"
            ),
        )
        await office.links.create(
            root, CreateLink(user_uuid=user.user_uuid, extension_uuid=extension.uuid)
        )
        profile = await office.profiles.create(
            root, CreateProfile(user_uuid=user.user_uuid, name="desk", template="office")
        )
        await switch(office, root, profile, a_mac(number))
        profiles.append(profile)
    office.uploader.uploads.clear()
    return made, profiles


def sent(office: Office) -> dict[str, bytes]:
    return {upload.filename[-11:-8]: upload.content for upload in office.uploader.uploads}


async def plan(office: Office, root: Actor, **fields: Any) -> Any:
    use_case = PlanBatch(office.database, office.deploy, compare_directly)
    return await use_case(root, CreateBatch(**{"action": "switch", **fields}))


async def test_each_item_gets_its_own_profile(
    office: Office, root: Actor, ada: Actor, profile: Profile
) -> None:
    other = await office.profiles.create(
        root, CreateProfile(user_uuid=root.user_uuid, name="Other", cnf_xml="<other/>")
    )
    items = (BatchTarget(a_mac(2), other.uuid), BatchTarget("001bd4000001", profile.uuid))

    new = CreateBatch(action="switch", items=items)
    batch = await ended(office, root, await office.batches.start(root, new))

    assert sent(office) == {"001": XML.encode(), "002": b"<other/>"}
    assert [(one.mac, one.profile_uuid) for one in await phones_of(office, root, batch)] == [
        (a_mac(2), other.uuid),
        (a_mac(1), profile.uuid),
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
          "only_changed": True}, {"first", "undo_on_stop", "only_changed"}),
        ({"location": "x", "start_at": "2026-01-31T08:15:30"}, {"start_at"}),
        ({"location": "x", "first": 0, "first_minutes": 0}, {"first", "first_minutes"}),
    ],
)  # fmt: skip
def test_contradicting_fields_are_named(fields: dict[str, Any], problems: set[str]) -> None:
    with pytest.raises(Invalid) as invalid:
        command_of(CreateBatch, {"action": "switch", **fields})

    assert {problem.field for problem in invalid.value.problems} == problems


async def test_missing_profile_template_and_past_are_refused(
    office: Office, root: Actor, profile: Profile
) -> None:
    items = (BatchTarget(a_mac(1), NOWHERE),)
    with pytest.raises(NotFound, match=NOWHERE):
        await office.batches.start(root, CreateBatch(action="switch", items=items))
    with pytest.raises(NotFound, match="no template office"):
        await office.batches.start(root, CreateBatch(action="switch", template="office"))
    past = shown(office.clock() - timedelta(seconds=1))
    with pytest.raises(Invalid, match="start_at must be in the future"):
        await begin(office, root, profile, start_at=past)
    assert (await (await office.batches.all(root)).everything()) == []


async def test_template_selects_the_phones_that_were_rendered_from_it(
    office: Office, root: Actor
) -> None:
    template, _ = await templated(office, root)
    plain = await office.profiles.create(
        root, CreateProfile(user_uuid=root.user_uuid, name="Plain", cnf_xml="<plain/>")
    )
    await switch(office, root, plain, a_mac(2))
    office.uploader.uploads.clear()
    await templates(office).update(
        root, template.uuid, TemplatePatch(body=BODY.replace("old", "new"))
    )

    batch = await office.batches.start(root, CreateBatch(action="switch", template="office"))
    batch = await ended(office, root, batch)

    assert (batch.template, batch.phones.done) == ("office", 3)
    assert sorted(sent(office)) == ["001", "003", "004"]
    assert all(b"<load>new</load>" in content for content in sent(office).values())


async def test_template_selects_the_phones_of_a_deleted_or_renamed_variant(
    office: Office, root: Actor
) -> None:
    made, profiles = await templated(office, root, model="7945")
    variants = templates(office)
    other = await variants.create(
        root, CreateTemplate(name="office", body="<sip/>", model="8851", software_type="SIP")
    )
    await office.profiles.update(root, profiles[3].uuid, ProfilePatch(cnf_xml="<plain/>"))
    await variants.update(root, made.uuid, TemplatePatch(name="hq"))
    renamed = await plan(office, root, template="office")
    await variants.delete(root, made.uuid)

    found = await plan(office, root, template="office")

    assert found == renamed
    assert (found.phones, found.unfit, found.changed) == (4, 3, 1)
    reasons = {one.message: one.count for one in found.problems}
    assert reasons == {"The template office has no variant for this phone (CP-7945G, SCCP).": 3}
    batch = await ended(
        office, root, await office.batches.start(root, CreateBatch(action="switch",
                                                                   template="office"))
    )  # fmt: skip
    assert (batch.phones.total, batch.phones.failed, batch.phones.done) == (4, 3, 1)
    assert list(sent(office)) == ["004"]
    again = await variants.create(root, CreateTemplate(name="office", body=BODY, model="7945"))
    assert (await plan(office, root, template="office")).unchanged == 3
    for profile in profiles[:3]:
        await office.profiles.update(root, profile.uuid, ProfilePatch(cnf_xml="<plain/>"))
    for one in (other, again):
        await variants.delete(root, one.uuid)
    # No variant is left; the phones still have what was rendered.
    assert (await plan(office, root, template="office")).changed == 3
    with pytest.raises(NotFound, match="no template hq"):
        await plan(office, root, template="hq")


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
    office: Office, root: Actor, profile: Profile, at: str, in_utc: str
) -> None:
    batch = await begin(office, root, profile, start_at=at)
    await office.background.done()

    assert (batch.state, batch.start_at) == (BatchState.PLANNED, in_utc)
    office.clock.now = datetime.fromisoformat(in_utc) - timedelta(seconds=1)
    await asyncio.gather(*(office.another_runner()() for _ in range(3)))
    assert office.uploader.uploads == []
    assert (await office.batches.get(root, batch.uuid)).state is BatchState.PLANNED

    office.clock.advance(1)
    await asyncio.gather(*(office.another_runner()() for _ in range(3)))

    batch = await office.batches.get(root, batch.uuid)
    assert (batch.state, batch.phones.done) == (BatchState.DONE, 12)
    assert len(office.uploader.uploads) == 12


async def test_planned_batch_whose_worker_was_killed_is_continued_once(
    office: Office, root: Actor, profile: Profile
) -> None:
    batch = await begin(office, root, profile, start_at=shown(office.clock() + timedelta(days=300)))
    await office.background.done()
    office.clock.advance(300 * 86_400)
    async with office.database.write() as tx:
        assert await tx.batches.take("a killed process", 30)

    await office.another_runner()()
    assert office.uploader.uploads == []
    office.clock.advance(31)
    await office.another_runner()()

    assert (await office.batches.get(root, batch.uuid)).phones.done == 12
    assert len(office.uploader.uploads) == 12


async def test_cancelled_planned_batch_ends_at_once(
    office: Office, root: Actor, profile: Profile
) -> None:
    at = shown(office.clock() + timedelta(hours=1))
    batch = await begin(office, root, profile, start_at=at)

    cancelled = await office.batches.cancel(root, batch.uuid)
    office.clock.advance(7200)
    await office.another_runner()()

    assert (cancelled.state, cancelled.phones.left_out) == (BatchState.CANCELLED, 12)
    assert cancelled.ended_at is not None
    assert office.uploader.uploads == []


async def until_it_ended(office: Office, root: Actor, batch: Batch, seen: set[str]) -> Batch:
    """Phones in ``seen`` register again, others are missed."""
    for _ in range(4000):
        await asyncio.sleep(0)
        for mac in list(office.watch.watched):
            (office.watch.comes_back if mac in seen else office.watch.goes_missing)(mac)
        now = await office.batches.get(root, batch.uuid)
        if now.ended_at is not None:
            return now
    raise AssertionError("the batch did not end")


@pytest.mark.parametrize("missed", [0, 1])
async def test_others_follow_when_the_first_phones_are_confirmed(
    watched: Office, missed: int
) -> None:
    root = await watched.add_user("root", level=0)
    profile = await create_floor(watched, root, root, 6)
    seen = {a_mac(number) for number in range(1, 7)} - {a_mac(missed)}

    batch = await begin(watched, root, profile, first=2, at_once=6)
    batch = await until_it_ended(watched, root, batch, seen)

    if not missed:
        assert (batch.state, batch.phones.done) == (BatchState.DONE, 6)
        return
    assert (batch.state, batch.phones.done, batch.phones.left_out) == (BatchState.STOPPED, 2, 4)
    assert f"{a_mac(1)}, one of the first phones, is not confirmed" in str(batch.message)
    assert len(watched.uploader.uploads) == 2


async def test_unwatched_first_phones_stop_the_batch(
    office: Office, root: Actor, profile: Profile
) -> None:
    batch = await ended(office, root, await begin(office, root, profile, first=3))

    assert (batch.state, batch.phones.done) == (BatchState.STOPPED, 3)
    assert "is not confirmed" in str(batch.message)


async def test_undo_gives_back_exactly_what_was_there(office: Office, root: Actor) -> None:
    template, _ = await templated(office, root, 4)
    async with office.database.read() as tx:
        before = [await tx.deployments.current(a_mac(number)) for number in range(1, 5)]
    await templates(office).update(root, template.uuid, TemplatePatch(body="<new/>"))

    batch = await begin(office, root, None, action="switch", first=3, undo_on_stop=True)
    batch = await ended(office, root, batch)

    (undo,) = [
        one
        for one in await (await office.batches.all(root)).everything()
        if one.action is BatchAction.UNDO
    ]
    assert (batch.state, undo.undo_of) == (BatchState.STOPPED, batch.uuid)
    assert (undo.state, undo.phones.done, undo.phones.total) == (BatchState.DONE, 3, 3)
    async with office.database.read() as tx:
        after = [await tx.deployments.current(a_mac(number)) for number in range(1, 5)]
    assert [one and one.sha256 for one in after] == [one and one.sha256 for one in before]
    assert [one and one.template_revision for one in after] == [1, 1, 1, 1]


async def test_undo_leaves_phones_alone_that_were_changed_meanwhile(
    office: Office, root: Actor
) -> None:
    await templated(office, root, 3)
    plain = await office.profiles.create(
        root, CreateProfile(user_uuid=root.user_uuid, name="Plain", cnf_xml="<plain/>")
    )
    batch = await begin(office, root, plain, undo_on_stop=True, at_once=1)
    await office.background.done()
    # Another user switches one of the phones, and then the batch counts as stopped.
    await office.rollback(root, a_mac(2), RollbackRequest())
    async with office.database.write() as tx:
        kept = await tx.batches.find(batch.uuid)
        assert kept is not None
        stopped = msgspec.structs.replace(kept, state=BatchState.STOPPED, ended_at=None)
        await tx.batches.put(stopped)
    office.uploader.uploads.clear()

    await office.another_runner()()

    undo = (await (await office.batches.all(root)).everything())[-1]
    phones = await phones_of(office, root, undo)
    assert [one.state for one in phones] == [
        PhoneState.DONE, PhoneState.LEFT_OUT, PhoneState.DONE
    ]  # fmt: skip
    assert phones[1].message == "Another deployment followed; the phone was left unchanged."
    assert sorted(sent(office)) == ["001", "003"]


async def test_unchanged_phones_are_left_alone(office: Office, root: Actor) -> None:
    _, profiles = await templated(office, root)
    await office.profiles.update(root, profiles[1].uuid, ProfilePatch(values={"v": "7"}))

    batch = await begin(office, root, None, action="switch", only_changed=True)
    batch = await ended(office, root, batch)

    assert list(sent(office)) == ["002"]
    messages = [one.message for one in await phones_of(office, root, batch)]
    assert messages == [UNCHANGED, None, UNCHANGED, UNCHANGED]


async def test_one_change_of_a_template_is_one_group(office: Office, root: Actor) -> None:
    template, _ = await templated(office, root)
    body = BODY.replace("old", "new").replace("</name>", " x</name>")
    await templates(office).update(root, template.uuid, TemplatePatch(body=body))

    found = await plan(office, root, template="office")

    assert (found.phones, found.changed, found.unchanged, found.unfit) == (4, 4, 0, 0)
    (group,) = found.groups
    assert (group.count, group.macs) == (4, tuple(a_mac(number) for number in range(1, 5)))
    assert group.diff == (
        "-<load>old</load>\n+<load>new</load>\n"
        "-<name>{{ user.last_name }}</name>\n+<name>{{ user.last_name }} x</name>\n"
    )
    assert office.uploader.uploads == []


@pytest.mark.parametrize("texts", [1, plans.MOST_TEXTS])
async def test_groups_differ_in_what_changes_not_in_the_number_of_lines(
    office: Office, root: Actor, monkeypatch: pytest.MonkeyPatch, texts: int
) -> None:
    monkeypatch.setattr(plans, "MOST_TEXTS", texts)
    monkeypatch.setattr(plans, "MOST_GROUPS", 2)
    template, profiles = await templated(office, root, 6)
    more = "{% if lines|length > 1 %}<pw>fixed</pw>\n{% endif %}"
    below = BODY.replace("</device>", f"{more}<adminPassword>one</adminPassword>\n</device>")
    await templates(office).update(root, template.uuid, TemplatePatch(body=below))
    for number, profile in enumerate(profiles, 1):
        for line in range(number % 3):
            new = CreateExtension(
                type="chan_sccp", extension=f"2{number}{line}0", name="x", password="more"
            )
            extension = await office.extensions.create(root, new)
            link = CreateLink(user_uuid=profile.user_uuid, extension_uuid=extension.uuid)
            await office.links.create(root, link)
        await switch(office, root, profile, a_mac(number))
        if number > 4:
            await office.profiles.update(root, profile.uuid, ProfilePatch(values={"v": "7"}))
    body = below.replace("old", "new").replace("one</a", "two</a")
    await templates(office).update(root, template.uuid, TemplatePatch(body=body))

    found = await plan(office, root, template="office")

    load = "-<load>old</load>\n+<load>new</load>\n"
    password = "-<adminPassword>***1</adminPassword>\n+<adminPassword>***2</adminPassword>\n"
    assert [(one.count, one.macs, one.diff) for one in found.groups] == [
        (4, tuple(a_mac(number) for number in range(1, 5)), load + password),
        (2, (a_mac(5), a_mac(6)), f"{load}-<v>none</v>\n+<v>7</v>\n{password}"),
    ]


async def test_plan_groups_by_difference_and_shows_no_secret(office: Office, root: Actor) -> None:
    _, profiles = await templated(office, root, 5)
    await office.profiles.update(root, profiles[0].uuid, ProfilePatch(values={"v": "7"}))
    await office.profiles.update(root, profiles[1].uuid, ProfilePatch(values={"v": "8"}))
    await office.profiles.update(root, profiles[2].uuid, ProfilePatch(compatible_models=("8851",)))
    extension = (await (await office.extensions.all(root)).everything())[3]
    patch: Any = {"password": "another secret"}
    await office.extensions.update(root, extension.uuid, command_of_patch(patch))

    found = await plan(office, root, location=FLOOR)

    assert (found.phones, found.changed, found.unchanged, found.unfit) == (5, 3, 1, 1)
    assert {group.diff for group in found.groups} == {
        "-<v>none</v>\n+<v>7</v>\n",
        "-<v>none</v>\n+<v>8</v>\n",
        "-<pw>{{ lines.password, before }}</pw>\n+<pw>{{ lines.password, after }}</pw>\n",
    }
    (problem,) = found.problems
    assert (problem.count, problem.macs) == (1, (a_mac(3),))
    assert "it is for 8851, not for CP-7945G" in problem.message
    assert "secret" not in repr(found)


def command_of_patch(fields: dict[str, Any]) -> Any:
    from phoneprov_core.extensions import ExtensionPatch  # noqa: PLC0415

    return ExtensionPatch(**fields)


async def test_plan_from_own_texts_to_a_template_is_one_group(office: Office, root: Actor) -> None:
    _, profiles = await templated(office, root, 3)
    for number, profile in enumerate(profiles, 1):
        mac = a_mac(number).replace(":", "")
        text = f"<device>\n<load>old</load>\n<mac>{mac}</mac>\n<line>100{number}</line>\n</device>"
        await office.profiles.update(root, profile.uuid, ProfilePatch(cnf_xml=text))
        await switch(office, root, profile, a_mac(number))
        await office.profiles.update(root, profile.uuid, ProfilePatch(template="office"))

    found = await plan(office, root, location=FLOOR)

    assert [group.count for group in found.groups] == [3]
    assert "{{ phone.hex }}" not in found.groups[0].diff
    assert "+<name>{{ user.last_name }}</name>" in found.groups[0].diff


async def test_plan_of_phones_without_a_deployment(
    office: Office, root: Actor, profile: Profile
) -> None:
    found = await plan(office, root, location=FLOOR, profile_uuid=profile.uuid)
    without = await plan(office, root, location=FLOOR)

    assert (found.phones, found.changed, len(found.groups)) == (12, 12, 1)
    assert found.groups[0].diff.startswith(f"{NOT_KNOWN}+<device>\n")
    assert (without.unfit, without.problems[0].count) == (12, 12)
    restarts = await plan(office, root, action="restart", location=FLOOR)
    assert [(one.count, one.diff) for one in restarts.groups] == [(12, NOT_KNOWN)]


@pytest.mark.parametrize(
    "fields", [{"restart": "It refused."}, {"confirmation": Confirmation.NOT_CONFIRMED}]
)
async def test_phone_that_was_not_seen_to_restart_is_not_unchanged(
    office: Office, root: Actor, profile: Profile, fields: dict[str, Any]
) -> None:
    for number in (1, 2):
        await switch(office, root, profile, a_mac(number))
    macs = (a_mac(1), a_mac(2))
    async with office.database.write() as tx:
        current = await tx.deployments.current(a_mac(2))
        assert current is not None
        await tx.deployments.put(msgspec.structs.replace(current, **fields))
    office.uploader.uploads.clear()

    for action in ("switch", "restart"):
        found = await plan(office, root, action=action, macs=macs)
        assert (found.unchanged, found.changed) == (1, 1)
        assert [(one.macs, one.diff) for one in found.groups] == [((a_mac(2),), NOT_KNOWN)]
    batch = await begin(office, root, profile, macs=macs, only_changed=True)
    await ended(office, root, batch)
    assert list(sent(office)) == ["002"]


async def test_plan_is_bounded_in_reasons_and_differences(
    office: Office, root: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "MOST_GROUPS", 1)
    monkeypatch.setattr(plans, "MOST_SHOWN", 1)
    _, profiles = await templated(office, root, 6)
    for number, profile in enumerate(profiles):
        models = ProfilePatch(compatible_models=(f"88{number}1",))
        patch = models if number < 3 else ProfilePatch(values={"v": str(number)})
        await office.profiles.update(root, profile.uuid, patch)

    found = await plan(office, root, template="office")

    assert (found.changed, found.unfit) == (3, 3)
    assert next((one.count, one.message) for one in found.problems) == (2, OTHER_REASONS)
    assert next((one.count, one.diff) for one in found.groups) == (2, OTHERS)
    assert (len(found.problems), len(found.groups)) == (2, 2)
