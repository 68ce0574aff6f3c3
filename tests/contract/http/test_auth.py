"""Section 4.1 of the interface: logging in, registering, refreshing, logging out."""

import logging
from pathlib import Path
from typing import Any

import pytest

from phoneprov_adapters.memory.system import FixedClock
from support.accounts import FIELDS, NEW
from support.api import PASSWORD, Api, Caller, data_of, error_of, opened_api


async def login(api: Api, username: str = "ada", password: str = PASSWORD) -> dict[str, Any]:
    reply = await api.anonymous.post("/auth/login", {"username": username, "password": password})
    data: dict[str, Any] = data_of(reply, 200, "Login successful")
    return data


async def is_accepted(api: Api, token: str) -> bool:
    reply = await Caller(api.client, "", token).get("/me")
    assert reply.status_code in {200, 401}
    return reply.status_code == 200


def refresh(api: Api, token: str) -> Any:
    return api.anonymous.post("/auth/refresh", {"refresh_token": token})


# Login


async def test_login_returns_the_user_and_a_token_pair(api: Api, ada: Caller) -> None:
    reply = await api.anonymous.post("/auth/login", {"username": "ada", "password": PASSWORD})

    data = data_of(reply, 200, "Login successful")
    assert list(data) == ["user", "accessToken", "refreshToken"]
    assert list(data["user"]) == FIELDS
    assert data["user"]["uuid"] == ada.uuid
    assert data["user"]["last_login_ip"] == "127.0.0.1"
    assert data["user"]["last_login_at"] > data["user"]["created_at"]
    assert len({data["accessToken"], data["refreshToken"], ada.token}) == 3
    assert await is_accepted(api, data["accessToken"])
    assert reply.json()["metadata"] == {}


async def test_login_refusals_are_identical_for_every_cause(
    api: Api, admin: Caller, ada: Caller
) -> None:
    data_of(await admin.post("/users", {**NEW, "is_active": False}), 201)

    replies = [
        await api.anonymous.post("/auth/login", {"username": name, "password": password})
        for name, password in (
            ("ada", "another password"),
            ("unknown", PASSWORD),
            ("grace", NEW["password"]),
            ("ada", ""),
            ("ada", PASSWORD + " "),
            ("ada@example.com", PASSWORD),
            ("ada", "\U0001f600" * 1000),
        )
    ]

    for reply in replies:
        assert error_of(reply, 401, "wrong_credentials") == {}
        assert reply.json()["message"] == replies[0].json()["message"]
        assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"username", "password"}),
        ({"username": "ada"}, {"password"}),
        ({"username": None, "password": None}, {"username", "password"}),
        ({"username": 7, "password": ["x"]}, {"username", "password"}),
        ({"username": "ada", "password": "x", "remember": True}, {"remember"}),
        ([], {"body"}),
    ],
)
async def test_login_every_invalid_field_is_named(api: Api, body: Any, fields: set[str]) -> None:
    assert set(error_of(await api.anonymous.post("/auth/login", body), 422, "invalid")) == fields


async def test_login_after_five_failures_is_429_with_the_seconds_to_wait(tmp_path: Path) -> None:
    clock = FixedClock()
    async with opened_api(tmp_path, overrides={"clock": clock}) as api:
        await api.account("ada")
        bodies = [{"username": "ada", "password": "wrong"}] * 5
        for body in bodies:
            error_of(await api.anonymous.post("/auth/login", body), 401, "wrong_credentials")
        for seconds in (0, 29):
            clock.advance(seconds)
            body = {"username": "ADA", "password": PASSWORD}
            reply = await api.anonymous.post("/auth/login", body)
            assert error_of(reply, 429, "too_many_attempts") == {}
            assert reply.headers["retry-after"] == str(30 - seconds)
        clock.advance(1)
        await login(api)


