"""Section 4.5 of the interface: permissions and their assignment."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from support.api import STRANGER, Api, Caller, data_of, error_of, opened_api

PERMISSION = ["uuid", "level", "name", "description", "created_at"]
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


async def test_permission_is_created(admin: Caller) -> None:
    reply = await admin.post("/permissions", {"level": 5, "name": "desk"})

    created = data_of(reply, 201, "Permission created")
    assert list(created) == PERMISSION
    assert (created["level"], created["name"], created["description"]) == (5, "desk", None)
    assert reply.json()["metadata"] == {}
    found = await admin.get(f"/permissions/{created['uuid'].upper()}")
    assert data_of(found, 200, "Permission found") == created
    described = await permission(admin, name="other", description="line\n\tline", level=2**31 - 1)
    assert (described["description"], described["level"]) == ("line\n\tline", 2**31 - 1)


async def test_permissions_are_listed_and_paged_oldest_first(admin: Caller) -> None:
    made = [await permission(admin, name=f"n{number}") for number in range(3)]
    made.sort(key=lambda one: (one["created_at"], one["uuid"]))

    everything = await admin.get("/permissions")
    page = await admin.get("/permissions", limit=2, offset=2)

    assert data_of(everything, 200, "4 permission(s) found")[1:] == made
    assert everything.json()["metadata"] == {}
    assert data_of(page, 200, "2 permission(s) found") == made[1:]
    assert page.json()["metadata"] == {"total": 4, "limit": 2, "offset": 2}


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"level", "name"}),
        ({"level": None, "name": None}, {"level", "name"}),
        ({"level": -1, "name": ""}, {"level", "name"}),
        ({"level": 2**31, "name": "x"}, {"level"}),
        ({"level": 10**30, "name": "x"}, {"level"}),
        ({"level": 1.5, "name": "x"}, {"level"}),
        ({"level": "1", "name": "x"}, {"level"}),
        ({"level": True, "name": "x"}, {"level"}),
        ({"level": 1, "name": "x" * 256}, {"name"}),
        ({"level": 1, "name": "x", "description": "x" * 2049}, {"description"}),
        ({"level": 1, "name": "x", "description": "a\u0007"}, {"description"}),
        ({"level": 1, "name": "x", "description": None}, set()),
        ({"level": 1, "name": "x", "uuid": STRANGER, "rank": 1}, {"uuid", "rank"}),
    ],
)
async def test_every_invalid_field_is_named(admin: Caller, body: Any, fields: set[str]) -> None:
    reply = await admin.post("/permissions", body)

    if fields:
        assert set(error_of(reply, 422, "invalid")) == fields
    else:
        data_of(reply, 201)


async def test_permission_level_and_name_are_unique_together(admin: Caller) -> None:
    first = await permission(admin)
    await permission(admin, level=6)
    other = await permission(admin, name="other")

    reply = await admin.post("/permissions", {"level": 5, "name": "desk"})
    assert set(error_of(reply, 409, "already_exists")) == {"name"}
    reply = await admin.put(f"/permissions/{other['uuid']}", {"name": "desk"})
    assert set(error_of(reply, 409, "already_exists")) == {"name"}
    data_of(await admin.put(f"/permissions/{first['uuid']}", {"name": "desk"}))


async def test_permission_update_keeps_its_level(admin: Caller) -> None:
    before = await permission(admin, description="x")
    path = f"/permissions/{before['uuid']}"

    reply = await admin.put(path, {"name": "front desk"})
    after = data_of(reply, 200, "Permission updated")
    assert after == {**before, "name": "front desk"}
    assert data_of(await admin.put(path, {"description": None}))["description"] is None
    assert data_of(await admin.put(path, {**after, "created_at": 7}))["name"] == "front desk"
    for level in (6, None, "5", True):
        assert set(error_of(await admin.put(path, {"level": level}), 422)) == {"level"}
    assert set(error_of(await admin.put(path, {"uuid": STRANGER}), 422)) == {"uuid"}
    assert set(error_of(await admin.put(path, {"name": None, "x": 1}), 422)) == {"name", "x"}


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


async def test_assignment_removed_twice_is_not_found(admin: Caller, ada: Caller) -> None:
    await assigned(admin, ada, (await permission(admin))["uuid"])
    path = f"/user-perms/{ada.uuid}"

    assert data_of(await admin.delete(path), 200, "Permission removed") is None
    for reply in (await admin.delete(path), await admin.get(path)):
        error_of(reply, 404, "not_found")


async def test_assignment_of_missing_records_is_not_found(admin: Caller, ada: Caller) -> None:
    made = await permission(admin)

    for body in (
        {"user_uuid": STRANGER, "perm_uuid": made["uuid"]},
        {"user_uuid": ada.uuid, "perm_uuid": STRANGER},
        {"user_uuid": STRANGER, "perm_uuid": STRANGER},
    ):
        error_of(await admin.post("/user-perms", body), 404, "not_found")
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


async def test_concurrent_removals_of_superadmins_leave_one(api: Api, admin: Caller) -> None:
    root = await api.account("root", level=0)

    replies = await asyncio.gather(
        admin.delete(f"/user-perms/{root.uuid}"), root.delete(f"/user-perms/{admin.uuid}")
    )

    assert sorted(reply.status_code for reply in replies) in ([200, 403], [200, 409])


async def test_strict_rule_keeps_the_last_level_0(tmp_path: Path) -> None:
    async with opened_api(tmp_path, PHONEPROV_LEVEL_RULE="strict") as api:
        admin = await api.account("admin", level=0)
        await api.account("clerk", level=1)
        desk = await permission(admin)

        body = {"user_uuid": admin.uuid, "perm_uuid": desk["uuid"]}
        assert error_of(await admin.post("/user-perms", body), 409, "last_superadmin") == {}
        error_of(await admin.delete(f"/user-perms/{admin.uuid}"), 409, "last_superadmin")
