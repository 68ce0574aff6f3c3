"""The console's files and the session of a browser."""

import gzip
import re
from importlib import resources
from typing import Any

import httpx
import pytest

from phoneprov_http.console.files import PAGE, assets
from support.api import PASSWORD, Api, Caller, data_of, error_of, opened_api

FILES = assets()
COOKIE = "phoneprov_session"
SESSION = "/console/session"
MODULE = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']+)["']""")


async def sign_in(api: Api, username: str = "ada", **headers: str) -> httpx.Response:
    body = {"username": username, "password": PASSWORD}
    return await api.client.post(SESSION, json=body, headers=headers)


# Files


@pytest.mark.parametrize("name", FILES)
async def test_console_file_is_served_unchanged(api: Api, name: str) -> None:
    reply = await api.client.get(f"/console/{name}", headers={"Accept-Encoding": "gzip"})

    folder = resources.files("phoneprov_http.console").joinpath("static")
    assert reply.content == folder.joinpath(name).read_bytes()
    assert reply.headers["content-encoding"] == "gzip"
    types = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
             "html": "text/html; charset=utf-8", "svg": "image/svg+xml"}  # fmt: skip
    assert reply.headers["content-type"] == types[name.rpartition(".")[2]]
    assert reply.headers["x-content-type-options"] == "nosniff"


async def test_console_policy_allows_own_files_only(api: Api) -> None:
    policy = (await api.client.get("/console/")).headers["content-security-policy"]

    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")


async def test_console_without_slash_redirects_relative_to_a_prefix(api: Api) -> None:
    reply = await api.client.get("/console")

    assert (reply.status_code, reply.headers["location"]) == (308, "console/")


async def test_console_unchanged_file_is_304(api: Api) -> None:
    first = await api.client.get("/console/main.js")
    tag = first.headers["etag"]

    for field in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = await api.client.get("/console/main.js", headers={"If-None-Match": field})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    changed = await api.client.get("/console/main.js", headers={"If-None-Match": '"other"'})
    assert changed.content == first.content


@pytest.mark.parametrize("field", ["identity", "gzip;q=0", "br", ""])
async def test_console_client_without_gzip_gets_the_plain_file(api: Api, field: str) -> None:
    reply = await api.client.get("/console/main.js", headers={"Accept-Encoding": field})

    assert "content-encoding" not in reply.headers
    assert reply.content == FILES["main.js"].content


@pytest.mark.parametrize("name", ["nothing.js", "views/", "views/nothing.js", "../app.py", "a/b/c"])
async def test_console_unknown_file_is_404(api: Api, name: str) -> None:
    error_of(await api.client.get(f"/console/{name}"), 404, "not_found")


async def test_console_disabled_is_404(tmp_path_factory: pytest.TempPathFactory) -> None:
    settings: dict[str, Any] = {"PHONEPROV_CONSOLE": "off"}
    async with opened_api(tmp_path_factory.mktemp("off"), **settings) as api:
        error_of(await api.client.get("/console/"), 404)
        error_of(await api.client.post(SESSION, json={}), 404)


def test_console_files_refer_to_existing_files_only() -> None:
    for name, file in FILES.items():
        text = file.content.decode()
        outside = set(re.findall(r"https?://[^\s\"']+", text)) - {"http://www.w3.org/2000/svg"}
        assert outside == set(), name
        assert "innerHTML" not in text, name
        for module in MODULE.findall(text):
            path = httpx.URL(f"http://test/{name}").join(module).path.removeprefix("/")
            assert path in FILES, f"{name} imports {module}"


def test_console_every_module_is_used() -> None:
    used = {PAGE}
    found = [PAGE]
    while found:
        name = found.pop()
        text = FILES[name].content.decode()
        for module in MODULE.findall(text) + re.findall(r'(?:href|src)="([^"#]+)"', text):
            path = httpx.URL(f"http://test/{name}").join(module).path.removeprefix("/")
            if path not in used:
                used.add(path)
                found.append(path)
    assert used == set(FILES)


def test_console_first_load_is_at_most_80_kib() -> None:
    assert sum(len(file.compressed) for file in FILES.values()) <= 80 * 1024
    assert all(gzip.decompress(file.compressed) == file.content for file in FILES.values())


# Sessions


async def test_sign_in_returns_access_token_and_hides_refresh_token(api: Api, ada: Caller) -> None:
    reply = await sign_in(api)
    data = data_of(reply, 200, "Login successful")

    assert set(data) == {"accessToken", "me", "level0", "sharedWrite", "version"}
    assert (data["me"]["username"], data["level0"], data["sharedWrite"]) == ("ada", False, False)
    token, *attributes = reply.headers["set-cookie"].split("; ")
    assert token.startswith(f"{COOKIE}=eyJ")
    assert attributes == ["Path=/console/session", "HttpOnly", "SameSite=Strict"]
    assert token.removeprefix(f"{COOKIE}=") not in reply.text
    me = await api.client.get(
        "/api/v1/me", headers={"Authorization": f"Bearer {data['accessToken']}"}
    )
    assert data_of(me)["username"] == "ada"


async def test_sign_in_with_a_wrong_password_sets_no_cookie(api: Api, ada: Caller) -> None:
    body = {"username": "ada", "password": "wrong password"}
    reply = await api.client.post(SESSION, json=body)

    error_of(reply, 401)
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize(
    ("level", "settings", "expected"),
    [
        (7, {}, (True, True)),
        (7, {"PHONEPROV_LEVEL_RULE": "strict"}, (False, False)),
        (0, {"PHONEPROV_LEVEL_RULE": "strict"}, (True, True)),
        (None, {"PHONEPROV_SHARED_WRITE": "bearer"}, (False, True)),
    ],
)
async def test_sign_in_reports_registration_setting(
    tmp_path_factory: pytest.TempPathFactory,
    level: int | None,
    settings: dict[str, Any],
    expected: tuple[bool, bool],
) -> None:
    async with opened_api(tmp_path_factory.mktemp("level"), **settings) as api:
        await api.account("ada", level=level)
        data = data_of(await sign_in(api))
        assert (data["level0"], data["sharedWrite"]) == expected


async def test_refresh_exchanges_the_cookie_once(api: Api, ada: Caller) -> None:
    first = (await sign_in(api)).cookies[COOKIE]
    refreshed = await api.client.post(f"{SESSION}/refresh")

    assert data_of(refreshed, 200, "Token refreshed")["me"]["username"] == "ada"
    assert refreshed.cookies[COOKIE] != first
    second = refreshed.cookies[COOKIE]
    api.client.cookies.clear()
    for token in (first, second):  # a second use of the first ends the session
        again = await api.client.post(f"{SESSION}/refresh", headers={"Cookie": f"{COOKIE}={token}"})
        error_of(again, 401, "unauthenticated")


async def test_refresh_without_a_cookie_is_401(api: Api) -> None:
    error_of(await api.client.post(f"{SESSION}/refresh"), 401, "unauthenticated")


async def test_sign_out_ends_the_session_and_removes_the_cookie(api: Api, ada: Caller) -> None:
    token = data_of(await sign_in(api))["accessToken"]
    reply = await api.client.delete(SESSION)

    data_of(reply, 200, "Logout successful")
    assert reply.headers["set-cookie"].startswith(f"{COOKIE}=; ")
    assert "Max-Age=0" in reply.headers["set-cookie"]
    me = await api.client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    error_of(me, 401)
    data_of(await api.client.delete(SESSION), 200, "Logout successful")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/phones/console/", "/phones/console/session"),
        ("/a/b-c/console/", "/a/b-c/console/session"),
        ("/console/; Domain=example.com", "/console/session"),
        ("/other/", "/console/session"),
        ("/" + "a/" * 200 + "console/", "/console/session"),
    ],
)
async def test_cookie_path_follows_the_prefix_of_the_page(
    api: Api, ada: Caller, path: str, expected: str
) -> None:
    reply = await sign_in(api, **{"X-Console-Path": path})

    assert f"; Path={expected};" in reply.headers["set-cookie"]


async def test_cookie_is_secure_over_https(api: Api, ada: Caller) -> None:
    reply = await sign_in(api, Origin="https://test")

    assert reply.headers["set-cookie"].endswith("; Secure")


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://test.evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://test"},
    ],
)
async def test_session_of_another_site_is_refused(
    api: Api, ada: Caller, headers: dict[str, str]
) -> None:
    await sign_in(api)

    error_of(await sign_in(api, **headers), 403, "forbidden")
    error_of(await api.client.post(f"{SESSION}/refresh", headers=headers), 403, "forbidden")
    error_of(await api.client.delete(SESSION, headers=headers), 403, "forbidden")
    data_of(await api.client.post(f"{SESSION}/refresh", headers={"Origin": "http://test"}))
