"""Section 4.4 of the interface: extensions."""

from typing import Any

from phoneprov_adapters.testing.records import an_extension
from support.api import STRANGER, Api, Caller, data_of, error_of
from support.resources import check_deletion, check_not_found, check_pages

FIELDS = [
    "uuid", "type", "extension", "name", "password", "description", "voicemail",
    "voicemail_passcode", "is_active", "created_at", "created_by", "updated_at", "updated_by",
    "created_ip", "updated_ip",
]  # fmt: skip

NEW = {"type": "chan_sccp", "extension": "1001", "name": "Front desk", "password": "line secret"}
FULL = {
    **NEW,
    "description": "By the door\n\tof the hall",
    "voicemail": True,
    "voicemail_passcode": "2468",
    "is_active": False,
}


async def extension(admin: Caller, **fields: Any) -> dict[str, Any]:
    created: dict[str, Any] = data_of(await admin.post("/extensions", {**NEW, **fields}), 201)
    return created


async def stored_password(api: Api, uuid: str) -> str:
    async with api.database.read() as tx:
        found = await tx.extensions.find(uuid)
    assert found is not None
    return found.password


async def test_extension_is_created_from_required_fields(api: Api, admin: Caller) -> None:
    reply = await admin.post("/extensions", NEW)

    created = data_of(reply, 201, "Extension created")
    assert list(created) == FIELDS
    assert created == {
        **NEW,
        "uuid": created["uuid"],
        "password": None,
        "description": None,
        "voicemail": False,
        "voicemail_passcode": None,
        "is_active": True,
        "created_at": created["created_at"],
        "created_by": admin.uuid,
        "updated_at": created["created_at"],
        "updated_by": None,
        "created_ip": "127.0.0.1",
        "updated_ip": "127.0.0.1",
    }
    assert reply.json()["metadata"] == {}
    assert await stored_password(api, created["uuid"]) == "line secret"


async def test_extension_is_read_as_it_was_created(admin: Caller) -> None:
    created = data_of(await admin.post("/extensions", FULL), 201)

    reply = await admin.get(f"/extensions/{created['uuid'].upper()}")

    assert data_of(reply, 200, "Extension found") == created
    assert {name: created[name] for name in FULL} == {**FULL, "password": None}


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


async def test_every_extension_type_is_accepted(admin: Caller) -> None:
    for number, type_ in enumerate(("chan_sccp", "chan_sip", "chan_pjsip", "custom")):
        assert (await extension(admin, type=type_, extension=str(number)))["type"] == type_


async def test_extensions_are_listed_and_paged_oldest_first(admin: Caller) -> None:
    assert data_of(await admin.get("/extensions"), 200, "0 extension(s) found") == []
    extensions = [await extension(admin, extension=f"100{number}") for number in range(3)]
    extensions.sort(key=lambda one: (one["created_at"], one["uuid"]))

    await check_pages(admin, "/extensions", "extension", extensions)
    assert set(error_of(await admin.get("/extensions", limit=1001), 422)) == {"limit"}


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
    before = await extension(admin, **FULL)
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


async def test_update_accepts_the_record_as_read(api: Api, admin: Caller) -> None:
    before = await extension(admin, **FULL)

    reply = await admin.put(
        f"/extensions/{before['uuid']}",
        {
            **before,
            "name": "Back desk",
            "created_at": "2001-01-01T00:00:00.000Z",
            "created_by": STRANGER,
            "created_ip": "8.8.8.8",
            "updated_at": 7,
            "updated_by": 7,
            "updated_ip": 7,
        },
    )

    after = data_of(reply)
    assert after == {
        **before,
        "name": "Back desk",
        "updated_at": after["updated_at"],
        "updated_by": admin.uuid,
    }
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


async def test_extension_deleted_twice_is_not_found(admin: Caller) -> None:
    path = f"/extensions/{(await extension(admin))['uuid']}"

    await check_deletion(admin, path, "Extension deleted")
    assert (await extension(admin))["extension"] == "1001"


async def test_unknown_extension_is_not_found(admin: Caller) -> None:
    for uuid in (STRANGER, "7", "%00", "' OR 1=1 --"):
        await check_not_found(admin, f"/extensions/{uuid}")


async def test_create_every_invalid_field_is_named(admin: Caller) -> None:
    bad: list[tuple[Any, set[str]]] = [
        ({}, {"type", "extension", "name", "password"}),
        ({**NEW, "password": None}, {"password"}),
        ({**NEW, "password": ""}, {"password"}),
        ({**NEW, "password": "a\x00b"}, {"password"}),
        ({**NEW, "password": "a\nb"}, {"password"}),
        ({**NEW, "password": "x" * 256}, {"password"}),
        ({**NEW, "password": 1234}, {"password"}),
        ({**NEW, "type": "chan_iax2"}, {"type"}),
        ({**NEW, "type": "CHAN_SIP"}, {"type"}),
        ({**NEW, "type": None, "extension": None, "name": None}, {"type", "extension", "name"}),
        ({**NEW, "extension": ""}, {"extension"}),
        ({**NEW, "extension": "10 01"}, {"extension"}),
        ({**NEW, "extension": 1001, "name": " "}, {"extension", "name"}),
        ({**NEW, "voicemail": "yes", "is_active": None}, {"voicemail", "is_active"}),
        ({**NEW, "voicemail_passcode": 2468}, {"voicemail_passcode"}),
        ({**NEW, "voicemail_passcode": "2\x1b8"}, {"voicemail_passcode"}),
        ({**NEW, "description": "x" * 2049}, {"description"}),
        ({**NEW, "uuid": STRANGER, "created_by": STRANGER}, {"uuid", "created_by"}),
        ({**NEW, "secret": "x"}, {"secret"}),
        ([], {"body"}),
    ]
    for body, fields in bad:
        reply = await admin.post("/extensions", body)
        assert set(error_of(reply, 422, "invalid")) == fields, body
    assert data_of(await admin.get("/extensions")) == []


async def test_update_every_invalid_field_is_named(api: Api, admin: Caller) -> None:
    before = await extension(admin)
    path = f"/extensions/{before['uuid']}"
    bad: list[tuple[Any, set[str]]] = [
        ({"name": None, "type": None}, {"name", "type"}),
        ({"password": "\n", "extension": "-/-"}, {"password", "extension"}),
        ({"voicemail": None, "is_active": 1}, {"voicemail", "is_active"}),
        ({"uuid": STRANGER}, {"uuid"}),
        ({"user_uuid": STRANGER}, {"user_uuid"}),
    ]
    for body, fields in bad:
        reply = await admin.put(path, body)
        assert set(error_of(reply, 422, "invalid")) == fields, body
    assert data_of(await admin.get(path)) == before
    assert await stored_password(api, before["uuid"]) == "line secret"


async def test_unknown_type_is_refused_with_the_known_types(admin: Caller) -> None:
    problems = error_of(await admin.post("/extensions", {**NEW, "type": "sip"}), 422)

    assert problems == {"type": "must be one of chan_sccp, chan_sip, chan_pjsip, custom"}


async def test_text_of_255_characters_is_accepted_and_normalised(api: Api, admin: Caller) -> None:
    created = await extension(admin, name="e\u0301", password="x" * 255, extension="*1#+_.-Z")

    assert created["name"] == "\u00e9"
    assert created["extension"] == "*1#+_.-Z"
    assert await stored_password(api, created["uuid"]) == "x" * 255
