"""Section 4.1 of the interface: logging in, registering, refreshing, logging out."""

import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
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


@pytest.fixture
async def timed(tmp_path: Path) -> AsyncIterator[tuple[Api, FixedClock]]:
    clock = FixedClock()
    async with opened_api(tmp_path / "timed", overrides={"clock": clock}) as api:
        yield api, clock


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    (tmp_path / "timed").mkdir()
    (tmp_path / "public").mkdir()


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


async def test_new_user_has_no_last_login(admin: Caller) -> None:
    created = data_of(await admin.post("/users", NEW), 201)

    assert created["last_login_ip"] is None
    assert created["last_login_at"] is None
    assert created["last_logout_ip"] is None


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


async def test_login_five_failures_lock_the_account_temporarily(
    timed: tuple[Api, FixedClock],
) -> None:
    api, clock = timed
    await api.account("ada")

    async def guess(password: str = "wrong", username: str = "ada") -> httpx.Response:
        return await api.anonymous.post("/auth/login", {"username": username, "password": password})

    for _ in range(5):
        error_of(await guess(), 401, "wrong_credentials")
    for password in ("wrong", PASSWORD):
        reply = await guess(password)
        assert error_of(reply, 429, "too_many_attempts") == {}
        assert reply.headers["retry-after"] == "30"
    error_of(await guess(username="ADA"), 429)
    error_of(await guess(username="unknown"), 401)
    clock.advance(29)
    reply = await guess(PASSWORD)
    error_of(reply, 429)
    assert reply.headers["retry-after"] == "1"
    clock.advance(1)
    error_of(await guess(), 401)
    reply = await guess(PASSWORD)
    error_of(reply, 429)
    assert reply.headers["retry-after"] == "60"
    clock.advance(60)
    data_of(await guess(PASSWORD))
    for _ in range(5):
        error_of(await guess(), 401)
    error_of(await guess(), 429)


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


async def test_token_of_the_other_kind_is_refused(api: Api, ada: Caller) -> None:
    tokens = await login(api)

    assert not await is_accepted(api, tokens["refreshToken"])
    error_of(await refresh(api, tokens["accessToken"]), 401, "unauthenticated")
    data_of(await refresh(api, tokens["refreshToken"]), 200, "Token refreshed")


async def test_access_token_expires_after_15_minutes(timed: tuple[Api, FixedClock]) -> None:
    api, clock = timed
    ada = await api.account("ada")

    clock.advance(15 * 60 - 1)
    assert await is_accepted(api, ada.token)
    clock.advance(2)
    assert not await is_accepted(api, ada.token)


async def test_refresh_token_expires_after_14_days_and_the_session_after_90(
    timed: tuple[Api, FixedClock],
) -> None:
    api, clock = timed
    await api.account("ada")
    idle, busy = await login(api), (await login(api))["refreshToken"]
    day = 24 * 3600

    clock.advance(14 * day + 1)
    error_of(await refresh(api, idle["refreshToken"]), 401)
    busy = (await login(api))["refreshToken"]
    for _ in range(6):
        clock.advance(14 * day - 1)
        busy = data_of(await refresh(api, busy))["refreshToken"]
    clock.advance(6 * day + 7)
    error_of(await refresh(api, busy), 401)


async def test_refresh_returns_a_new_pair_and_revokes_the_token(api: Api, ada: Caller) -> None:
    old = await login(api)

    reply = await refresh(api, old["refreshToken"])

    new = data_of(reply, 200, "Token refreshed")
    assert list(new) == ["accessToken", "refreshToken"]
    assert reply.json()["metadata"] == {}
    assert new["refreshToken"] != old["refreshToken"]
    assert await is_accepted(api, new["accessToken"])


async def test_refresh_reused_token_ends_the_session(api: Api, ada: Caller) -> None:
    old = await login(api)
    new = data_of(await refresh(api, old["refreshToken"]))

    error_of(await refresh(api, old["refreshToken"]), 401, "unauthenticated")

    error_of(await refresh(api, new["refreshToken"]), 401)
    assert not await is_accepted(api, new["accessToken"])
    assert not await is_accepted(api, old["accessToken"])
    assert await is_accepted(api, ada.token)


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


@pytest.mark.parametrize("content", [b"", b"{}", b'{"refresh_token": null}'])
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
    async with opened_api(tmp_path / "public", PUBLIC_REGISTER="true") as api:
        reply = await api.anonymous.post("/auth/register", NEW)

        made = data_of(reply, 201, "Registration successful")
        assert list(made) == FIELDS
        assert {**made, **{key: NEW[key] for key in NEW if key != "password"}} == made
        assert (made["lang"], made["timezone"], made["is_active"]) == ("en", "UTC", True)
        for field in ("phone", "location", "nationality", "created_by", "last_uuid"):
            assert made[field] is None
        assert (made["created_ip"], made["updated_ip"]) == ("127.0.0.1", "127.0.0.1")
        assert made["created_at"] == made["updated_at"]
        assert "password" not in reply.text
        registered = await login(api, "grace", NEW["password"])
        grace = Caller(api.client, made["uuid"], registered["accessToken"])
        assert data_of(await grace.get("/me"))["permission"] is None
        error_of(await grace.get("/users"), 403)
        other = {**NEW, "username": "GRACE", "email": "Grace@Example.com"}
        assert set(error_of(await api.anonymous.post("/auth/register", other), 409)) <= {
            "username",
            "email",
        }
        full = {
            **NEW,
            "username": "full",
            "email": "full@example.com",
            "phone": "1",
            "lang": "de-CH",
            "location": "x",
            "nationality": "y",
            "timezone": "Europe/Zurich",
        }
        made = data_of(await api.anonymous.post("/auth/register", full), 201)
        assert {**made, **{key: full[key] for key in full if key != "password"}} == made
        bad = {**NEW, "is_active": False, "uuid": made["uuid"], "lang": "?", "password": "short"}
        reply = await api.anonymous.post("/auth/register", bad)
        assert set(error_of(reply, 422)) == {"is_active", "uuid", "lang", "password"}
