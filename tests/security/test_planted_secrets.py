"""Secrets pass through every operation of the service, with and without failures. Then tables,
files, logs, errors and representations are searched for them."""

import gc
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from phoneprov_adapters.simulator.phone import SimulatedPhone
from phoneprov_adapters.sql.engines.transaction import SqlTransaction
from phoneprov_adapters.sql.tables import metadata
from phoneprov_http.main.commands.simulate import reaching
from phoneprov_http.main.server.logs import JsonLines
from support.ami_stub import USER, AmiStub, failure
from support.api import Api, Caller, data_of, opened_api
from support.keys import NEW_KEY
from support.planted import PLANTED, Search
from support.switch_rig import MAC, a_desk_phone, switch

SEARCH = Search({**PLANTED, "secret key": NEW_KEY})

EXTENSION = {
    "type": "chan_pjsip", "extension": "4711", "name": "Front desk", "voicemail": True,
    "password": PLANTED["extension password"],
    "voicemail_passcode": PLANTED["voicemail passcode"],
}  # fmt: skip


class Heard:
    """The output of the service: the replies to ``caller``s, and their tokens."""

    def __init__(self) -> None:
        self.failures: list[httpx.Response] = []
        self.tokens: dict[str, str] = {}

    async def __call__(self, reply: httpx.Response) -> None:
        await reply.aread()
        if reply.is_error:
            self.failures.append(reply)
            return
        for name in ("accessToken", "refreshToken"):
            token = (reply.json()["data"] or {}).get(name) if "auth" in reply.url.path else None
            if token:
                # Only the signature: the rest is not secret.
                self.tokens[f"{name} {len(self.tokens)}"] = token.rpartition(".")[2]


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def phone() -> AsyncIterator[SimulatedPhone]:
    async with SimulatedPhone(
        ftp_password=PLANTED["FTP password"],
        http_user="phone",
        http_password=PLANTED["phone password"],
    ) as made:
        yield made


