"""Rollouts from templates: selected phones, undo, plans."""

import dataclasses
from typing import Any

import msgspec
import pytest

from phoneprov_adapters.rendering.renderer import JinjaRenderer
from phoneprov_core.features.batches import changes as groups
from phoneprov_core.features.batches.changes import OTHER_REASONS, OTHERS
from phoneprov_core.features.batches.commands import CreateBatch
from phoneprov_core.features.batches.model import Batch, BatchAction, BatchState, PhoneState
from phoneprov_core.features.batches.plan import PlanBatch, PlanTemplate
from phoneprov_core.features.batches.work import UNCHANGED
from phoneprov_core.features.templates.model import (
    CreateTemplate,
    PlanText,
    Template,
    TemplatePatch,
)
from phoneprov_core.inventory.extensions import CreateExtension, ExtensionPatch
from phoneprov_core.inventory.links import CreateLink
from phoneprov_core.inventory.phones.model import PhonePatch
from phoneprov_core.inventory.profiles.model import CreateProfile, Profile, ProfilePatch
from phoneprov_core.kernel.errors import Forbidden, Invalid, NotFound
from phoneprov_core.switching.deployments.rollback import RollbackRequest
from support.floor import FLOOR, Floor
from support.office import compare_directly
from support.records import a_mac
from support.store_tests import existing

BODY = (
    "<device>\n<load>old</load>\n<mac>{{ phone.hex }}</mac>\n<name>{{ user.last_name }}</name>\n"
    "{% for line in lines %}<line>{{ line.number }}</line>\n<pw>{{ line.password }}</pw>\n"
    "{% endfor %}<v>{{ values.v|default('none') }}</v>\n</device>"
)


@pytest.fixture
async def floor() -> Floor:
    return await Floor.of(phones=0)


async def templated(floor: Floor, phones: int = 4, **fields: Any) -> tuple[Template, list[Profile]]:
    """A floor of which each phone has the profile of its own user, with a line, from one
    template."""
    await floor.add_phones(range(1, phones + 1))
    made = await floor.templates.create(
        floor.root, CreateTemplate(name="office", body=BODY, **fields)
    )
    profiles = []
    for number in range(1, phones + 1):
        user = await floor.add_user(f"user{number}")
        extension = await floor.extensions.create(
            floor.root,
            CreateExtension(
                type="chan_sccp", extension=f"100{number}", name="x", password=f"secret {number}"
            ),
        )
        await floor.links.create(
            floor.root, CreateLink(user_uuid=user.user_uuid, extension_uuid=extension.uuid)
        )
        profile = await floor.profiles.create(
            floor.root, CreateProfile(user_uuid=user.user_uuid, name="desk", template="office")
        )
        await floor.switched(floor.root, profile, a_mac(number))
        profiles.append(profile)
    floor.uploader.uploads.clear()
    return made, profiles


async def test_template_selects_the_phones_that_were_rendered_from_it(floor: Floor) -> None:
    template, _ = await templated(floor)
    plain = await floor.profile_of(floor.root, "<plain/>")
    await floor.switched(floor.root, plain, a_mac(2))
    floor.uploader.uploads.clear()
    await floor.templates.update(
        floor.root, template.uuid, TemplatePatch(body=BODY.replace("old", "new"))
    )

    batch = await floor.batches.start(floor.root, CreateBatch(action="switch", template="office"))
    batch = await floor.ended(batch)

    assert (batch.template, batch.phones.done) == ("office", 3)
    assert sorted(floor.sent()) == ["001", "003", "004"]
    assert all(b"<load>new</load>" in content for content in floor.sent().values())


