"""Section 4.4 of the interface: extensions."""

from typing import Any

from phoneprov_adapters.testing.records import an_extension
from support.api import Api, Caller, data_of, error_of

FIELDS = [
    "uuid", "type", "extension", "name", "password", "description", "voicemail",
    "voicemail_passcode", "is_active", "created_at", "created_by", "updated_at", "updated_by",
    "created_ip", "updated_ip",
]  # fmt: skip

NEW = {"type": "chan_sccp", "extension": "1001", "name": "Front desk", "password": "line secret"}


async def extension(admin: Caller, **fields: Any) -> dict[str, Any]:
    created: dict[str, Any] = data_of(await admin.post("/extensions", {**NEW, **fields}), 201)
    return created


async def stored_password(api: Api, uuid: str) -> str:
    async with api.database.read() as tx:
        found = await tx.extensions.find(uuid)
    assert found is not None
    return found.password


async def test_password_is_in_no_response(api: Api, admin: Caller) -> None:
    replies = [await admin.post("/extensions", NEW)]
    path = f"/extensions/{data_of(replies[0], 201)['uuid']}"
    replies += [
        await admin.get("/extensions"),
        await admin.get("/extensions", limit=1),
        await admin.get(path),
        await admin.put(path, {"password": "another line secret"}),
        await admin.post("/extensions", {**NEW, "name": 7}),
        await admin.post("/extensions", NEW),
        await admin.delete(path),
    ]

    assert [reply.status_code for reply in replies] == [201, 200, 200, 200, 200, 422, 409, 200]
    for reply in replies:
        assert "line secret" not in reply.text


async def test_long_list_is_complete_and_without_passwords(api: Api, admin: Caller) -> None:
    async with api.database.write() as tx:
        for number in range(1001):
            await tx.extensions.add(an_extension(number, extension=f"1{number:04}"))

    reply = await admin.get("/extensions")

    listed = data_of(reply, 200, "1001 extension(s) found")
    assert [one["extension"] for one in listed] == [f"1{number:04}" for number in range(1001)]
    assert {one["password"] for one in listed} == {None}
    assert list(listed[1000]) == FIELDS
    assert "secret-" not in reply.text


async def test_update_changes_only_sent_fields(api: Api, admin: Caller) -> None:
    before = await extension(admin, voicemail_passcode="2468", description="x")
    root = await api.account("root", level=0)

    reply = await root.put(
        f"/extensions/{before['uuid']}",
        {"type": "custom", "voicemail_passcode": None, "description": None},
    )

    after = data_of(reply, 200, "Extension updated")
    assert list(after) == FIELDS
    assert after == {
        **before,
        "type": "custom",
        "voicemail_passcode": None,
        "description": None,
        "updated_at": after["updated_at"],
        "updated_by": root.uuid,
    }
    assert after["updated_at"] >= before["updated_at"]
    assert data_of(await admin.get(f"/extensions/{before['uuid']}")) == after
    assert await stored_password(api, before["uuid"]) == "line secret"


async def test_password_in_update_replaces_the_stored_one(api: Api, admin: Caller) -> None:
    uuid = (await extension(admin))["uuid"]

    after = data_of(await admin.put(f"/extensions/{uuid}", {"password": " x "}))

    assert after["password"] is None
    assert await stored_password(api, uuid) == " x "


async def test_extension_number_in_use_is_conflict(admin: Caller) -> None:
    first = await extension(admin)
    second = await extension(admin, extension="1002")

    created = await admin.post("/extensions", NEW)
    changed = await admin.put(f"/extensions/{second['uuid']}", {"extension": "1001"})

    assert set(error_of(created, 409, "already_exists")) == {"extension"}
    assert set(error_of(changed, 409, "already_exists")) == {"extension"}
    assert created.json()["message"] == "This extension is already in use."
    assert data_of(await admin.get(f"/extensions/{second['uuid']}")) == second
    again = await admin.put(f"/extensions/{first['uuid']}", {"extension": "1001"})
    assert data_of(again)["extension"] == "1001"


async def test_unknown_type_is_refused_with_the_known_types(admin: Caller) -> None:
    problems = error_of(await admin.post("/extensions", {**NEW, "type": "sip"}), 422)

    assert problems == {"type": "must be one of chan_sccp, chan_sip, chan_pjsip, custom"}


async def test_text_of_255_characters_is_accepted_and_normalised(api: Api, admin: Caller) -> None:
    created = await extension(admin, name="e\u0301", password="x" * 255, extension="*1#+_.-Z")

    assert created["name"] == "\u00e9"
    assert created["extension"] == "*1#+_.-Z"
    assert await stored_password(api, created["uuid"]) == "x" * 255