async def test_secrets_are_in_no_table_file_log_error_or_representation(
    tmp_path: Path,
    kind: str,
    phone: SimulatedPhone,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    heard = Heard()
    async with AmiStub() as ami:
        ami.answers["PJSIPNotify"] = failure(f"{PLANTED['AMI secret']} may not")
        settings = {
            **reaching(phone, "phoneprov", PLANTED["FTP password"]),
            "PHONEPROV_PHONE_USER": "phone",
            "PHONEPROV_PHONE_PASSWORD": PLANTED["phone password"],
            "PHONEPROV_AMI_HOST": "127.0.0.1",
            "PHONEPROV_AMI_PORT": str(ami.port),
            "PHONEPROV_AMI_USER": USER,
            "PHONEPROV_AMI_SECRET": PLANTED["AMI secret"],
        }
        async with opened_api(tmp_path, database_kind=kind, overrides=None, **settings) as api:
            api.client.event_hooks["response"].append(heard)
            admin = await api.account("admin", level=0)
            await accounts(api, admin)
            await extensions(admin)
            await profiles(admin, phone)
            await pins(admin)
            search = Search({**PLANTED, "secret key": NEW_KEY, **heard.tokens})

            assert len(heard.tokens) >= 6
            assert len(heard.failures) >= 15
            for reply in heard.failures:
                assert search.in_text(f"{reply.headers!r} {reply.text}") == [], reply.request.url
            shown = await tables(api)
            assert shown.count(b"$argon2id$") >= 3
            assert search.in_bytes(shown) == []
            for thing in gc.get_objects():
                if str(type(thing).__module__).startswith("phoneprov_"):
                    assert search.in_text(repr(thing)) == [], type(thing)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert kind == "postgres" or files
    for path in files:
        assert search.in_bytes(path.read_bytes()) == [], path
    formatter = JsonLines()
    logged = "\n".join(formatter.format(record) for record in caplog.records)
    assert "phoneprov.requests" in logged
    assert search.in_text(logged) == []
    assert search.in_text("".join(capfd.readouterr())) == []


async def tables(api: Api) -> bytes:
    """Every row of the database."""
    content = bytearray()
    async with api.database.read() as tx:
        assert isinstance(tx, SqlTransaction)
        for table in metadata.sorted_tables:
            for row in await tx.users._connection.fetch_all(select(table)):
                for value in row:
                    content += value if isinstance(value, bytes) else str(value).encode()
                    content += b"\n"
    return bytes(content)


async def accounts(api: Api, admin: Caller) -> None:
    ada = {
        "first_name": "Ada", "last_name": "Lovelace", "username": "ada",
        "email": "ada@example.com", "password": PLANTED["password"],
    }  # fmt: skip
    uuid = data_of(await admin.post("/users", ada), 201)["uuid"]
    anonymous, login = api.anonymous, {"username": "ada", "password": PLANTED["password"]}
    assert (await admin.post("/users", ada)).status_code == 409
    for wrong in (
        {**ada, "email": PLANTED["password"]},
        {**ada, "password": [PLANTED["password"]], "lang": PLANTED["password"]},
        {**ada, "password": "12345678", "username": {"x": PLANTED["password"]}},
    ):
        assert (await admin.post("/users", wrong)).status_code == 422
    assert (await anonymous.post("/auth/register", ada)).status_code == 403
    broken = f'{{"username": "ada", "password": "{PLANTED["password"]}'.encode()
    assert (await anonymous.ask("POST", "/auth/login", content=broken)).status_code == 400
    wrong_login = {**login, "password": PLANTED["wrong password"]}
    assert (await anonymous.post("/auth/login", wrong_login)).status_code == 401

    first = data_of(await anonymous.post("/auth/login", login))
    body = {"refresh_token": first["refreshToken"]}
    data_of(await anonymous.post("/auth/refresh", body))
    assert (await anonymous.post("/auth/refresh", body)).status_code == 401
    old = Caller(api.client, uuid, first["accessToken"])
    assert (await old.get("/me")).status_code == 401

    new = {"password": PLANTED["new password"]}
    data_of(await admin.put(f"/users/{uuid}", new))
    assert (await anonymous.post("/auth/login", login)).status_code == 401
    again = data_of(await anonymous.post("/auth/login", {**login, **new}))
    caller = Caller(api.client, uuid, again["accessToken"])
    bad = {"refresh_token": again["accessToken"]}
    assert (await caller.post("/auth/logout", bad)).status_code in {401, 422}
    data_of(await caller.post("/auth/logout", {"refresh_token": again["refreshToken"]}))


async def extensions(admin: Caller) -> None:
    uuid = data_of(await admin.post("/extensions", EXTENSION), 201)["uuid"]
    assert (await admin.post("/extensions", EXTENSION)).status_code == 409
    passcode, password = EXTENSION["voicemail_passcode"], EXTENSION["password"]
    for wrong in (
        {"password": {"value": password}},
        {"voicemail_passcode": [passcode]},
        {"voicemail": passcode, "type": password},
        {"name": f"{password}\0"},
    ):
        assert (await admin.put(f"/extensions/{uuid}", wrong)).status_code == 422
    data_of(await admin.put(f"/extensions/{uuid}", {"password": password, "description": "x"}))


def configuration(name: str) -> str:
    return f"<device><password>{PLANTED[name]}</password></device>"


async def profiles(admin: Caller, phone: SimulatedPhone) -> None:
    await a_desk_phone(admin, phone_ip=phone.host, software_type="SIP")
    profile = {
        "user_uuid": admin.uuid, "name": "Ada's", "cnf_xml": configuration("configuration"),
    }  # fmt: skip
    made = await admin.post("/phone-profiles", profile)
    uuid = data_of(made, 201, metadata=False)["uuid"]
    broken = configuration("broken configuration") + "</device>"
    for wrong in (
        {"cnf_xml": broken},
        {"cnf_xml": f"<!DOCTYPE a [<!ENTITY x '{broken}'>]><a/>"},
        {"cnf_xml": [broken], "software_type": broken},
    ):
        assert (await admin.put(f"/phone-profiles/{uuid}", wrong)).status_code == 422
    switched = data_of(await switch(admin, uuid), metadata=False)
    assert PLANTED["configuration"].encode() in (phone.folder / name()).read_bytes()
    assert switched["restart"] != "ok"
    assert SEARCH.in_text(switched["restart"]) == []

    changed = {"cnf_xml": configuration("second configuration")}
    data_of(await admin.put(f"/phone-profiles/{uuid}", changed), metadata=False)
    data_of(await switch(admin, uuid), metadata=False)
    # The FTP server no longer answers.
    await phone.__aexit__(None, None, None)
    assert (await switch(admin, uuid)).status_code in {502, 504}


def name() -> str:
    return f"SEP{MAC.replace(':', '')}.cnf.xml"


async def pins(admin: Caller) -> None:
    path, pin = f"/vendor-users/{admin.uuid}", PLANTED["PIN"]
    data_of(await admin.put(path, {"pin_code": pin}))
    for wrong in ({"pin_code": f"{pin}x"}, {"pin_code": [pin]}, {"pin": pin}):
        assert (await admin.put(path, wrong)).status_code == 422


def test_log_records_of_all_tests_are_searched() -> None:
    log_search = next(
        handler for handler in logging.getLogger().handlers if type(handler).__name__ == "LogSearch"
    )
    found: list[str] = log_search.found  # type: ignore[attr-defined]
    logging.getLogger("phoneprov.tests").error("planted: %s", PLANTED["PIN"])
    logging.getLogger("elsewhere").error("nothing")

    (line,) = found
    assert PLANTED["PIN"] in line
    found.clear()


def test_search_finds_planted_secrets() -> None:
    secret = PLANTED["password"]
    assert SEARCH.in_text(f"x{secret.upper()}x") == ["password"]
    assert SEARCH.in_bytes(f"x{secret}".encode("utf-16-le")) == ["password"]
    assert SEARCH.in_text(secret.encode().hex()) == ["password"]
    for before in ("", "x", "xy"):
        encoded = httpx.BasicAuth(before, secret)._auth_header.partition(" ")[2]
        assert SEARCH.in_text(encoded) == ["password"]
