"""Section 4.3 of the interface: users."""

import asyncio
from pathlib import Path
from typing import Any

from support.accounts import NEW
from support.api import PASSWORD, Api, Caller, data_of, error_of, opened_api
from support.phone_records import a_profile
from support.records import (
    a_link,
    a_personal_contact,
    a_pin,
    an_extension,
    identifier,
)


async def user(admin: Caller, **fields: Any) -> dict[str, Any]:
    created: dict[str, Any] = data_of(await admin.post("/users", {**NEW, **fields}), 201)
    return created


async def logs_in(api: Api, username: str, password: str) -> bool:
    reply = await api.anonymous.post("/auth/login", {"username": username, "password": password})
    return reply.status_code == 200


async def test_password_is_in_no_response(admin: Caller) -> None:
    replies = [await admin.post("/users", NEW)]
    path = f"/users/{data_of(replies[0], 201)['uuid']}"
    replies += [
        await admin.get("/users"),
        await admin.get(path),
        await admin.put(path, {"password": "nanoseconds of wires"}),
        await admin.post("/users", {**NEW, "lang": "?"}),
        await admin.post("/users", NEW),
        await admin.delete(path),
    ]

    assert [reply.status_code for reply in replies] == [201, 200, 200, 200, 422, 409, 200]
    for reply in replies:
        assert "nanoseconds" not in reply.text
        assert "argon2" not in reply.text


async def test_usernames_and_email_addresses_are_unique_in_any_case(
    admin: Caller, ada: Caller
) -> None:
    grace = await user(admin)

    for fields, field in (
        ({"username": "GRACE", "email": "other@example.com"}, "username"),
        ({"username": "other", "email": "Grace@EXAMPLE.com"}, "email"),
    ):
        reply = await admin.post("/users", {**NEW, **fields})
        assert set(error_of(reply, 409, "already_exists")) == {field}
    for body, field in (({"username": "Ada"}, "username"), ({"email": "ADA@example.com"}, "email")):
        reply = await admin.put(f"/users/{grace['uuid']}", body)
        assert set(error_of(reply, 409, "already_exists")) == {field}
    same = data_of(await admin.put(f"/users/{grace['uuid']}", {"username": "Grace"}))
    assert same["username"] == "Grace"


async def test_username_and_email_that_are_both_taken_are_both_named(
    admin: Caller, ada: Caller
) -> None:
    grace = await user(admin)
    both = {"username": "ADA", "email": "Ada@example.com"}

    created = await admin.post("/users", {**NEW, **both})
    changed = await admin.put(f"/users/{grace['uuid']}", both)
    registered = await admin.post("/auth/register", {**NEW, **both})

    for reply in (created, changed, registered):
        problems = error_of(reply, 409, "already_exists")
        assert problems == dict.fromkeys(("username", "email"), "is already in use")


async def test_concurrent_creates_of_a_username_succeed_once(admin: Caller) -> None:
    bodies = [{**NEW, "email": f"g{n}@example.com"} for n in range(4)]

    replies = await asyncio.gather(*(admin.post("/users", body) for body in bodies))

    assert sorted(reply.status_code for reply in replies) == [201, 409, 409, 409]


async def test_new_password_ends_other_sessions_of_the_account(
    api: Api, admin: Caller, ada: Caller
) -> None:
    for caller in (ada, admin):
        data_of(await admin.put(f"/users/{caller.uuid}", {"password": "another good one"}))

    error_of(await ada.get("/me"), 401)
    data_of(await admin.get("/me"))
    assert not await logs_in(api, "ada", PASSWORD)
    assert await logs_in(api, "ada", "another good one")


async def test_deactivated_account_is_refused_at_the_next_request(
    api: Api, admin: Caller, ada: Caller
) -> None:
    data_of(await admin.put(f"/users/{ada.uuid}", {"is_active": False}))

    error_of(await ada.get("/me"), 401)
    assert not await logs_in(api, "ada", PASSWORD)
    data_of(await admin.put(f"/users/{ada.uuid}", {"is_active": True}))
    error_of(await ada.get("/me"), 401)
    assert await logs_in(api, "ada", PASSWORD)


async def test_user_is_deleted_with_its_records(api: Api, admin: Caller, ada: Caller) -> None:
    async with api.database.write() as tx:
        await tx.extensions.add(an_extension(1))
        await tx.links.add(a_link(1, ada.uuid, identifier(1)))
        await tx.profiles.add(a_profile(1, ada.uuid))
        await tx.personal_contacts.add(a_personal_contact(1, ada.uuid))
        await tx.vendor_users.save(a_pin(1, ada.uuid))

    assert data_of(await admin.delete(f"/users/{ada.uuid}"), 200, "User deleted") is None

    error_of(await admin.delete(f"/users/{ada.uuid}"), 404, "not_found")
    error_of(await admin.get(f"/users/{ada.uuid}"), 404)
    error_of(await ada.get("/me"), 401)
    assert data_of(await admin.get("/user-extensions")) == []
    assert (await admin.get("/phone-profiles")).json()["data"] == []
    error_of(await admin.put(f"/personal-directory/contact/{identifier(1)}", {}), 404)
    assert data_of(await admin.get(f"/extensions/{identifier(1)}"))["extension"] == "1001"


async def test_last_superadmin_is_not_deleted_or_deactivated(
    api: Api, admin: Caller, ada: Caller
) -> None:
    path = f"/users/{admin.uuid}"

    for reply in (await admin.delete(path), await admin.put(path, {"is_active": False})):
        assert error_of(reply, 409, "last_superadmin") == {}
    data_of(await admin.put(path, {"first_name": "Still here"}))

    root = await api.account("root", level=0)
    data_of(await root.put(path, {"is_active": False}))
    error_of(await root.delete(f"/users/{root.uuid}"), 409, "last_superadmin")
    data_of(await root.delete(path))


async def test_strict_rule_makes_only_level_0_superadmin(tmp_path: Path) -> None:
    async with opened_api(tmp_path, PHONEPROV_LEVEL_RULE="strict") as api:
        admin = await api.account("admin", level=0)
        clerk = await api.account("clerk", level=7)

        error_of(await clerk.get("/users"), 403, "forbidden")
        error_of(await admin.delete(f"/users/{admin.uuid}"), 409, "last_superadmin")
