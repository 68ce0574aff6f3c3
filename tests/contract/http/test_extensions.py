"""Section 4.4 of the interface: extensions."""

from typing import Any

from support.api import Api, Caller, data_of, error_of

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