async def test_template_selects_the_phones_of_a_deleted_or_renamed_variant(floor: Floor) -> None:
    made, profiles = await templated(floor, model="7945")
    variants = floor.templates
    other = await variants.create(
        floor.root, CreateTemplate(name="office", body="<sip/>", model="8851", software_type="SIP")
    )
    await floor.profiles.update(floor.root, profiles[3].uuid, ProfilePatch(cnf_xml="<plain/>"))
    await variants.update(floor.root, made.uuid, TemplatePatch(name="hq"))
    renamed = await floor.plan(template="office")
    await variants.delete(floor.root, made.uuid)

    found = await floor.plan(template="office")

    assert found == renamed
    assert (found.phones, found.unfit, found.changed) == (4, 3, 1)
    reasons = {one.message: one.count for one in found.problems}
    assert reasons == {"The template office has no variant for this phone (CP-7945G, SCCP).": 3}
    batch = await floor.ended(await floor.batches.start(floor.root, CreateBatch(action="switch",
                                                                   template="office"))
    )  # fmt: skip
    assert (batch.phones.total, batch.phones.failed, batch.phones.done) == (4, 3, 1)
    assert list(floor.sent()) == ["004"]
    again = await variants.create(
        floor.root, CreateTemplate(name="office", body=BODY, model="7945")
    )
    assert (await floor.plan(template="office")).unchanged == 3
    for profile in profiles[:3]:
        await floor.profiles.update(floor.root, profile.uuid, ProfilePatch(cnf_xml="<plain/>"))
    for one in (other, again):
        await variants.delete(floor.root, one.uuid)
    # No variant is left; the phones still have what was rendered.
    assert (await floor.plan(template="office")).changed == 3
    with pytest.raises(NotFound, match="no template hq"):
        await floor.plan(template="hq")


async def test_undo_gives_back_exactly_what_was_there(floor: Floor) -> None:
    template, _ = await templated(floor, 4)
    async with floor.database.read() as tx:
        before = [await tx.deployments.current(a_mac(number)) for number in range(1, 5)]
    await floor.templates.update(floor.root, template.uuid, TemplatePatch(body="<new/>"))

    batch = await floor.begin_without(action="switch", first=3, undo_on_stop=True)
    batch = await floor.ended(batch)

    (undo,) = [one for one in await floor.all_batches() if one.action is BatchAction.UNDO]
    assert (batch.state, undo.undo_of) == (BatchState.STOPPED, batch.uuid)
    assert (undo.state, undo.phones.done, undo.phones.total) == (BatchState.DONE, 3, 3)
    async with floor.database.read() as tx:
        after = [await tx.deployments.current(a_mac(number)) for number in range(1, 5)]
    assert [one and one.sha256 for one in after] == [one and one.sha256 for one in before]
    assert [one and one.template_revision for one in after] == [1, 1, 1, 1]


async def count_as_stopped(floor: Floor, batch: Batch) -> None:
    async with floor.database.write() as tx:
        kept = existing(await tx.batches.find(batch.uuid))
        stopped = msgspec.structs.replace(kept, state=BatchState.STOPPED, ended_at=None)
        await tx.batches.put(stopped)


async def test_undo_leaves_phones_alone_that_were_changed_meanwhile(floor: Floor) -> None:
    await templated(floor, 3)
    plain = await floor.profile_of(floor.root, "<plain/>")
    batch = await floor.begin(plain, undo_on_stop=True, at_once=1)
    await floor.background.done()
    # Another user switches one of the phones, and then the batch counts as stopped.
    await floor.rollback(floor.root, a_mac(2), RollbackRequest())
    await count_as_stopped(floor, batch)
    floor.uploader.uploads.clear()

    await floor.another_runner()()

    undo = (await floor.all_batches())[-1]
    phones = await floor.phones_of(undo)
    assert [one.state for one in phones] == [
        PhoneState.DONE, PhoneState.LEFT_OUT, PhoneState.DONE
    ]  # fmt: skip
    assert phones[1].message == "Another deployment followed; the phone was left unchanged."
    assert sorted(floor.sent()) == ["001", "003"]


async def test_unchanged_phones_are_left_alone(floor: Floor) -> None:
    _, profiles = await templated(floor)
    await floor.profiles.update(floor.root, profiles[1].uuid, ProfilePatch(values={"v": "7"}))

    batch = await floor.begin_without(action="switch", only_changed=True)
    batch = await floor.ended(batch)

    assert list(floor.sent()) == ["002"]
    messages = [one.message for one in await floor.phones_of(batch)]
    assert messages == [UNCHANGED, None, UNCHANGED, UNCHANGED]


async def test_one_change_of_a_template_is_one_group(floor: Floor) -> None:
    template, _ = await templated(floor)
    body = BODY.replace("old", "new").replace("</name>", " x</name>")
    await floor.templates.update(floor.root, template.uuid, TemplatePatch(body=body))

    found = await floor.plan(template="office")

    assert (found.phones, found.changed, found.unchanged, found.unfit) == (4, 4, 0, 0)
    (group,) = found.groups
    assert (group.count, group.macs) == (4, tuple(a_mac(number) for number in range(1, 5)))
    assert group.diff == (
        "-<load>old</load>\n+<load>new</load>\n"
        "-<name>{{ user.last_name }}</name>\n+<name>{{ user.last_name }} x</name>\n"
    )
    assert floor.uploader.uploads == []


