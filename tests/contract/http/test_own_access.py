"""Passwords, sessions and API tokens: one's own, and those of others for level 0."""

from pathlib import Path

import pytest

from support.api import PASSWORD, Api, Caller, data_of, error_of, opened_api

OTHER = "another horse battery 77"


async def log_in(api: Api, name: str, password: str = PASSWORD) -> Caller:
    login = {"username": name, "password": password}
    tokens = data_of(await api.anonymous.post("/auth/login", login))
    return Caller(api.client, token=tokens["accessToken"])


async def a_token(caller: Caller, name: str = "script") -> str:
    return str(data_of(await caller.post("/me/tokens", {"name": name}), 201)["token"])


async def test_own_password_is_changed_with_the_current_one(api: Api) -> None:
    ada = await api.account("ada")
    second = await log_in(api, "ada")
    change = {"current_password": PASSWORD, "password": OTHER}

    wrong = error_of(await ada.put("/me/password", {**change, "current_password": OTHER}), 422)
    assert wrong == {"current_password": "is not the current password"}
    assert error_of(await ada.put("/me/password", {**change, "password": "12345678"}), 422)
    assert data_of(await ada.put("/me/password", change), 200, "Password updated") is None

    data_of(await ada.get("/me"))
    error_of(await second.get("/me"), 401)
    error_of(
        await api.anonymous.post("/auth/login", {"username": "ada", "password": PASSWORD}), 401
    )
    await log_in(api, "ada", OTHER)


async def test_wrong_current_passwords_are_counted_like_logins(api: Api) -> None:
    ada = await api.account("ada")
    for _ in range(5):
        wrong = {"current_password": OTHER, "password": OTHER}
        error_of(await ada.put("/me/password", wrong), 422)

    error_of(await ada.put("/me/password", {"current_password": PASSWORD, "password": OTHER}), 429)


@pytest.mark.parametrize("end_tokens", [False, True])
async def test_own_password_ends_tokens_if_asked(api: Api, end_tokens: bool) -> None:
    ada = await api.account("ada")
    script = Caller(api.client, token=await a_token(ada))

    change = {"current_password": PASSWORD, "password": OTHER, "end_tokens": end_tokens}
    data_of(await ada.put("/me/password", change))

    assert (await script.get("/me")).status_code == (401 if end_tokens else 200)


async def test_password_set_by_level_0_ends_the_tokens(api: Api, admin: Caller) -> None:
    ada = await api.account("ada")
    script = Caller(api.client, token=await a_token(ada))
    uuid = data_of(await ada.get("/me"))["uuid"]

    data_of(await admin.put(f"/users/{uuid}", {"password": OTHER}))

    error_of(await script.get("/me"), 401)


async def test_token_ends_no_session_and_changes_no_password(api: Api) -> None:
    ada = await api.account("ada")
    script = Caller(api.client, token=await a_token(ada))
    [session] = data_of(await script.get("/me/sessions"), 200, "1 session(s) found")

    change = {"current_password": PASSWORD, "password": OTHER}
    for reply in (
        await script.post("/auth/logout", {}),
        await script.delete(f"/me/sessions/{session['uuid']}"),
        await script.put("/me/password", change),
    ):
        error_of(reply, 403, "needs_login")
    data_of(await ada.get("/me"))


async def test_own_sessions_are_listed_and_ended(api: Api) -> None:
    ada = await api.account("ada")
    second = await log_in(api, "ada")

    rows = data_of(await ada.get("/me/sessions"), 200, "2 session(s) found")
    assert [one["is_current"] for one in rows] == [True, False]
    assert set(rows[0]) == {
        "uuid", "created_at", "refreshed_at", "expires_at", "ends_at", "is_current",
    }  # fmt: skip
    assert rows[0]["created_at"] < rows[0]["expires_at"] <= rows[0]["ends_at"]
    page = await ada.get("/me/sessions", limit=1, offset=1)
    assert page.json()["metadata"] == {"total": 2, "limit": 1, "offset": 1}

    data_of(await ada.delete(f"/me/sessions/{rows[1]['uuid']}"), 200, "Session ended")
    error_of(await second.get("/me"), 401)
    error_of(await ada.delete(f"/me/sessions/{rows[1]['uuid']}"), 404)


async def test_sessions_and_tokens_of_others_need_level_0(api: Api, admin: Caller) -> None:
    ada, bob = await api.account("ada"), await api.account("bob")
    uuid = data_of(await ada.get("/me"))["uuid"]
    await a_token(ada)
    [session] = data_of(await ada.get("/me/sessions"))
    [token] = data_of(await ada.get("/me/tokens"))

    for kind, one in (("sessions", session), ("tokens", token)):
        error_of(await bob.get(f"/users/{uuid}/{kind}"), 403)
        error_of(await bob.delete(f"/users/{uuid}/{kind}/{one['uuid']}"), 403)
        error_of(await bob.delete(f"/me/{kind}/{one['uuid']}"), 404)
        other = data_of(await bob.get("/me"))["uuid"]
        error_of(await admin.delete(f"/users/{other}/{kind}/{one['uuid']}"), 404)
        [row] = data_of(await admin.get(f"/users/{uuid}/{kind}"))
        assert row["uuid"] == one["uuid"]
        data_of(await admin.delete(f"/users/{uuid}/{kind}/{one['uuid']}"))
        assert data_of(await admin.get(f"/users/{uuid}/{kind}")) == []
        error_of(await admin.get(f"/users/5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11/{kind}"), 404)
    error_of(await ada.get("/me"), 401)


async def test_username_that_is_a_number_of_another_is_refused(tmp_path: Path) -> None:
    async with opened_api(tmp_path, PUBLIC_REGISTER="true") as api:
        admin = await api.account("admin", level=0)
        number = {"extension": "1001", "name": "Boss", "type": "chan_sccp", "password": "x"}
        extension = data_of(await admin.post("/extensions", number), 201)["uuid"]
        account = {
            "first_name": "E", "last_name": "V", "username": "1001", "email": "e@example.com",
            "password": OTHER,
        }  # fmt: skip

        taken = error_of(await api.anonymous.post("/auth/register", account), 409)
        assert taken == {"username": "is the number of an extension"}
        error_of(await admin.post("/users", account), 409)
        eve = data_of(await admin.post("/users", {**account, "username": "eve"}), 201)["uuid"]
        error_of(await admin.put(f"/users/{eve}", {"username": "1001"}), 409)

        link = {"user_uuid": eve, "extension_uuid": extension}
        data_of(await admin.post("/user-extensions", link), 201)
        data_of(await admin.put(f"/users/{eve}", {"username": "1001"}))
        data_of(await admin.put(f"/users/{eve}", {"first_name": "Eve"}))
