"""Templates over HTTP, and what their text may be."""

from typing import Any

from support.api import Caller, data_of, error_of

PATH = "/configuration-templates"
BODY = "<device>\r\n<name>{{ user.first_name }}</name></device>\r\n"
FIELDS = [
    "uuid", "name", "description", "model", "software_type", "body", "revision",
    "created_at", "updated_at", "shared",
]  # fmt: skip


async def template(admin: Caller, **fields: Any) -> dict[str, Any]:
    made: dict[str, Any] = data_of(
        await admin.post(PATH, {"name": "office", "body": BODY, **fields}), 201, "Template created"
    )
    return made


async def test_template_is_stored_as_sent_with_its_bare_model(admin: Caller) -> None:
    made = await template(admin, model="CP-7945G", software_type="SCCP", description="a\nb")

    assert list(made) == FIELDS
    assert (made["model"], made["software_type"], made["revision"]) == ("7945", "SCCP", 1)
    assert (made["body"], made["description"]) == (BODY, "a\nb")
    reply = await admin.get(f"{PATH}/{made['uuid'].upper()}")
    assert data_of(reply, 200, "Template found") == made


async def test_variants_of_a_name_differ_in_model_or_family(admin: Caller) -> None:
    variants = [
        await template(admin, model=model, software_type=family)
        for model, family in (("7945", "SCCP"), ("7945", None), (None, "SIP"), (None, None))
    ]
    await template(admin, name="other")

    reply = await admin.post(PATH, {"name": "office", "body": "<a/>", "model": "Cisco 7945"})

    assert set(error_of(reply, 409, "already_exists")) == {"name"}
    assert reply.json()["message"] == "There is a template office (7945) already."
    listed = data_of(await admin.get(PATH, name="office"), 200, "4 template(s) found")
    assert listed == sorted(variants, key=lambda one: (one["created_at"], one["uuid"]))
    reply = await admin.put(f"{PATH}/{variants[0]['uuid']}", {"software_type": None})
    error_of(reply, 409, "already_exists")


async def test_revision_grows_with_each_change_of_the_text(admin: Caller) -> None:
    made = await template(admin)
    path = f"{PATH}/{made['uuid']}"

    reply = await admin.put(path, {**made, "description": "x", "model": None})
    same = data_of(reply, 200, "Template updated")
    changed = data_of(await admin.put(path, {"body": "<a/>", "revision": 1}))
    reply = await admin.put(path, {"body": "<b/>", "revision": 1})

    assert (same["revision"], same["description"]) == (1, "x")
    assert (changed["revision"], changed["body"]) == (2, "<a/>")
    assert error_of(reply, 409, "changed_meanwhile") == {"revision": "must be 2, the newest"}


async def test_first_mistake_of_a_text_is_named_with_its_place(admin: Caller) -> None:
    made = await template(admin, name="first")

    for body, problem in (
        ("<a>\n{{ nope }}</a>", "line 2, column 4: nope is not given"),
        ("{% include 'x' %}", "line 1, column 4: `include` is not part of the language"),
    ):
        created = error_of(await admin.post(PATH, {"name": "a", "body": body}), 422)
        updated = error_of(await admin.put(f"{PATH}/{made['uuid']}", {"body": body}), 422)
        assert created == updated == {"body": f"is wrong on {problem}"}


async def test_too_large_template_is_refused(admin: Caller) -> None:
    body = "<a>" + "é" * (256 * 1024) + "</a>"

    found = error_of(await admin.post(PATH, {"name": "a", "body": body}), 422)

    assert found == {"body": "must be at most 524288 bytes long"}


async def test_check_names_every_finding_and_stores_nothing(admin: Caller) -> None:
    body = "<a>\r\n{{ nope }}{{ 2 ** 3 }}"

    reply = await admin.post(f"{PATH}/check", {"body": body})

    findings = data_of(reply, 200, "2 finding(s) found")["findings"]
    assert [(one["line"], one["column"], one["code"]) for one in findings] == [
        (2, 4, "not_given"),
        (2, 14, "not_allowed"),
    ]
    good = await admin.post(f"{PATH}/check", {"body": "<a/>"})
    assert data_of(good, 200, "0 finding(s) found") == {"findings": []}
    assert data_of(await admin.get(PATH)) == []


async def test_text_is_not_in_the_audit_trail(admin: Caller) -> None:
    made = await template(admin, body="<a>hidden word</a>")
    await admin.put(f"{PATH}/{made['uuid']}", {"body": "<a>another word</a>"})

    entries = data_of(await admin.get("/audit", resource="template"))

    assert [one["action"] for one in entries] == ["template.updated", "template.created"]
    assert entries[0]["changes"]["body"] == "changed"
    assert "word" not in str(entries)


async def test_each_text_is_a_revision_that_can_be_read_and_restored(admin: Caller) -> None:
    made = await template(admin)
    path = f"{PATH}/{made['uuid']}"
    await admin.put(path, {"description": "no other text"})
    await admin.put(path, {"body": "<b/>"})

    listed = data_of(await admin.get(f"{path}/revisions"), 200, "2 revision(s) found")
    first = data_of(await admin.get(f"{path}/revisions/text", number=1), 200, "Revision found")
    diff = data_of(await admin.get(f"{path}/revisions/diff"), 200, "Revisions compared")
    same = data_of(await admin.get(f"{path}/revisions/diff", **{"from": 2}))
    back = data_of(await admin.put(path, {"body": first["body"], "revision": 2}))

    assert [(one["number"], one["size"], one["body"]) for one in listed] == [
        (1, len(BODY), None), (2, 4, None)
    ]  # fmt: skip
    assert (diff["from"], diff["to"]) == (1, 2)
    assert diff["diff"].splitlines()[:4] == [
        "--- revision 1", "+++ revision 2", "@@ -1,2 +1 @@", "-<device>"
    ]  # fmt: skip
    assert same == {"from": 2, "to": 2, "diff": ""}
    error_of(await admin.get(f"{path}/revisions/diff", to=4), 404, "not_found")
    assert {one["created_by"] for one in listed} == {admin.uuid}
    assert first == {**listed[0], "body": BODY}
    assert (back["revision"], back["body"]) == (3, BODY)
    assert data_of(await admin.get(f"{path}/revisions/text"))["number"] == 3
    error_of(await admin.get(f"{path}/revisions/text", number=4), 404, "not_found")
    error_of(await admin.get(f"{PATH}/{admin.uuid}/revisions/text"), 404, "not_found")
    error_of(await admin.get(f"{path}/revisions/text", number=0), 422)


async def test_plan_of_a_template_that_no_phone_has(admin: Caller) -> None:
    made = await template(admin)
    path = f"{PATH}/{made['uuid']}/plan"

    error_of(await admin.post(path, {}), 409, "no_phones")
    wrong = error_of(await admin.post(path, {"body": "<a>{{ nope }}</a>"}), 422)
    assert wrong == {"body": "is wrong on line 1, column 7: nope is not given"}
    error_of(await admin.post(f"{PATH}/{admin.uuid}/plan", {}), 404, "not_found")