async def test_passwords_and_tokens_are_not_logged(
    api: Api, ada: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    tokens = await login(api)
    data_of(await refresh(api, tokens["refreshToken"]))
    error_of(await refresh(api, tokens["refreshToken"]), 401)
    await api.anonymous.post("/auth/login", {"username": "ada", "password": "a wrong one"})

    logged = "".join(f"{one.__dict__} {one.getMessage()}" for one in caplog.records)
    assert logged
    for secret in (PASSWORD, "a wrong one", tokens["accessToken"], tokens["refreshToken"]):
        assert secret not in logged


# Tokens


async def test_session_ends_after_90_days(tmp_path: Path) -> None:
    clock, day = FixedClock(), 24 * 3600
    async with opened_api(tmp_path, overrides={"clock": clock}) as api:
        await api.account("ada")
        token = (await login(api))["refreshToken"]
        for days in [13] * 6 + [12 - 1 / day]:
            clock.advance(days * day)
            token = data_of(await refresh(api, token))["refreshToken"]
        clock.advance(1)
        error_of(await refresh(api, token), 401, "unauthenticated")


async def test_refresh_returns_a_new_pair_and_revokes_the_token(api: Api, ada: Caller) -> None:
    old = await login(api)

    reply = await refresh(api, old["refreshToken"])

    new = data_of(reply, 200, "Token refreshed")
    assert list(new) == ["accessToken", "refreshToken"]
    assert reply.json()["metadata"] == {}
    assert new["refreshToken"] != old["refreshToken"]
    assert await is_accepted(api, new["accessToken"])


@pytest.mark.parametrize("token", ["", "a.b.c", "\u00e9", "x" * 100_000, "e30.e30.", "null"])
async def test_refresh_invalid_token_is_401(api: Api, token: str) -> None:
    assert error_of(await refresh(api, token), 401, "unauthenticated") == {}


@pytest.mark.parametrize("body", [{}, {"refresh_token": None}, {"refresh_token": 7}])
async def test_refresh_without_token_is_refused(api: Api, body: Any) -> None:
    assert set(error_of(await api.anonymous.post("/auth/refresh", body), 422)) == {"refresh_token"}


# Logout


async def test_logout_with_refresh_token_ends_its_session(api: Api, ada: Caller) -> None:
    named = await login(api)

    reply = await ada.post("/auth/logout", {"refresh_token": named["refreshToken"]})

    assert data_of(reply, 200, "Logout successful") is None
    assert reply.json()["metadata"] == {}
    error_of(await refresh(api, named["refreshToken"]), 401)
    assert not await is_accepted(api, named["accessToken"])
    assert await is_accepted(api, ada.token)
    assert data_of(await ada.get("/me"))["last_logout_ip"] == "127.0.0.1"


@pytest.mark.parametrize("content", [b"", b"{}", b'{"refresh_token": null}', b"null"])
async def test_logout_without_refresh_token_ends_all_sessions(
    api: Api, ada: Caller, bob: Caller, content: bytes
) -> None:
    other = await login(api)

    headers = {"Content-Type": "application/json"} if content else {}
    reply = await ada.ask("POST", "/auth/logout", content=content, headers=headers)

    data_of(reply, 200, "Logout successful")
    assert not await is_accepted(api, ada.token)
    assert not await is_accepted(api, other["accessToken"])
    error_of(await refresh(api, other["refreshToken"]), 401)
    assert await is_accepted(api, bob.token)


# Register


async def test_registration_is_closed_by_default(api: Api, ada: Caller, admin: Caller) -> None:
    for caller in (api.anonymous, ada, Caller(api.client, "", "nonsense")):
        for body in (NEW, {"nonsense": 1}):
            reply = await caller.post("/auth/register", body)
            assert error_of(reply, 403, "forbidden") == {}

    made = data_of(await admin.post("/auth/register", NEW), 201, "Registration successful")
    assert list(made) == FIELDS
    assert made["created_by"] == admin.uuid
    assert (await login(api, "grace", NEW["password"]))["user"]["uuid"] == made["uuid"]


async def test_registration_opened_by_setting_is_open_to_all(tmp_path: Path) -> None:
    full = {
        **NEW, "phone": "1", "lang": "de-CH", "location": "x", "nationality": "y",
        "timezone": "Europe/Zurich",
    }  # fmt: skip
    async with opened_api(tmp_path, PUBLIC_REGISTER="true") as api:
        reply = await api.anonymous.post("/auth/register", full)

        made = data_of(reply, 201, "Registration successful")
        assert {**made, **{key: full[key] for key in full if key != "password"}} == made
        assert (made["created_by"], made["created_ip"]) == (None, "127.0.0.1")
        assert "password" not in reply.text
        registered = await login(api, "grace", NEW["password"])
        grace = Caller(api.client, made["uuid"], registered["accessToken"])
        assert data_of(await grace.get("/me"))["permission"] is None
        other = {**NEW, "username": "GRACE", "email": "Grace@Example.com"}
        taken = error_of(await api.anonymous.post("/auth/register", other), 409)
        assert taken == dict.fromkeys(("username", "email"), "is already in use")
        bad = {**NEW, "is_active": False, "uuid": made["uuid"], "lang": "?", "password": "short"}
        reply = await api.anonymous.post("/auth/register", bad)
        assert set(error_of(reply, 422)) == {"is_active", "uuid", "lang", "password"}
