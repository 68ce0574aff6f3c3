"""Section 4.5 of the interface: permissions and their assignment."""

from pathlib import Path
from typing import Any

from support.api import STRANGER, Caller, data_of, error_of, opened_api

ASSIGNMENT = ["uuid", "user_uuid", "perm_uuid", "level", "perm_name", "created_at"]


async def permission(admin: Caller, **fields: Any) -> dict[str, Any]:
    body = {"level": 5, "name": "desk", **fields}
    created: dict[str, Any] = data_of(await admin.post("/permissions", body), 201)
    return created


async def assigned(admin: Caller, to: Caller, uuid: str) -> dict[str, Any]:
    body = {"user_uuid": to.uuid, "perm_uuid": uuid}
    reply = await admin.post("/user-perms", body)
    made: dict[str, Any] = data_of(reply, 200, "Permission assigned")
    return made


async def test_permission_level_and_name_are_unique_together(admin: Caller) -> None:
    first = await permission(admin)
    await permission(admin, level=6)
    other = await permission(admin, name="other")

    reply = await admin.post("/permissions", {"level": 5, "name": "desk"})
    assert set(error_of(reply, 409, "already_exists")) == {"name"}
    reply = await admin.put(f"/permissions/{other['uuid']}", {"name": "desk"})
    assert set(error_of(reply, 409, "already_exists")) == {"name"}
    data_of(await admin.put(f"/permissions/{first['uuid']}", {"name": "desk"}))


async def test_permission_assigned_or_missing_is_not_deleted(admin: Caller, ada: Caller) -> None:
    made = await permission(admin)
    path = f"/permissions/{made['uuid']}"
    await assigned(admin, ada, made["uuid"])

    assert error_of(await admin.delete(path), 409, "in_use") == {}
    data_of(await admin.delete(f"/user-perms/{ada.uuid}"), 200, "Permission removed")
    assert data_of(await admin.delete(path), 200, "Permission deleted") is None
    error_of(await admin.delete(path), 404, "not_found")
    error_of(await admin.get(path), 404)
    error_of(await admin.put(path, {}), 404)


async def test_assignment_replaces_the_current_one(admin: Caller, ada: Caller) -> None:
    desk, boss = await permission(admin), await permission(admin, level=0, name="boss")

    first = await assigned(admin, ada, desk["uuid"])
    assert list(first) == ASSIGNMENT
    assert first == {
        "uuid": first["uuid"],
        "user_uuid": ada.uuid,
        "perm_uuid": desk["uuid"],
        "level": 5,
        "perm_name": "desk",
        "created_at": first["created_at"],
    }
    second = await assigned(admin, ada, boss["uuid"].upper())
    assert (second["perm_uuid"], second["level"], second["perm_name"]) == (boss["uuid"], 0, "boss")
    reply = await admin.get(f"/user-perms/{ada.uuid.upper()}")
    assert data_of(reply, 200, "Permission found") == second
    assert data_of(await ada.get("/me"))["permission"] == {"level": 0, "perm_name": "boss"}
    data_of(await admin.put(f"/permissions/{boss['uuid']}", {"name": "chief"}))
    assert data_of(await admin.get(f"/user-perms/{ada.uuid}"))["perm_name"] == "chief"


async def test_assignment_takes_effect_at_the_next_request(admin: Caller, ada: Caller) -> None:
    error_of(await ada.get("/users"), 403)
    # A user at level N holds the levels 0 through N: any assignment holds level 0.
    await assigned(admin, ada, (await permission(admin, level=2**31 - 1))["uuid"])
    data_of(await ada.get("/users"))
    data_of(await admin.delete(f"/user-perms/{ada.uuid}"))
    error_of(await ada.get("/users"), 403)


async def test_assignment_of_missing_records_is_not_found(admin: Caller, ada: Caller) -> None:
    made = await permission(admin)

    for user, perm, missing in (
        (STRANGER, made["uuid"], "user"),
        (ada.uuid, STRANGER, "permission"),
        (STRANGER, STRANGER, "user"),
    ):
        reply = await admin.post("/user-perms", {"user_uuid": user, "perm_uuid": perm})
        error_of(reply, 404, "not_found")
        assert f"no such {missing}" in reply.json()["message"]
    both = {"user_uuid", "perm_uuid"}
    assert set(error_of(await admin.post("/user-perms", {}), 422)) == both
    bad = {"user_uuid": "ada", "perm_uuid": None, "level": 0}
    assert set(error_of(await admin.post("/user-perms", bad), 422)) == {*both, "level"}
    for uuid in (STRANGER, "7"):
        error_of(await admin.get(f"/user-perms/{uuid}"), 404)
        error_of(await admin.delete(f"/user-perms/{uuid}"), 404)


async def test_last_superadmin_keeps_level_0(admin: Caller, ada: Caller) -> None:
    path = f"/user-perms/{admin.uuid}"

    assert error_of(await admin.delete(path), 409, "last_superadmin") == {}
    await assigned(admin, ada, (await permission(admin))["uuid"])
    data_of(await admin.delete(path))
    error_of(await ada.delete(f"/user-perms/{ada.uuid}"), 409, "last_superadmin")


async def test_strict_rule_keeps_the_last_level_0(tmp_path: Path) -> None:
    async with opened_api(tmp_path, PHONEPROV_LEVEL_RULE="strict") as api:
        admin = await api.account("admin", level=0)
        await api.account("clerk", level=1)
        desk = await permission(admin)

        body = {"user_uuid": admin.uuid, "perm_uuid": desk["uuid"]}
        assert error_of(await admin.post("/user-perms", body), 409, "last_superadmin") == {}
        error_of(await admin.delete(f"/user-perms/{admin.uuid}"), 409, "last_superadmin")
