"""The console's files and the session of a browser."""

import asyncio
import re
from importlib import resources
from typing import Any

import httpx
import pytest

from phoneprov_http.console.files import PAGE, assets, help_pages
from support.api import PASSWORD, Api, Caller, data_of, error_of, opened_api

FILES = assets()
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
COOKIE = "phoneprov_session"
SESSION = "/console/session"
MODULE = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']+)["']""")


async def sign_in(api: Api, username: str = "ada", **headers: str) -> httpx.Response:
    body = {"username": username, "password": PASSWORD}
    return await api.client.post(SESSION, json=body, headers=headers)


# Files


async def test_console_files_are_served_unchanged(api: Api) -> None:
    folder = resources.files("phoneprov_http.console").joinpath("static")
    types = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
             "html": "text/html; charset=utf-8", "svg": "image/svg+xml"}  # fmt: skip
    for name in FILES:
        reply = await api.client.get(f"/console/{name}", headers={"Accept-Encoding": "gzip"})

        assert reply.content == folder.joinpath(name).read_bytes(), name
        assert reply.headers["content-encoding"] == "gzip", name
        assert reply.headers["content-type"] == types[name.rpartition(".")[2]], name
        assert reply.headers["x-content-type-options"] == "nosniff", name


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
        for module in MODULE.findall(COMMENT.sub("", text)):
            path = httpx.URL(f"http://test/{name}").join(module).path.removeprefix("/")
            assert path in FILES, f"{name} imports {module}"


def test_console_every_module_is_used() -> None:
    used = {PAGE}
    found = [PAGE]
    while found:
        name = found.pop()
        text = FILES[name].content.decode()
        for module in MODULE.findall(COMMENT.sub("", text)) + re.findall(
            r'(?:href|src)="([^"#]+)"', text
        ):
            path = httpx.URL(f"http://test/{name}").join(module).path.removeprefix("/")
            if path not in used:
                used.add(path)
                found.append(path)
    assert used == set(FILES)


IMPORT = re.compile(r"""^(?:import|export)\b[^;"']*["'](\.[^"']+)["']""", re.MULTILINE)


def imports_of(name: str) -> list[str]:
    """The modules that a module needs before it runs; not those that it loads later."""
    text = FILES[name].content.decode()
    names = IMPORT.findall(COMMENT.sub("", text))
    return [httpx.URL(f"http://test/{name}").join(one).path.removeprefix("/") for one in names]


def needed_by(*names: str) -> set[str]:
    found, left = set[str](), list(names)
    while left:
        if (name := left.pop()) not in found:
            found.add(name)
            left += imports_of(name)
    return found


def test_console_modules_import_each_other_in_no_circle() -> None:
    for name in FILES:
        if name.endswith(".js"):
            assert name not in needed_by(*imports_of(name)), name


def test_console_modules_stay_small() -> None:
    long = {name: file.content.count(b"\n") for name, file in FILES.items() if name[-3:] == ".js"}
    assert {name: lines for name, lines in long.items() if lines > 400} == {}


def test_console_page_preloads_the_modules_of_its_first_view() -> None:
    page = FILES[PAGE].content.decode()
    preloaded = re.findall(r'rel="modulepreload" href="([^"]+)"', page)
    needed = needed_by("main.js", "views/overview.js")
    assert set(preloaded) == needed
    assert ">Loading…<" in page
    first = {PAGE, "console.css", "icon.svg", *needed}
    assert sum(len(FILES[name].compressed) for name in first) <= 90 * 1024


async def test_console_links_lead_to_pages_of_the_documentation(api: Api) -> None:
    scripts = "".join(file.content.decode() for file in FILES.values())
    linked = set(re.findall(r'"(?:#/help/)?((?:how-to|explanation|reference)/[\w/-]+)"', scripts))
    assert len(linked) > 15
    assert {name for name in linked if f"help/{name}.md" not in help_pages()} == set()
    reply = await api.client.get("/console/help/how-to/console.md")
    assert reply.headers["content-type"] == "text/markdown; charset=utf-8"
    assert reply.text.startswith("# Use the console\n")


# Sessions


async def test_sign_in_returns_access_token_and_hides_refresh_token(api: Api, ada: Caller) -> None:
    reply = await sign_in(api)
    data = data_of(reply, 200, "Login successful")

    assert set(data) == {"accessToken", "me", "level0", "sharedWrite", "version", "isConnected"}
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


async def refresh(api: Api, token: str, **headers: str) -> httpx.Response:
    """Send this cookie and no other."""
    api.client.cookies.clear()
    headers["Cookie"] = f"{COOKIE}={token}"
    return await api.client.post(f"{SESSION}/refresh", headers=headers)


async def test_refresh_exchanges_the_cookie_once(api: Api, ada: Caller) -> None:
    first = (await sign_in(api)).cookies[COOKIE]
    refreshed = await api.client.post(f"{SESSION}/refresh")

    assert data_of(refreshed, 200, "Token refreshed")["me"]["username"] == "ada"
    second = refreshed.cookies[COOKIE]
    assert second != first
    third = (await refresh(api, second)).cookies[COOKIE]
    for token in (first, third):  # a second use of the first ends the session
        error_of(await refresh(api, token), 401, "unauthenticated")


async def test_refresh_lost_response_gives_the_same_browser_the_successor_again(
    api: Api, ada: Caller
) -> None:
    first = (await sign_in(api)).cookies[COOKIE]
    answers = await asyncio.gather(*(refresh(api, first) for _ in range(5)))
    successors = {data_of(one)["accessToken"]: one.cookies[COOKIE] for one in answers}

    assert len(successors) == 5
    for access in successors:
        me = await api.client.get("/api/v1/me", headers={"Authorization": f"Bearer {access}"})
        assert data_of(me)["username"] == "ada"
    one, other, *_ = successors.values()
    data_of(await refresh(api, one))  # they are one token: it is exchanged once
    data_of(await refresh(api, other))
    error_of(await refresh(api, first), 401, "unauthenticated")


@pytest.mark.parametrize("thief", ["another browser", "the API"])
async def test_refresh_second_use_by_a_thief_ends_the_session(
    api: Api, ada: Caller, thief: str
) -> None:
    first = (await sign_in(api)).cookies[COOKIE]
    second = (await refresh(api, first)).cookies[COOKIE]
    if thief == "the API":
        stolen = await api.client.post("/api/v1/auth/refresh", json={"refresh_token": first})
    else:
        stolen = await refresh(api, first, **{"User-Agent": "thief"})

    error_of(stolen, 401, "unauthenticated")
    error_of(await refresh(api, second), 401, "unauthenticated")


async def test_refresh_without_a_cookie_is_null(api: Api) -> None:
    reply = await api.client.post(f"{SESSION}/refresh")

    assert data_of(reply, 200, "There is no session") is None
    assert "set-cookie" not in reply.headers


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
        {"Origin": "http://["},
        {"Origin": "http://[::1"},
        {"Origin": "//test"},
        {"Origin": "test"},
        {"Origin": ""},
        {"Origin": "ftp://test"},
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
