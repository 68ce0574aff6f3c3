"""Section 4.3 of the interface: users."""

from typing import Any

from support.accounts import NEW
from support.api import PASSWORD, Api, Caller, data_of, error_of


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
    both = {"username": "ADA", "email": "Ada@example.com"}
    reply = await admin.put(f"/users/{grace['uuid']}", both)
    assert error_of(reply, 409) == dict.fromkeys(both, "is already in use")
    same = data_of(await admin.put(f"/users/{grace['uuid']}", {"username": "Grace"}))
    assert same["username"] == "Grace"


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
