"""What sections 4.3 to 4.11 of the interface say of every resource."""

import asyncio
import re
from typing import Any

import pytest

from support.api import STRANGER, Caller, data_of, error_of
from support.document import DOCUMENT, problems, resolved
from support.resources import MAC, RESOURCES, Resource, check_not_found

STAMPS = {"created_at", "updated_at", "created_by", "updated_by", "last_uuid"}
"""What the server writes, apart from the key."""
LONG_AGO = "2001-01-01T00:00:00.000Z"

pytestmark = pytest.mark.parametrize("resource", RESOURCES, ids=repr)


def without_stamps(record: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in STAMPS}


async def test_create_requires_few_fields(admin: Caller, resource: Resource) -> None:
    reply = await admin.post(resource.path, resource.new)

    created = data_of(reply, 201, f"{resource.noun} created")
    expected = {**dict.fromkeys(resource.fields), **resource.given, **resource.new}
    expected |= {resource.key: created[resource.key], **resource.shown}
    assert list(created) == list(resource.fields)
    assert without_stamps(created) == without_stamps(
        {name: expected[name] for name in resource.fields}
    )
    assert resource.key == "mac" or re.fullmatch(
        "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", created["uuid"]
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", created["created_at"])
    assert created.get("updated_at", created["created_at"]) == created["created_at"]
    assert created.get("created_by", admin.uuid) == admin.uuid
    assert {created.get("updated_by"), created.get("last_uuid")} == {None}
    assert reply.json()["metadata"] == {}
    for name in resource.new:
        less = {other: value for other, value in resource.new.items() if other != name}
        assert error_of(await admin.post(resource.path, less), 422) == {name: "is required"}
        null = {**resource.new, name: None}
        assert set(error_of(await admin.post(resource.path, null), 422)) == {name}


async def test_created_record_is_read_with_every_field(admin: Caller, resource: Resource) -> None:
    created = await resource.create(admin, **resource.full)

    sent = {**resource.full, **resource.shown}
    assert {name: created[name] for name in sent if name in created} == {
        name: value for name, value in sent.items() if name in created
    }
    assert set(resource.full) - set(created) <= {"password"}
    for key in (created[resource.key].upper(), created[resource.key].lower()):
        reply = await admin.get(f"{resource.path}/{key}")
        assert data_of(reply, 200, f"{resource.noun} found") == created


async def test_list_is_paged_oldest_first(admin: Caller, resource: Resource) -> None:
    nouns = f"{resource.nouns or resource.noun.lower()}(s) found"
    before = data_of(await admin.get(resource.path))
    data_of(await admin.get(resource.path), 200, f"{len(before)} {nouns}")
    made = [await resource.create(admin, **resource.numbered(number)) for number in (3, 1, 2)]
    made.sort(key=lambda one: (one["created_at"], one[resource.key]))

    whole = await admin.get(resource.path)
    page = await admin.get(resource.path, limit=2, offset=len(before) + 1)

    total = len(before) + 3
    assert data_of(whole, 200, f"{total} {nouns}") == [*before, *made]
    assert whole.json()["metadata"] == {}
    assert data_of(page, 200, f"2 {nouns}") == made[1:]
    assert page.json()["metadata"] == {"total": total, "limit": 2, "offset": len(before) + 1}
    for name, bad in (("limit", 0), ("limit", 1001), ("limit", "x"), ("offset", -1)):
        assert set(error_of(await admin.get(resource.path, **{name: bad}), 422)) == {name}


async def test_update_changes_only_sent_fields(admin: Caller, resource: Resource) -> None:
    before = await resource.create(admin, **resource.full)
    path = resource.path_of(before)
    await asyncio.sleep(0.002)  # times have milliseconds

    after = data_of(await admin.put(path, resource.change), 200, f"{resource.noun} updated")

    assert list(after) == list(resource.fields)
    assert without_stamps(after) == {**without_stamps(before), **resource.change}
    assert after["created_at"] == before["created_at"]
    assert "updated_at" not in after or after["updated_at"] > before["updated_at"]
    assert data_of(await admin.get(path)) == after
    assert without_stamps(data_of(await admin.put(path, {}))) == without_stamps(after)


async def test_null_clears_a_field_or_is_refused(admin: Caller, resource: Resource) -> None:
    before = await resource.create(admin, **resource.full)
    required = {*resource.new, *resource.given}

    for name in resource.full:
        reply = await admin.put(resource.path_of(before), {name: None})
        if name in required and (name not in resource.shown):
            assert set(error_of(reply, 422)) == {name}
        else:
            before |= {name: None}
            assert without_stamps(data_of(reply)) == without_stamps(before)


async def test_update_accepts_the_record_as_read(admin: Caller, resource: Resource) -> None:
    before = await resource.create(admin, **resource.full)
    old = {name: LONG_AGO for name in STAMPS if name in before}
    sent = {**before, **old, **resource.change, resource.key: before[resource.key].lower()}

    after = data_of(await admin.put(resource.path_of(before), sent))

    assert without_stamps(after) == {**without_stamps(before), **resource.change}
    assert LONG_AGO not in after.values()


async def test_key_of_another_record_is_refused(admin: Caller, resource: Resource) -> None:
    path = resource.path_of(await resource.create(admin))

    for key in (STRANGER, f"{MAC[:-1]}7", None, "", 7):
        assert set(error_of(await admin.put(path, {resource.key: key}), 422)) == {resource.key}
    sent = {name: LONG_AGO for name in resource.fields if name not in resource.full}
    sent.pop("created_at")  # ignored
    reply = await admin.post(resource.path, {**resource.new, **sent})
    assert set(error_of(reply, 422, "invalid")) == set(sent)


async def test_record_deleted_twice_is_not_found(admin: Caller, resource: Resource) -> None:
    path = resource.path_of(await resource.create(admin))

    assert data_of(await admin.delete(path), 200, f"{resource.noun} deleted") is None

    await check_not_found(admin, path)
    assert resource.path_of(await resource.create(admin)).startswith(resource.path)
    for key in (STRANGER, "7", "%00", "' OR 1=1 --", "a b", "..%2Fusers", "x" * 3000):
        await check_not_found(admin, f"{resource.path}/{key}")


async def test_every_invalid_field_is_named(admin: Caller, resource: Resource) -> None:
    before = data_of(await admin.get(resource.path))
    for body, fields in [*resource.refused, *resource.refused_in_create]:
        sent = {**resource.new, **body} if isinstance(body, dict) else body
        reply = await admin.post(resource.path, sent)
        assert set(error_of(reply, 422, "invalid")) == fields, body
    assert data_of(await admin.get(resource.path)) == before

    record = await resource.create(admin)
    for body, fields in [*resource.refused, *resource.refused_in_update]:
        reply = await admin.put(resource.path_of(record), body)
        assert set(error_of(reply, 422, "invalid")) == fields, body
    assert data_of(await admin.get(resource.path_of(record))) == record


async def test_accepted_values_are_stored_unchanged(admin: Caller, resource: Resource) -> None:
    record = await resource.create(admin)
    for fields in resource.accepted:
        after = data_of(await admin.put(resource.path_of(record), fields))
        assert {name: after[name] for name in fields} == fields


async def test_text_of_255_characters_is_stored_in_nfc(admin: Caller, resource: Resource) -> None:
    created = await resource.create(admin, **{resource.text: "e\u0301" + "\U0001f600" * 254})

    assert created[resource.text] == "\u00e9" + "\U0001f600" * 254


async def test_documented_length_is_the_longest_text(admin: Caller, resource: Resource) -> None:
    path = resource.path_of(await resource.create(admin))
    body = DOCUMENT["paths"][f"/api/v1{resource.path}"]["post"]["requestBody"]
    schema = resolved(body["content"]["application/json"]["schema"])
    text, addresses = "a line of words " * 200, {"ip", "phone_ip"}
    for name in schema["properties"].keys() - addresses - {resource.key}:
        described = schema["properties"][name]
        longest = max(one.get("maxLength", 0) for one in described.get("anyOf", [described]))
        if longest and not problems(described, text[: longest - 1] + "x"):
            longest_text = text[: longest - 1] + "x"
            reply = await admin.put(path, {name: longest_text})
            assert reply.status_code == 200, (name, reply.json())
            reply = await admin.put(path, {name: longest_text + "x"})
            assert set(error_of(reply, 422)) == {name}