@pytest.mark.parametrize("texts", [1, groups.MOST_TEXTS])
async def test_groups_differ_in_what_changes_not_in_the_number_of_lines(
    floor: Floor, monkeypatch: pytest.MonkeyPatch, texts: int
) -> None:
    monkeypatch.setattr(groups, "MOST_TEXTS", texts)
    monkeypatch.setattr(groups, "MOST_GROUPS", 2)
    template, profiles = await templated(floor, 6)
    more = "{% if lines|length > 1 %}<pw>fixed</pw>\n{% endif %}"
    below = BODY.replace("</device>", f"{more}<adminPassword>one</adminPassword>\n</device>")
    await floor.templates.update(floor.root, template.uuid, TemplatePatch(body=below))
    for number, profile in enumerate(profiles, 1):
        for line in range(number % 3):
            new = CreateExtension(
                type="chan_sccp", extension=f"2{number}{line}0", name="x", password="more"
            )
            extension = await floor.extensions.create(floor.root, new)
            link = CreateLink(user_uuid=profile.user_uuid, extension_uuid=extension.uuid)
            await floor.links.create(floor.root, link)
        await floor.switched(floor.root, profile, a_mac(number))
        if number > 4:
            await floor.profiles.update(floor.root, profile.uuid, ProfilePatch(values={"v": "7"}))
    body = below.replace("old", "new").replace("one</a", "two</a")
    await floor.templates.update(floor.root, template.uuid, TemplatePatch(body=body))

    found = await floor.plan(template="office")

    load = "-<load>old</load>\n+<load>new</load>\n"
    password = "-<adminPassword>***1</adminPassword>\n+<adminPassword>***2</adminPassword>\n"
    assert [(one.count, one.macs, one.diff) for one in found.groups] == [
        (4, tuple(a_mac(number) for number in range(1, 5)), load + password),
        (2, (a_mac(5), a_mac(6)), f"{load}-<v>none</v>\n+<v>7</v>\n{password}"),
    ]


async def test_plan_groups_by_difference_and_shows_no_secret(floor: Floor) -> None:
    _, profiles = await templated(floor, 5)
    await floor.profiles.update(floor.root, profiles[0].uuid, ProfilePatch(values={"v": "7"}))
    await floor.profiles.update(floor.root, profiles[1].uuid, ProfilePatch(values={"v": "8"}))
    await floor.profiles.update(
        floor.root, profiles[2].uuid, ProfilePatch(compatible_models=("8851",))
    )
    extension = (await (await floor.extensions.all(floor.root)).everything())[3]
    patch = ExtensionPatch(password="another secret")
    await floor.extensions.update(floor.root, extension.uuid, patch)

    found = await floor.plan(location=FLOOR)

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


async def test_plan_from_own_texts_to_a_template_is_one_group(floor: Floor) -> None:
    _, profiles = await templated(floor, 3)
    for number, profile in enumerate(profiles, 1):
        mac = a_mac(number).replace(":", "")
        text = f"<device>\n<load>old</load>\n<mac>{mac}</mac>\n<line>100{number}</line>\n</device>"
        await floor.profiles.update(floor.root, profile.uuid, ProfilePatch(cnf_xml=text))
        await floor.switched(floor.root, profile, a_mac(number))
        await floor.profiles.update(floor.root, profile.uuid, ProfilePatch(template="office"))

    found = await floor.plan(location=FLOOR)

    assert [group.count for group in found.groups] == [3]
    assert "{{ phone.hex }}" not in found.groups[0].diff
    assert "+<name>{{ user.last_name }}</name>" in found.groups[0].diff


async def test_plan_is_bounded_in_reasons_and_differences(
    floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "MOST_GROUPS", 1)
    monkeypatch.setattr(groups, "MOST_SHOWN", 1)
    _, profiles = await templated(floor, 6)
    for number, profile in enumerate(profiles):
        models = ProfilePatch(compatible_models=(f"88{number}1",))
        patch = models if number < 3 else ProfilePatch(values={"v": str(number)})
        await floor.profiles.update(floor.root, profile.uuid, patch)

    found = await floor.plan(template="office")

    assert (found.changed, found.unfit) == (3, 3)
    assert next((one.count, one.message) for one in found.problems) == (2, OTHER_REASONS)
    assert next((one.count, one.diff) for one in found.groups) == (2, OTHERS)
    assert (len(found.problems), len(found.groups)) == (2, 2)


