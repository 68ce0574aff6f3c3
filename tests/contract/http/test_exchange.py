"""``/asterisk``: what Asterisk gets by its realtime driver."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest

from phoneprov_adapters.sql.engines.sqlite import SqliteReadConnection
from phoneprov_core.features.desks.records import DeskUse
from phoneprov_core.kernel.errors import Unavailable
from phoneprov_http import exchange
from support.api import Api, Caller, data_of, error_of, opened_api
from support.records import moment
from support.weight import passed_by

TOKEN = "a service token of Asterisk"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
DEVICE, LINE = "/asterisk/sccpdevice/single", "/asterisk/sccpline/single"
OBJECTS = ("ps_endpoints", "ps_auths", "ps_aors")
PJSIP = tuple((f"/asterisk/{one}/single", "id") for one in OBJECTS)
MAC, NAME = "00:1B:D4:12:34:56", "SEP001BD4123456"


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(
        tmp_path, PHONEPROV_ASTERISK_TOKEN=TOKEN, PHONEPROV_ASTERISK_CONTEXT="office"
    ) as opened:
        yield opened


async def ask(api: Api, path: str, name: str) -> httpx.Response:
    return await api.client.post(path, data={"name": name}, headers=HEADERS)


async def got(api: Api, path: str, name: str) -> list[tuple[str, str]]:
    """The object that Asterisk gets."""
    reply = await ask(api, path, name)
    assert reply.status_code == 200
    assert "\n" not in reply.text
    assert "\r" not in reply.text
    assert "+" not in reply.text
    return parse_qsl(reply.text, strict_parsing=True, keep_blank_values=True)


async def an_extension(admin: Caller, number: str, **fields: Any) -> str:
    body = {
        "type": "chan_sccp",
        "extension": number,
        "name": f"Line {number}",
        "password": "secret",
    }
    return str(data_of(await admin.post("/extensions", {**body, **fields}), 201)["uuid"])


async def link(admin: Caller, user: Caller, extension_uuid: str) -> dict[str, Any]:
    body = {"user_uuid": user.uuid, "extension_uuid": extension_uuid}
    linked: dict[str, Any] = (await admin.post("/user-extensions", body)).json()
    return linked


async def buttons(api: Api, name: str = NAME) -> list[str]:
    return [value for key, value in await got(api, DEVICE, name) if key == "button"]


async def test_device_and_line_are_one_percent_encoded_line(api: Api, admin: Caller) -> None:
    phone = {"mac": MAC, "model": "CP-7945G", "name": "Empfang & Café"}
    data_of(await admin.post("/phones", phone), 201)
    own = await an_extension(admin, "101", name="Zoë = 1; 50%", voicemail=True)
    data_of(await admin.put(f"/phones/{MAC}/desk", {"extension_uuid": own}))

    reply = await ask(api, DEVICE, NAME)
    assert reply.text == (
        "name=SEP001BD4123456&type=device&devicetype=7945"
        "&description=Empfang%20%26%20Caf%C3%A9&button=line%2C101"
    )
    assert reply.headers["content-length"] == str(len(reply.content))
    assert (await ask(api, LINE, "101")).text == (
        "name=101&type=line&label=Zo%C3%AB%20%3D%201%3B%2050%25"
        "&cid_name=Zo%C3%AB%20%3D%201%3B%2050%25&cid_num=101&context=office&mailbox=101%40default"
    )


async def test_lines_of_a_phone_are_what_asterisk_gets(
    api: Api, admin: Caller, ada: Caller
) -> None:
    data_of(await admin.post("/phones", {"mac": MAC}), 201)
    assert data_of(await admin.get(f"/phones/{MAC}/lines"), 200, "0 line(s) found") == []
    own = await an_extension(admin, "101")
    await an_extension(admin, "102", voicemail=True)
    data_of(await admin.put(f"/phones/{MAC}/desk", {"extension_uuid": own}))

    lines = data_of(await admin.get(f"/phones/{MAC}/lines"), 200, "1 line(s) found")
    assert lines == [{
        "name": "101", "label": "Line 101", "cid_name": "Line 101", "cid_num": "101",
        "context": "office", "mailbox": None,
    }]  # fmt: skip
    assert "secret" not in (await admin.get(f"/phones/{MAC}/lines")).text
    error_of(await ada.get(f"/phones/{MAC}/lines"), 403)
    error_of(await admin.get("/phones/00:1B:D4:99:99:99/lines"), 404)


async def test_number_of_a_desk_must_be_a_line_and_keeps_its_extension(
    api: Api, admin: Caller
) -> None:
    data_of(await admin.post("/phones", {"mac": MAC}), 201)
    sip = await an_extension(admin, "201", type="chan_pjsip")
    own = await an_extension(admin, "101")
    path = f"/phones/{MAC}/desk"
    error_of(await admin.put(path, {"extension_uuid": sip}), 409, "not_a_line")
    error_of(await admin.put(path, {"extension_uuid": "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"}), 404)
    assert data_of(await admin.put(path, {"extension_uuid": own}))["extension_uuid"] == own

    error_of(await admin.delete(f"/extensions/{own}"), 409)
    assert data_of(await admin.put(path, {"extension_uuid": None}))["extension_uuid"] is None
    data_of(await admin.delete(f"/extensions/{own}"))


ANSWERED_EMPTY = [
    ("POST", DEVICE, b"name=SEP001BD4999999", 404),
    ("POST", DEVICE, b"name=001BD4123456", 404),
    ("POST", DEVICE, b"name=SEP001BD412345G", 404),
    ("POST", LINE, b"name=999", 404),
    ("POST", LINE, b"name%20LIKE=%25", 400),
    ("POST", LINE, b"", 400),
    ("POST", LINE, b"name=1&name=2", 400),
    ("POST", LINE, b"name=%ff", 400),
    ("POST", LINE, b"\xff", 400),
    ("POST", LINE, b"a=1&" * 30 + b"name=1", 400),
    ("POST", LINE, b"name=" + b"1" * 5000, 413),
    ("GET", DEVICE, b"", 405),
    ("HEAD", DEVICE, b"", 405),
    ("OPTIONS", DEVICE, b"", 405),
    ("POST", "/asterisk", b"", 404),
    ("POST", "/asterisk/", b"", 404),
    ("POST", "/asterisk/sccpdevice//single", b"name=SEP001BD4123456", 404),
    ("POST", "//asterisk/sccpdevice/single", b"name=SEP001BD4123456", 404),
    ("POST", "/%61sterisk/sccpdevice/single", b"name=SEP001BD4123456", 404),
    ("POST", "/asterisk/sccpdevice/single/", b"name=SEP001BD4123456", 404),
    *(
        ("POST", f"/asterisk/{table}/{what}", b"name=SEP001BD4123456", 200)
        for table in ("sccpdevice", "sccpline")
        for what in ("multi", "update", "store", "destroy", "require")
    ),
]


HOSTILE = (
    "%", "1%", "10_", "%%", "\0", "101\0", "101 ", " 101", "101\n", "101\x85", "\u0661\u0660\u0661",
    "\uff11\uff10\uff11", "101' OR '1'='1", "101\\", "1" * 4000, "\U0010ffff" * 300, f"{NAME}\0",
    f"{NAME} ", f"{NAME}%", NAME[:-1] + "_", "SEP", "XXX001BD4123456",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_hostile_names_find_nothing(tmp_path: Path, kind: str) -> None:
    async with opened_api(
        tmp_path, database_kind=kind, PHONEPROV_ASTERISK_TOKEN=TOKEN, PHONEPROV_ASTERISK_PJSIP="on"
    ) as api:
        admin = await api.account("admin", level=0)
        data_of(await admin.post("/phones", {"mac": MAC}), 201)
        await an_extension(admin, "101")
        await an_extension(admin, "201", type="chan_pjsip")
        for path, field in (*((one, "name") for one in (DEVICE, LINE)), *PJSIP):
            for name in HOSTILE:
                reply = await api.client.post(path, data={field: name}, headers=HEADERS)
                assert (reply.status_code, reply.content) == (404, b""), (path, name)


async def test_answer_is_one_read_and_passes_no_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[object] = []
    fetch = SqliteReadConnection._fetch

    async def counted(self: SqliteReadConnection, *query: Any) -> Any:
        reads.append(query)
        return await fetch(self, *query)

    async with opened_api(tmp_path, database_kind="sqlite", PHONEPROV_ASTERISK_TOKEN=TOKEN) as api:
        admin = await api.account("admin", level=0)
        data_of(await admin.post("/phones", {"mac": MAC}), 201)
        await an_extension(admin, "101")
        monkeypatch.setattr(SqliteReadConnection, "_fetch", counted)
        for number, (path, name) in enumerate([(DEVICE, NAME), (LINE, "101")], 1):
            reply, seen = await passed_by(partial(ask, api, path, name))
            assert (reply.status_code, len(reads)) == (200, number)
            of_http = {module for module in seen if module.startswith("phoneprov_http/")}
            passed = ("front.py", "errors.py", "exchange.py")
            assert of_http == {f"phoneprov_http/{name}" for name in passed}


async def test_everything_else_is_answered_with_an_empty_body(api: Api, admin: Caller) -> None:
    data_of(await admin.post("/phones", {"mac": MAC}), 201)
    for method, path, sent, status in ANSWERED_EMPTY:
        reply = await api.client.request(
            method, f"http://test{path}", content=sent, headers=HEADERS
        )
        assert (reply.status_code, reply.content) == (status, b""), (method, path, sent)
        assert reply.headers.get("Allow") == ("POST" if status == 405 else None)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer another"},
        {"Authorization": TOKEN},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {TOKEN}x"},
    ],
)
async def test_wrong_token_is_refused_before_anything_else(
    api: Api, headers: dict[str, str]
) -> None:
    for method, path in (("POST", DEVICE), ("GET", DEVICE), ("POST", "/asterisk/x")):
        reply = await api.client.request(method, path, headers=headers)
        assert (reply.status_code, reply.content) == (401, b"")
        assert reply.headers["WWW-Authenticate"] == "Bearer"


async def test_one_right_token_of_several_is_enough(api: Api) -> None:
    """Asterisk adds the header at each reload, and keeps that of an earlier token."""
    for tokens, status in (((TOKEN, TOKEN), 404), (("earlier", TOKEN), 404), (("a", "b"), 401)):
        headers = [("Authorization", f"Bearer {token}") for token in tokens]
        reply = await api.client.post(DEVICE, data={"name": "SEP0000000000FF"}, headers=headers)
        assert (reply.status_code, reply.content) == (status, b"")


async def test_paths_do_not_exist_without_a_token(tmp_path: Path) -> None:
    async with opened_api(tmp_path) as api:
        for headers in (HEADERS, {"Authorization": "Bearer "}, {}):
            reply = await api.client.post(DEVICE, data={"name": NAME}, headers=headers)
            assert (reply.status_code, reply.content) == (404, b"")


@pytest.mark.parametrize(
    ("forwarded", "status"),
    [("", 200), ("10.1.2.3", 200), ("10.2.2.3", 403), ("10.1.2.3, 192.0.2.1", 403)],
)
async def test_only_networks_of_asterisk_may_ask(
    tmp_path: Path, forwarded: str, status: int
) -> None:
    async with opened_api(
        tmp_path,
        PHONEPROV_ASTERISK_TOKEN=TOKEN,
        PHONEPROV_ASTERISK_NETWORKS="127.0.0.1,10.1.0.0/16",
        PHONEPROV_TRUSTED_PROXIES="127.0.0.1",
    ) as api:
        await (await api.account("admin", level=0)).post("/phones", {"mac": MAC})
        headers = {**HEADERS, **({"X-Forwarded-For": forwarded} if forwarded else {})}
        reply = await api.client.post(DEVICE, data={"name": NAME}, headers=headers)
        assert reply.status_code == status
        assert bool(reply.content) == (status == 200)


@pytest.mark.parametrize(
    ("error", "status"), [(Unavailable(), 503), (TimeoutError(), 503), (RuntimeError(), 500)]
)
async def test_failure_of_the_database_is_an_empty_body(
    api: Api, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    def failing() -> Any:
        raise error

    monkeypatch.setattr(api.container.lines().database, "read", failing)
    reply = await ask(api, DEVICE, NAME)
    assert (reply.status_code, reply.content) == (status, b"")


async def test_slow_database_is_an_empty_body(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def slow() -> AsyncIterator[None]:
        await asyncio.sleep(60)
        yield

    monkeypatch.setattr(exchange, "SECONDS", 0.05)
    monkeypatch.setattr(api.container.lines().database, "read", slow)
    reply = await ask(api, DEVICE, NAME)
    assert (reply.status_code, reply.content) == (503, b"")


async def test_log_names_what_was_asked_and_no_secret(
    api: Api, admin: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    data_of(await admin.post("/phones", {"mac": MAC, "name": "Zimmer"}), 201)
    await ask(api, DEVICE, NAME)
    await ask(api, LINE, "9\n9")
    logged = [one.__dict__["fields"] for one in caplog.records if one.name == exchange.log.name]
    assert [(one["route"], one["asked"], one["status"]) for one in logged] == [
        (DEVICE, NAME, 200),
        (LINE, None, 404),
    ]
    assert TOKEN not in str([one.__dict__ for one in caplog.records])


async def test_pjsip_objects_of_an_extension_and_of_a_phone(tmp_path: Path) -> None:
    async with opened_api(
        tmp_path, PHONEPROV_ASTERISK_TOKEN=TOKEN, PHONEPROV_ASTERISK_PJSIP="on"
    ) as api:
        admin, ada = await api.account("admin", level=0), await api.account("ada")
        await an_extension(admin, "101")
        for number, fields in (("201", {"name": 'Z "q" <1>', "voicemail": True}), ("202", {})):
            made = await an_extension(admin, number, type="chan_pjsip", **fields)
            await link(admin, ada, made)
        data_of(await admin.post("/phones", {"mac": MAC, "software_type": "SIP"}), 201)

        async def objects(name: str) -> list[list[tuple[str, str]]]:
            replies = [
                await api.client.post(f"/asterisk/{one}/single", data={"id": name}, headers=HEADERS)
                for one in OBJECTS
            ]
            assert all((one.status_code == 200) == bool(one.content) for one in replies)
            return [parse_qsl(one.text) for one in replies]

        codecs = [("context", "default"), ("disallow", "all"), ("allow", "g722,alaw,ulaw")]
        endpoint, auth, aor = await objects("201")
        own = [("auth", "201"), ("aors", "201"), ("mailboxes", "201@default")]
        assert endpoint == [("id", "201"), *codecs, ("callerid", "\"Z 'q' (1)\" <201>"), *own]
        assert auth == [("id", "201"), ("auth_type", "userpass"), ("username", "201"),
                        ("password", "secret")]  # fmt: skip
        assert aor == [("id", "201"), ("max_contacts", "1"), ("remove_existing", "yes")]
        for unknown in ("101", "999", NAME, "SEP001BD4999999", ""):
            assert await objects(unknown) == [[], [], []]

        async with api.database.write() as tx:
            await tx.desks.put((await tx.desks.find(MAC)).used(DeskUse(ada.uuid), moment(1)))
        endpoint, auth, aor = await objects(NAME)
        assert endpoint == [("id", NAME), *codecs, ("auth", "201"), ("aors", "201,202")]
        assert auth == aor == []

        # A user who left keeps neither number nor password; the AOR stays, so that a restart
        # reaches the phone.
        data_of(await admin.put(f"/users/{ada.uuid}", {"is_active": False}))
        assert [bool(one) for one in await objects("201")] == [False, False, True]
        bob = await api.account("bob")
        await link(admin, bob, made)
        assert [bool(one) for one in await objects("202")] == [True, True, True]
        for wrong in (b"name=201", b"id=201&id=202"):
            url = "/asterisk/ps_auths/single"
            reply = await api.client.post(url, content=wrong, headers=HEADERS)
            assert (reply.status_code, reply.content) == (400, b"")


async def test_passwords_are_not_answered_unless_that_is_set(api: Api, admin: Caller) -> None:
    await an_extension(admin, "201", type="chan_pjsip")
    for one in OBJECTS:
        reply = await api.client.post(
            f"/asterisk/{one}/single", data={"id": "201"}, headers=HEADERS
        )
        assert (reply.status_code, reply.content) == (404, b"")


async def test_wrong_tokens_of_an_address_are_counted_and_then_not_compared(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened_api(
        tmp_path,
        PHONEPROV_ASTERISK_TOKEN=TOKEN,
        PHONEPROV_ASTERISK_NETWORKS="10.1.0.0/16",
        PHONEPROV_TRUSTED_PROXIES="127.0.0.1",
    ) as api:
        admin = await api.account("admin", level=0)
        await admin.post("/phones", {"mac": MAC})

        async def ask(token: str, ip: str) -> int:
            headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": ip}
            reply = await api.client.post(DEVICE, data={"name": NAME}, headers=headers)
            assert bool(reply.content) == (reply.status_code == 200)
            return reply.status_code

        for _ in range(20):
            assert await ask("another token of Asterisk", "10.1.2.3") == 401
        assert await ask(TOKEN, "10.1.2.3") == 401
        assert await ask(TOKEN, "10.1.2.4") == 200
        await api.client.post(DEVICE, data={"name": NAME})  # without a token: no guess

        refused = [one.fields["reason"] for one in caplog.records if one.name == "phoneprov.logins"]  # type: ignore[attr-defined]
        assert refused == ["wrong_token"] * 20 + ["token_locked"]
        entries = data_of(await admin.get("/audit", action="service_token.failed"))
        assert [(one["resource_id"], one["client_ip"]) for one in entries] == [
            ("asterisk", "10.1.2.3")
        ]


async def test_prompts_are_in_the_language_of_the_user_of_the_number(tmp_path: Path) -> None:
    async with opened_api(
        tmp_path,
        PHONEPROV_ASTERISK_TOKEN=TOKEN,
        PHONEPROV_ASTERISK_PJSIP="on",
        PHONEPROV_ASTERISK_LANGUAGES="en, de,fr_CA",
    ) as api:
        admin, ada, bob = [await api.account(name, level=0) for name in ("admin", "ada", "bob")]
        data_of(await admin.put(f"/users/{ada.uuid}", {"lang": "de-CH"}))
        data_of(await admin.put(f"/users/{bob.uuid}", {"lang": "fr-CA"}))
        own, both = await an_extension(admin, "101"), await an_extension(admin, "102")
        sip = await an_extension(admin, "201", type="chan_pjsip")
        await an_extension(admin, "103")
        data_of(await admin.post("/phones", {"mac": MAC}), 201)
        data_of(await admin.put(f"/phones/{MAC}/desk", {"extension_uuid": own}))

        async def languages() -> list[str | None]:
            lines = [dict(await got(api, LINE, number)) for number in ("101", "102", "103")]
            endpoint = await api.client.post(PJSIP[0][0], data={"id": "201"}, headers=HEADERS)
            return [one.get("language") for one in (*lines, dict(parse_qsl(endpoint.text)))]

        assert await languages() == [None] * 4
        for user, extension in ((ada, own), (ada, both), (bob, both), (bob, sip)):
            await link(admin, user, extension)
        assert await languages() == ["de", None, None, "fr_CA"]
        (line,) = data_of(await admin.get(f"/phones/{MAC}/lines"))
        assert line["language"] == "de"
        data_of(await admin.put(f"/users/{ada.uuid}", {"lang": "en-GB"}))
        assert (await got(api, LINE, "101"))[-1] == ("language", "en")


async def test_prompts_without_the_setting_are_not_sent(
    api: Api, admin: Caller, ada: Caller
) -> None:
    await link(admin, ada, await an_extension(admin, "101"))

    assert (await ask(api, LINE, "101")).text == (
        "name=101&type=line&label=Line%20101&cid_name=Line%20101&cid_num=101&context=office"
    )
