"""Profiles with templates: rendering at deployment, exact rollbacks, hot-desking between models."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.memory.system import PlainHasher
from phoneprov_adapters.rendering.renderer import JinjaRenderer
from phoneprov_adapters.sql.stores.features.templates import KEPT
from phoneprov_core.features.batches.changes import NOT_KNOWN
from phoneprov_core.features.templates.recipes import best
from support.api import Caller, data_of, error_of, opened_api
from support.phone_records import a_template
from support.switch_rig import World

TEMPLATES = "/configuration-templates"
PROFILES = "/phone-profiles"
OLD, NEW, MISSING = "00:1B:D4:00:00:45", "00:1B:D4:00:00:51", "00:1B:D4:00:00:99"
SCCP = """<device>
  <name>{{ user.first_name }} &amp; {{ phone.name }}</name>
  {% for line in lines %}<line>{{ line.number }}</line><mine>{{ line.password }}</mine>
  {% endfor %}{% for module in modules %}<module>{{ module.model }}</module>{% endfor %}
</device>"""
SIP = "<sip><vlan>{{ values.vlan }}</vlan><line>{{ lines[0].number }}</line></sip>"


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def admin(tmp_path: Path, world: World) -> AsyncIterator[Caller]:
    adapters = {**world.adapters(), "hasher": PlainHasher()}
    async with opened_api(tmp_path, database_kind="memory", overrides=adapters) as api:
        yield await api.account("admin", level=0)


async def template(admin: Caller, body: str, **fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = data_of(
        await admin.post(TEMPLATES, {"name": "office", "body": body, **fields}), 201
    )
    return made


async def office(admin: Caller) -> dict[str, Any]:
    """Two phones, a user with a line, and a profile with a template."""
    me = data_of(await admin.get("/me"))
    for mac, model, family, ip in (
        (OLD, "CP-7945G", "SCCP", "10.20.30.45"),
        (NEW, "CP-8851", "SIP", "10.20.30.51"),
    ):
        phone = {"mac": mac, "model": model, "software_type": family, "phone_ip": ip}
        data_of(await admin.post("/phones", {**phone, "name": "<Desk>"}), 201)
    fields = {"type": "chan_sccp", "extension": "1001", "name": "Ada", "password": "line secret"}
    extension = data_of(await admin.post("/extensions", fields), 201)
    link = {"user_uuid": me["uuid"], "extension_uuid": extension["uuid"]}
    data_of(await admin.post("/user-extensions", link), 201)
    await admin.post("/vendor-kem", {"model": "CP-7916", "connected_phone": OLD})
    profile: dict[str, Any] = data_of(
        await admin.post(
            PROFILES,
            {"user_uuid": me["uuid"], "name": "Ada", "template": "office",
             "values": {"vlan": "120"}},
        ),
        201, metadata=False,
    )  # fmt: skip
    return {**profile, "extension": extension["uuid"]}


async def switch(admin: Caller, profile: dict[str, Any], mac: str) -> Any:
    return await admin.post(f"{PROFILES}/switch", {"profile_uuid": profile["uuid"], "mac": mac})


def sent(world: World) -> list[str]:
    return [upload.content.decode() for upload in world.uploads]


async def test_phone_without_a_variant_is_refused(admin: Caller, world: World) -> None:
    await template(admin, SIP, model="8851")
    profile = await office(admin)

    reply = await switch(admin, profile, OLD)

    error_of(reply, 409, "no_template_fits")
    assert reply.json()["message"] == (
        "The template office has no variant for this phone (CP-7945G, SCCP)."
    )
    error_of(
        await admin.post(f"{PROFILES}/switch/preview", {"profile_uuid": profile["uuid"],
                                                        "mac": OLD}),
        409, "no_template_fits",
    )  # fmt: skip
    assert sent(world) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<a>\n{{ values.colour }}</a>", "fails on line 2, column 4: values.colour is not given."),
        ("<a>{{ lines[3].name }}</a>", "fails on line 1, column 7: The list has no element 3."),
        ("<a><b></a>", "fails: the rendered configuration is not well-formed XML"),
        ("<!-- {{ '--' }} --><a/>", "fails: the rendered configuration is not well-formed XML"),
    ],
)
async def test_failing_template_changes_nothing(
    admin: Caller, world: World, body: str, message: str
) -> None:
    await template(admin, body)
    profile = await office(admin)

    reply = await switch(admin, profile, OLD)

    error_of(reply, 409, "template_fails")
    assert f"The template office, revision 1, {message}" in reply.json()["message"]
    assert sent(world) == []
    assert data_of(await admin.get(f"/phones/{OLD}/deployments")) == []


async def test_rollback_is_exact_after_template_line_and_user_changed(
    admin: Caller, world: World
) -> None:
    made = await template(admin, SCCP)
    profile = await office(admin)
    await switch(admin, profile, OLD)
    await admin.put(f"{TEMPLATES}/{made['uuid']}", {"body": SCCP.replace("line>", "number>")})
    await admin.put(f"/extensions/{profile['extension']}", {"password": "another secret"})
    await admin.put(f"/phones/{OLD}", {"name": "Other"})
    await switch(admin, profile, OLD)

    preview = data_of(
        await admin.post(f"{PROFILES}/switch/preview", {"profile_uuid": profile["uuid"],
                                                        "mac": OLD}),
        200, metadata=False,
    )  # fmt: skip
    data_of(await admin.post(f"/phones/{OLD}/rollback", {"force": True}), 200)
    data_of(await admin.post(f"/phones/{OLD}/rollback", {}), 200)

    first, second, third, fourth = sent(world)
    assert (third, fourth) == (first, second)
    assert "<name>Ada &amp; &lt;Desk&gt;</name>" in first
    assert "<module>CP-7916</module>" in first
    assert first != second
    assert (preview["changed"], preview["diff"]) == (False, "")
    now = data_of(await admin.get(f"/phones/{OLD}/deployments", current="true"))[0]
    assert (now["template_uuid"], now["template_revision"]) == (made["uuid"], 2)
    assert now["template_name"] == made["name"]


async def test_rollback_to_a_text_that_was_removed_is_refused(admin: Caller, world: World) -> None:
    made = await template(admin, SCCP)
    profile = await office(admin)
    for number in range(KEPT + 1):
        await admin.put(f"{TEMPLATES}/{made['uuid']}", {"body": f"{SCCP}<!-- {number} -->"})
        await switch(admin, profile, OLD)
    first, second, *_ = data_of(await admin.get(f"/phones/{OLD}/deployments"))
    world.uploads.clear()

    path = f"/phones/{OLD}/rollback"
    reply = await admin.post(path, {"deployment_uuid": first["uuid"]})
    assert error_of(reply, 404, "not_found") == {}
    assert reply.json()["message"] == "The configuration of that deployment is no longer stored."
    assert world.uploads == []
    data_of(await admin.post(path, {"deployment_uuid": second["uuid"]}), 200)


async def test_preview_masks_passwords_in_every_place(admin: Caller) -> None:
    made = await template(admin, SCCP)
    profile = await office(admin)
    await switch(admin, profile, OLD)
    await admin.put(f"{TEMPLATES}/{made['uuid']}", {"body": SCCP + "\n<!-- end -->"})
    await admin.put(f"/extensions/{profile['extension']}", {"password": "other"})

    reply = await admin.post(
        f"{PROFILES}/switch/preview", {"profile_uuid": profile["uuid"], "mac": OLD}
    )

    diff = data_of(reply, 200, metadata=False)["diff"]
    assert "-  <line>1001</line><mine>***1</mine>" in diff
    assert "+  <line>1001</line><mine>***2</mine>" in diff
    assert "+<!-- end -->" in diff
    assert "secret" not in reply.text
    assert "other" not in diff


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("<a><%s/><b>{{ user.last_name }}</b></a>", "+<a><secret0/>"),
        ("<a %s='1' x='%s'>%s</a>", "+<a secret0="),
        ("<a><%s>1</%s></a>", "+<a><secret0>"),
    ],
)
async def test_plan_masks_passwords_in_names(admin: Caller, body: str, shown: str) -> None:
    made = await template(admin, SCCP)
    profile = await office(admin)
    password = "{{ lines[0].password|replace(' ', '-') }}"
    await admin.put(f"{TEMPLATES}/{made['uuid']}", {"body": body.replace("%s", password)})
    items = [{"mac": OLD, "profile_uuid": profile["uuid"]}]

    first = await admin.post("/batches/plan", {"action": "switch", "items": items})
    await switch(admin, profile, OLD)
    await admin.put(f"/extensions/{profile['extension']}", {"password": "other-password"})
    second = await admin.post("/batches/plan", {"action": "switch", "items": items})

    assert data_of(first)["groups"][0]["diff"].startswith(NOT_KNOWN + shown)
    assert data_of(second)["changed"] == 1
    for reply in (first, second):
        assert "line-secret" not in reply.text
        assert "other-password" not in reply.text


async def test_profile_has_its_template_and_only_then_these_fields(admin: Caller) -> None:
    await template(admin, SCCP)
    profile = await office(admin)
    path = f"{PROFILES}/{profile['uuid']}"

    read = data_of(await admin.get(path), metadata=False)
    assert (read["cnf_xml"], read["template"], read["values"]) == (None, "office", {"vlan": "120"})
    same = data_of(await admin.put(path, read), metadata=False)
    assert {**same, "updated_at": ""} == {**read, "updated_at": ""}
    assert len(data_of(await admin.get(f"{path}/revisions"), metadata=False)) == 1

    changed = data_of(await admin.put(path, {"values": {"vlan": "7"}}), metadata=False)
    assert (changed["template"], changed["values"]) == ("office", {"vlan": "7"})
    diff = data_of(await admin.get(f"{path}/revisions/diff"), metadata=False)["diff"]
    assert "-  <vlan>120</vlan>\n+  <vlan>7</vlan>" in diff
    plain = data_of(await admin.put(path, {"cnf_xml": "<a/>"}), metadata=False)
    assert "template" not in plain
    assert "values" not in plain
    back = data_of(await admin.put(path, {"template": "office"}), metadata=False)
    assert (back["cnf_xml"], back["template"], back["values"]) == (None, "office", {})


@pytest.mark.parametrize(
    ("fields", "status", "problems"),
    [
        ({}, 422, {"cnf_xml": "is required"}),
        ({"cnf_xml": "<a/>", "template": "office"}, 422,
         {"cnf_xml": "is not allowed with `template`"}),
        ({"cnf_xml": "<a/>", "values": {}}, 422, {"values": "is not allowed without `template`"}),
        ({"template": "office", "values": {"1a": "x"}}, 422, {"values"}),
        ({"template": "office", "values": {"a": "x\ny"}}, 422, {"values"}),
        ({"template": "office", "values": {"a": "x" * 5000}}, 422, {"values"}),
        ({"template": "office", "values": {"a": 7}}, 422, {"values"}),
        ({"template": "office", "values": {f"a{n}": "" for n in range(201)}}, 422, {"values"}),
        ({"template": "office", "values": ["a"]}, 422, {"values"}),
        ({"template": 7}, 422, {"template"}),
        ({"template": "nope"}, 404, set()),
        ({"template": "OFFICE"}, 404, set()),
    ],
)  # fmt: skip
async def test_profile_has_either_a_text_or_a_template(
    admin: Caller, fields: dict[str, Any], status: int, problems: Any
) -> None:
    await template(admin, SCCP)
    me = data_of(await admin.get("/me"))

    found = error_of(await admin.post(PROFILES, {"user_uuid": me["uuid"], "name": "x", **fields}),
                     status)  # fmt: skip

    assert (found if isinstance(problems, dict) else set(found)) == problems


async def test_last_variant_that_profiles_use_stays(admin: Caller) -> None:
    one = await template(admin, SCCP)
    two = await template(admin, SIP, model="8851")
    profile = await office(admin)

    data_of(await admin.delete(f"{TEMPLATES}/{two['uuid']}"))
    reply = await admin.delete(f"{TEMPLATES}/{one['uuid']}")
    error_of(await admin.put(f"{TEMPLATES}/{one['uuid']}", {"name": "x"}), 409, "in_use")
    await admin.put(f"{PROFILES}/{profile['uuid']}", {"cnf_xml": "<a/>"})

    error_of(reply, 409, "in_use")
    assert reply.json()["message"] == (
        "1 profile uses the template office, and this is its last variant."
    )
    data_of(await admin.delete(f"{TEMPLATES}/{one['uuid']}"))


async def test_render_shows_the_masked_text_and_stores_nothing(admin: Caller, world: World) -> None:
    made = await template(admin, SCCP)
    other = await template(admin, "<a>\n {{ values.x }}</a>", model="8851")
    profile = await office(admin)
    body = {"profile_uuid": profile["uuid"], "mac": OLD}

    reply = await admin.post(f"{TEMPLATES}/{made['uuid']}/render", body)
    failed = await admin.post(f"{TEMPLATES}/{other['uuid']}/render", body)

    trial = data_of(reply, 200, "Template rendered")
    assert "<line>1001</line><mine>***</mine>" in trial["configuration"]
    assert "secret" not in reply.text
    assert {one["code"] for one in trial["findings"]} >= {"unknown_element"}
    failure = data_of(failed)
    [finding] = failure["findings"]
    assert (failure["configuration"], finding["code"]) == (None, "template_fails")
    assert "line 2, column 5: values.x is not given." in finding["message"]
    assert (finding["line"], finding["column"]) == (2, 5)
    assert sent(world) == []
    error_of(await admin.post(f"{TEMPLATES}/{made['uuid']}/render", {**body, "mac": MISSING}), 404)


async def test_texts_that_are_typed_are_shown_and_not_stored(admin: Caller) -> None:
    made = await template(admin, SCCP)
    profile = await office(admin)
    body = {"profile_uuid": profile["uuid"], "mac": OLD}
    render = f"{TEMPLATES}/{made['uuid']}/render"

    typed = data_of(await admin.post(render, {**body, "body": "<a>{{ phone.mac }}</a>"}))
    wrong = data_of(await admin.post(render, {**body, "body": "<a>{{ phone.mca }}</a>"}))
    data_of(await admin.put(f"{TEMPLATES}/{made['uuid']}", {"body": "<a>{{ values.vlan }}</a>"}))
    values = {**profile["values"], "vlan": "typed"}
    preview = f"{PROFILES}/switch/preview"
    before = data_of(await admin.post(preview, body), metadata=False)
    after = data_of(await admin.post(preview, {**body, "values": values}), metadata=False)

    assert typed["configuration"] == f"<a>{OLD}</a>"
    assert (wrong["configuration"], wrong["findings"][0]["line"]) == (None, 1)
    assert before["sha256"] != after["sha256"]
    assert after["size"] == len("<a>typed</a>")
    stored = data_of(await admin.get(f"{PROFILES}/{profile['uuid']}"), metadata=False)
    assert stored["values"] == profile["values"]


VARIANTS = {
    "sccp": a_template(1, model="7945", software_type="SCCP"),
    "sip": a_template(2, model="7945", software_type="SIP"),
    "model": a_template(3, model="7945", software_type=None),
    "family": a_template(4, model=None, software_type="SIP"),
    "any": a_template(5, model=None, software_type=None),
}


@pytest.mark.parametrize(
    ("names", "model", "family", "chosen"),
    [
        ("sccp sip model family any", "CP-7945G", "sccp", "sccp"),
        ("sccp sip model family any", "Cisco 7945", "SIPE", "model"),
        ("sccp family any", "7945", "SIP", "family"),
        ("sccp family any", "7965", "SIP", "family"),
        ("sccp family any", "7965", None, "any"),
        ("sccp sip model", "7945", None, "model"),
        ("sccp", "7945", None, "sccp"),
        ("sccp sip", "7945", None, None),
        ("sccp sip", "7965", "SIP", None),
        ("model any", None, None, "any"),
        ("model", None, None, None),
    ],
)
def test_best_variant_is_taken(
    names: str, model: str | None, family: str | None, chosen: str | None
) -> None:
    variants = [VARIANTS[name] for name in names.split()]

    assert best(variants, model, family) == (VARIANTS[chosen] if chosen else None)


def test_renderer_has_no_state_of_a_rendering() -> None:
    assert vars(JinjaRenderer()) == {}