async def test_undo_leaves_a_phone_alone_whose_user_lost_the_number(floor: Floor) -> None:
    template, profiles = await templated(floor, 3)
    await floor.templates.update(
        floor.root, template.uuid, TemplatePatch(body=BODY.replace("old", "new"))
    )
    batch = await floor.begin_without(action="switch", undo_on_stop=True)
    await floor.background.done()
    links = await floor.links.of_user(floor.root, profiles[1].user_uuid)
    await floor.links.delete(floor.root, links.first[0].uuid)
    await count_as_stopped(floor, batch)
    floor.uploader.uploads.clear()

    await floor.another_runner()()

    phones = await floor.phones_of((await floor.all_batches())[-1])
    assert [(one.state, one.message) for one in phones] == [
        (PhoneState.DONE, None),
        (
            PhoneState.LEFT_OUT,
            (
                "This configuration was made with the number 1002, which its user no longer has, "
                "or has with another password. The phone was left unchanged."
            ),
        ),
        (PhoneState.DONE, None),
    ]
    assert sorted(floor.sent()) == ["001", "003"]


async def test_plan_of_a_text_names_the_phones_of_its_variant_by_equal_difference(
    floor: Floor,
) -> None:
    """A phone with another variant does not count; the stored text changes nothing."""
    made, _ = await templated(floor)
    new = CreateTemplate(name="office", body="<other/>", model="8841")
    other = await floor.templates.create(floor.root, new)
    await floor.phones.update(floor.root, a_mac(4), PhonePatch(model="CP-8841"))
    plan = PlanTemplate(
        floor.database, PlanBatch(floor.database, floor.deploy, compare_directly), JinjaRenderer()
    )

    stored = await plan(floor.root, made.uuid, PlanText())
    typed = PlanText(body=BODY.replace("<load>old", "<load>new"))
    found = await plan(floor.root, made.uuid, typed)
    others = await plan(floor.root, other.uuid, PlanText())

    assert (stored.phones, stored.unchanged, stored.groups) == (3, 3, ())
    assert (found.phones, found.changed) == (3, 3)
    assert [(one.count, one.diff) for one in found.groups] == [
        (3, "-<load>old</load>\n+<load>new</load>\n")
    ]
    assert (others.phones, others.changed) == (1, 1)
    assert others.groups[0].macs == (a_mac(4),)
    assert (await floor.templates.get(floor.root, made.uuid)).body == BODY
    assert floor.uploader.uploads == []


async def test_plan_of_a_text_that_fails_for_a_phone_says_why(floor: Floor) -> None:
    made, profiles = await templated(floor, phones=2)
    patch = ProfilePatch(values={"v": "has it"})
    await floor.profiles.update(floor.root, profiles[0].uuid, patch)
    plan = PlanTemplate(
        floor.database, PlanBatch(floor.database, floor.deploy, compare_directly), JinjaRenderer()
    )

    found = await plan(floor.root, made.uuid, PlanText(body="<d>{{ values.v }}</d>"))
    with pytest.raises(Invalid):
        await plan(floor.root, made.uuid, PlanText(body="{{ nope }}"))
    with pytest.raises(Forbidden):
        await plan(floor.ada, made.uuid, PlanText())

    assert (found.changed, found.unfit) == (1, 1)
    assert found.problems[0].macs == (a_mac(2),)


async def test_oldest_texts_of_a_template_are_removed(floor: Floor) -> None:
    templates = dataclasses.replace(floor.templates, most_revisions=2)
    made = await templates.create(floor.root, CreateTemplate(name="a", body="<a>1</a>"))
    for number in range(2, 5):
        patch = TemplatePatch(body=f"<a>{number}</a>")
        await templates.update(floor.root, made.uuid, patch)

    listed = await (await templates.revisions(floor.root, made.uuid)).everything()

    assert [one.number for one in listed] == [3, 4]
    assert (await templates.revision(floor.root, made.uuid, 3)).body == "<a>3</a>"
    for refused in (templates.revisions(floor.ada, made.uuid),
                    templates.revision(floor.ada, made.uuid, 3)):  # fmt: skip
        with pytest.raises(Forbidden):
            await refused
