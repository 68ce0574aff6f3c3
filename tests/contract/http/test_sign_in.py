"""Sign-in to the console with an OpenID Connect provider, over HTTP on both sides."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import trustme

from phoneprov_core.people.users.model import Registration
from support.api import PASSWORD, Api, Caller, data_of, error_of, opened_api
from support.oidc_stub import CLIENT, OidcStub, oidc_stub
from support.signing_in import (
    CALLBACK,
    OIDC,
    PUBLIC,
    Browser,
    begun,
    result_of,
    settings_of,
)


@pytest.fixture
def stub() -> Iterator[OidcStub]:
    with oidc_stub("/realms/office") as provider:
        yield provider


@pytest.fixture
async def api(tmp_path: Path, stub: OidcStub) -> AsyncIterator[Api]:
    async with opened_api(tmp_path, **settings_of(stub)) as opened:
        yield opened


@pytest.fixture
def browser(api: Api, stub: OidcStub) -> Browser:
    return Browser(api, stub)


async def events(api: Api, admin: Caller, action: str) -> list[Any]:
    return list(data_of(await admin.get("/audit", action=action)))


# Signing in


async def test_sign_in_username_without_level_0_links_and_opens_a_session(
    api: Api, stub: OidcStub, ada: Caller, admin: Caller
) -> None:
    browser = Browser(api, stub)
    assert await browser.signs_in() == ""

    session = await begun(api, browser)
    assert session["me"]["uuid"] == ada.uuid
    assert session["isConnected"] is True
    (login, *_) = await events(api, admin, "login.succeeded")
    assert login["changes"]["by"] == {"old": None, "new": "oidc"}
    (linked,) = await events(api, admin, "identity.created")
    assert linked["changes"]["user_uuid"]["new"] == linked["actor_uuid"] == ada.uuid
    # The subject counts from now on, and no name.
    stub.person = {"sub": "person-1", "preferred_username": "another"}
    assert await browser.signs_in() == ""
    assert (await begun(api, browser))["me"]["uuid"] == ada.uuid
    assert browser.kept == ""


async def test_sign_in_cookies_have_their_attributes(api: Api, stub: OidcStub, ada: Caller) -> None:
    begun = await api.client.get(OIDC)
    cookie = begun.headers["set-cookie"]

    assert cookie.partition("; ")[2] == (
        "Path=/prov/console/session/oidc; HttpOnly; SameSite=Lax; Max-Age=600; Secure"
    )
    browser = Browser(api, stub)
    reply = await browser.comes(await browser.goes())
    gone, session = reply.headers.get_list("set-cookie")
    assert gone.startswith("phoneprov_signin=; ")
    assert "Max-Age=0" in gone
    assert session.partition("; ")[2] == (
        "Path=/prov/console/session; HttpOnly; SameSite=Strict; Secure"
    )
    assert reply.headers["location"] == f"{PUBLIC}/console/"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_sign_in_each_algorithm_is_verified(
    api: Api, stub: OidcStub, browser: Browser, ada: Caller, algorithm: str
) -> None:
    stub.rotate(algorithm, "a key")

    assert await browser.signs_in() == ""


async def test_sign_in_by_a_page_is_for_the_own_origin_only(api: Api) -> None:
    own = await api.client.post(OIDC, headers={"Sec-Fetch-Site": "same-origin"})
    assert "code_challenge=" in data_of(own)["location"]

    error_of(await api.client.post(OIDC, headers={"Sec-Fetch-Site": "cross-site"}), 403)


async def test_ways_to_sign_in_name_the_button(api: Api) -> None:
    reply = await api.client.get("/console/session")

    assert data_of(reply) == {"provider": "Sign in with the provider"}


async def test_sign_in_without_provider_does_not_exist(tmp_path: Path) -> None:
    async with opened_api(tmp_path) as api:
        error_of(await api.client.get(OIDC), 404)
        assert data_of(await api.client.get("/console/session")) == {"provider": None}


# Which account


async def test_sign_in_level_0_is_not_linked_by_its_name(
    api: Api, stub: OidcStub, browser: Browser, admin: Caller
) -> None:
    stub.person["preferred_username"] = "ADMIN"

    assert await browser.signs_in() == "not_linked"
    (failed,) = await events(api, admin, "login.failed")
    assert failed["changes"]["code"]["new"] == "not_linked"


@pytest.mark.parametrize("database_kind", ["memory", "sqlite", "postgres"])
async def test_sign_in_create_makes_no_second_account_for_a_name_that_may_not_be_linked(
    tmp_path: Path, stub: OidcStub, database_kind: str
) -> None:
    settings = settings_of(stub, OIDC_CREATE="true")
    async with opened_api(tmp_path, database_kind=database_kind, **settings) as api:
        admin, ada = await api.account("admin", level=0), await api.account("ada")
        data_of(await admin.put(f"/users/{ada.uuid}", {"is_active": False}))
        browser = Browser(api, stub)
        for name in ("admin", "ADMIN", "Ada"):
            stub.person = {"sub": name, "preferred_username": name, "email": "new@example.com"}
            assert await browser.signs_in() == "not_linked", name
        users = data_of(await admin.get("/users"))
        assert [one["username"] for one in users] == ["admin", "ada"]
        assert data_of(await admin.get(f"/users/{ada.uuid}/identities")) == []
        # The audit trail has the code, and neither name nor subject of the provider.
        for failed in await events(api, admin, "login.failed"):
            assert failed["changes"] == {"code": {"old": None, "new": "not_linked"}}


@pytest.mark.parametrize("database_kind", ["memory", "sqlite", "postgres"])
async def test_sign_in_helpdesk_is_linked_by_its_name_and_has_its_right(
    tmp_path: Path, stub: OidcStub, database_kind: str
) -> None:
    """A right is beside the level: the account holds no level 0."""
    settings = settings_of(stub, PASSWORDS="unlinked")
    async with opened_api(tmp_path, database_kind=database_kind, **settings) as api:
        admin, ada = await api.account("admin", level=0), await api.account("ada")
        right = {"right": "helpdesk", "locations": ["Berlin"]}
        data_of(await admin.put(f"/users/{ada.uuid}/rights", right))
        browser = Browser(api, stub)
        assert await browser.signs_in() == ""
        assert (await begun(api, browser))["me"]["rights"] == [right]
        body = {"username": "ada", "password": PASSWORD}
        error_of(await api.anonymous.post("/auth/login", body), 401, "wrong_credentials")
        # Level 0 that the account gets later leaves the link of its owner.
        level = data_of(await admin.post("/permissions", {"level": 0, "name": "more"}), 201)
        given = {"user_uuid": ada.uuid, "perm_uuid": level["uuid"]}
        data_of(await admin.post("/user-perms", given))
        assert await browser.signs_in() == ""
        assert "rights" not in (await begun(api, browser))["me"]
        error_of(await api.anonymous.post("/auth/login", body), 401, "wrong_credentials")


async def test_connect_links_level_0_from_its_session(
    api: Api, stub: OidcStub, browser: Browser, admin: Caller
) -> None:
    headers = {"Authorization": f"Bearer {admin.token}"}
    reply = await api.client.post(OIDC, headers=headers)
    browser.kept = reply.headers["set-cookie"].partition("=")[2].partition(";")[0]
    address = stub.authorize(data_of(reply)["location"])

    assert result_of(await browser.comes(address)) == "connected"
    assert browser.session == ""
    assert await browser.signs_in() == ""
    assert (await begun(api, browser))["me"]["uuid"] == admin.uuid


async def test_connect_ended_session_links_nothing(
    api: Api, stub: OidcStub, browser: Browser, admin: Caller
) -> None:
    reply = await api.client.post(OIDC, headers={"Authorization": f"Bearer {admin.token}"})
    browser.kept = reply.headers["set-cookie"].partition("=")[2].partition(";")[0]
    data_of(await admin.post("/auth/logout", {}))

    assert result_of(await browser.comes(stub.authorize(data_of(reply)["location"]))) == (
        "sign_in_expired"
    )
    stub.person["preferred_username"] = "admin"
    assert await browser.signs_in() == "not_linked"


async def test_connect_person_of_another_account_is_refused(
    api: Api, stub: OidcStub, browser: Browser, ada: Caller, bob: Caller
) -> None:
    assert await browser.signs_in() == ""
    reply = await api.client.post(OIDC, headers={"Authorization": f"Bearer {bob.token}"})
    browser.kept = reply.headers["set-cookie"].partition("=")[2].partition(";")[0]

    address = stub.authorize(data_of(reply)["location"])
    assert result_of(await browser.comes(address)) == "not_linked"


async def test_connect_without_valid_token_is_401(api: Api) -> None:
    reply = await api.client.post(OIDC, headers={"Authorization": "Bearer nothing"})

    error_of(reply, 401)


async def test_connect_with_api_token_is_refused(api: Api, admin: Caller) -> None:
    token = data_of(await admin.post("/me/tokens", {"name": "script"}), 201)["token"]

    error_of(await api.client.post(OIDC, headers={"Authorization": f"Bearer {token}"}), 403)


async def test_sign_in_another_person_of_the_same_name_is_refused(
    api: Api, stub: OidcStub, browser: Browser, ada: Caller
) -> None:
    assert await browser.signs_in() == ""
    stub.person["sub"] = "person-2"

    assert await browser.signs_in() == "not_linked"


async def test_sign_in_never_links_by_email(stub: OidcStub, browser: Browser, ada: Caller) -> None:
    stub.person = {"sub": "x", "email": "ada@example.com", "email_verified": True}

    assert await browser.signs_in() == "not_linked"


@pytest.mark.parametrize("is_linked", [True, False])
async def test_sign_in_inactive_account_is_refused(
    api: Api, stub: OidcStub, browser: Browser, ada: Caller, admin: Caller, is_linked: bool
) -> None:
    if is_linked:
        assert await browser.signs_in() == ""
    data_of(await admin.put(f"/users/{ada.uuid}", {"is_active": False}))

    assert await browser.signs_in() == ("sign_in_refused" if is_linked else "not_linked")
    if is_linked:
        cookie = {"Cookie": f"phoneprov_session={browser.session}"}
        error_of(await api.client.post("/console/session/refresh", headers=cookie), 401)


async def test_sign_in_create_makes_an_account_without_password(
    tmp_path: Path, stub: OidcStub
) -> None:
    async with opened_api(tmp_path, **settings_of(stub, OIDC_CREATE="true")) as api:
        stub.person = {
            "sub": "n", "preferred_username": "nina", "email": "nina@example.com",
            "given_name": "Nina", "family_name": "Simone",
        }  # fmt: skip
        browser = Browser(api, stub)
        results = await asyncio.gather(*(Browser(api, stub).signs_in() for _ in range(4)))
        assert results == [""] * 4
        assert await browser.signs_in() == ""
        me = (await begun(api, browser))["me"]
        assert (me["username"], me["first_name"], me["last_name"]) == ("nina", "Nina", "Simone")
        for password in ("", PASSWORD):
            body = {"username": "nina", "password": password}
            error_of(await api.anonymous.post("/auth/login", body), 401, "wrong_credentials")
        # No valid address, a name that is too long, an address that is in use.
        for person in (
            {"sub": "1", "preferred_username": "otto"},
            {"sub": "2", "preferred_username": "o" * 300, "email": "o@example.com"},
            {"sub": "3", "preferred_username": "otto", "email": "NINA@example.com"},
            {"sub": "4", "preferred_username": "n\u0456na", "email": "x@example.com"},
        ):
            stub.person = person
            assert await browser.signs_in() == "not_linked", person


@pytest.mark.parametrize(
    ("claims", "result"),
    [
        ({"groups": ["staff", "phones"]}, ""),
        ({"groups": "phones"}, ""),
        ({"groups": ["Phones"]}, "not_a_member"),
        ({"groups": {"phones": True}}, "not_a_member"),
        ({}, "not_a_member"),
        ({"_claim_names": {"groups": "src1"}}, "not_a_member too_many_groups"),
    ],
)
async def test_sign_in_group_is_demanded(
    tmp_path: Path, stub: OidcStub, claims: dict[str, Any], result: str
) -> None:
    async with opened_api(tmp_path, **settings_of(stub, OIDC_GROUP="phones")) as api:
        await api.account("ada")
        stub.person |= claims

        assert await Browser(api, stub).signs_in() == result


async def test_passwords_unlinked_refuse_a_linked_account_like_a_wrong_password(
    tmp_path: Path, stub: OidcStub
) -> None:
    async with opened_api(tmp_path, **settings_of(stub, PASSWORDS="unlinked")) as api:
        await api.account("ada")
        await api.account("bob")
        assert await Browser(api, stub).signs_in() == ""

        right = await api.anonymous.post("/auth/login", {"username": "ada", "password": PASSWORD})
        wrong = await api.anonymous.post("/auth/login", {"username": "ada", "password": "x" * 9})
        for refused in (right, wrong):
            error_of(refused, 401, "wrong_credentials")
        assert right.json()["message"] == wrong.json()["message"]
        data_of(await api.anonymous.post("/auth/login", {"username": "bob", "password": PASSWORD}))


async def test_create_admin_removes_the_link_so_that_the_password_logs_in(
    tmp_path: Path, stub: OidcStub
) -> None:
    async with opened_api(tmp_path, **settings_of(stub, PASSWORDS="unlinked")) as api:
        await api.account("ada")
        assert await Browser(api, stub).signs_in() == ""
        body = {"username": "ada", "password": PASSWORD}
        error_of(await api.anonymous.post("/auth/login", body), 401, "wrong_credentials")

        await api.container.create_admin()(
            Registration(
                first_name="Ada",
                last_name="Lovelace",
                username="ada",
                email="ada@example.com",
                password=PASSWORD,
            )
        )
        data_of(await api.anonymous.post("/auth/login", body))
        assert await Browser(api, stub).signs_in() == "not_linked"


@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"])
async def test_sign_in_ten_at_a_time_make_one_account_and_one_identity(
    tmp_path: Path, stub: OidcStub, database_kind: str
) -> None:
    settings = settings_of(stub, OIDC_CREATE="true")
    async with opened_api(tmp_path, database_kind=database_kind, **settings) as api:
        admin = await api.account("admin", level=0)
        stub.person = {"sub": "n", "preferred_username": "nina", "email": "nina@example.com"}

        results = await asyncio.gather(*(Browser(api, stub).signs_in() for _ in range(10)))

        assert results == [""] * 10
        assert len(await events(api, admin, "identity.created")) == 1
        # One state is used once, however many replies arrive together.
        browser = Browser(api, stub)
        address = await browser.goes()
        tabs = [Browser(api, stub) for _ in range(5)]
        for tab in tabs:
            tab.kept = browser.kept
        replies = await asyncio.gather(*(tab.comes(address) for tab in tabs))
        assert sorted(map(result_of, replies)) == ["", *["sign_in_expired"] * 4]


async def test_deleted_account_loses_its_identity(
    api: Api, stub: OidcStub, browser: Browser, ada: Caller, admin: Caller
) -> None:
    assert await browser.signs_in() == ""
    data_of(await admin.delete(f"/users/{ada.uuid}"))

    (gone,) = await events(api, admin, "identity.deleted")
    assert gone["changes"]["subject"]["old"] == "person-1"
    assert await browser.signs_in() == "not_linked"


@pytest.mark.parametrize("own", [True, False])
async def test_identity_that_is_removed_ends_the_other_sessions(
    api: Api, stub: OidcStub, browser: Browser, ada: Caller, admin: Caller, own: bool
) -> None:
    assert await browser.signs_in() == ""
    by, path = (ada, "/me") if own else (admin, f"/users/{ada.uuid}")
    [identity] = data_of(await by.get(f"{path}/identities"), 200, "1 identity(s) found")
    assert (identity["subject"], identity["issuer"]) == ("person-1", stub.issuer)

    data_of(await by.delete(f"{path}/identities/{identity['uuid']}"), 200, "Identity removed")

    assert data_of(await by.get(f"{path}/identities")) == []
    cookie = {"Cookie": f"phoneprov_session={browser.session}"}
    error_of(await api.client.post("/console/session/refresh", headers=cookie), 401)
    assert (await ada.get("/me")).status_code == (200 if own else 401)
    data_of(await admin.get("/me"))
    (gone,) = await events(api, admin, "identity.deleted")
    assert gone["actor_uuid"] == by.uuid
    error_of(await by.delete(f"{path}/identities/{identity['uuid']}"), 404)


async def test_identity_of_another_account_is_not_found(
    browser: Browser, ada: Caller, bob: Caller, admin: Caller
) -> None:
    assert await browser.signs_in() == ""
    [identity] = data_of(await ada.get("/me/identities"))

    error_of(await bob.delete(f"/me/identities/{identity['uuid']}"), 404)
    error_of(await bob.get(f"/users/{ada.uuid}/identities"), 403)
    error_of(await bob.delete(f"/users/{ada.uuid}/identities/{identity['uuid']}"), 403)
    error_of(await admin.delete(f"/users/{bob.uuid}/identities/{identity['uuid']}"), 404)
    assert data_of(await ada.get("/me/identities")) == [identity]


@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"])
async def test_identity_removed_during_sign_ins_leaves_no_session_of_it(
    tmp_path: Path, stub: OidcStub, database_kind: str
) -> None:
    """By level 0, for an account that the same person is not linked to again."""
    async with opened_api(tmp_path, database_kind=database_kind, **settings_of(stub)) as api:
        admin, ada = await api.account("admin", level=0), await api.account("ada")
        for number in range(5):
            stub.person = {"sub": f"person-{number}", "preferred_username": "ada"}
            assert await Browser(api, stub).signs_in() == ""
            stub.person["preferred_username"] = "another"
            browsers = [Browser(api, stub) for _ in range(4)]
            [identity] = data_of(await admin.get(f"/users/{ada.uuid}/identities"))
            path = f"/users/{ada.uuid}/identities/{identity['uuid']}"
            removing = asyncio.create_task(admin.delete(path))
            results = await asyncio.gather(*(one.signs_in() for one in browsers))
            data_of(await removing)
            assert set(results) <= {"", "not_linked"}
            assert data_of(await admin.get(f"/users/{ada.uuid}/sessions")) == []


# Replies that are refused


async def test_callback_without_the_browsers_cookie_is_expired(
    api: Api, stub: OidcStub, browser: Browser, ada: Caller
) -> None:
    address = await browser.goes()

    assert result_of(await Browser(api, stub).comes(address)) == "sign_in_expired"
    assert result_of(await browser.comes(address.replace("state=", "state=x"))) == (
        "sign_in_expired"
    )
    assert "/token" not in stub.asked
    assert result_of(await browser.comes(address)) == ""


async def test_callback_replayed_with_its_cookie_is_expired(
    stub: OidcStub, browser: Browser, ada: Caller
) -> None:
    address = await browser.goes()
    kept = browser.kept
    assert result_of(await browser.comes(address)) == ""
    stub.codes.update({parse_qs(urlsplit(address).query)["code"][0]: {}})
    browser.kept = kept

    assert result_of(await browser.comes(address)) == "sign_in_expired"
    assert stub.asked.count("/token") == 1


async def test_callback_of_two_tabs_signs_both_in(browser: Browser, ada: Caller) -> None:
    first, second = await browser.goes(), await browser.goes()

    assert result_of(await browser.comes(first)) == ""
    assert result_of(await browser.comes(second)) == ""
    assert browser.kept == ""


async def test_callback_of_many_tabs_keeps_the_newest(browser: Browser, ada: Caller) -> None:
    addresses = [await browser.goes() for _ in range(7)]
    assert len(browser.kept) < 3500

    assert result_of(await browser.comes(addresses[0])) == "sign_in_expired"
    assert result_of(await browser.comes(addresses[-1])) == ""


async def test_callback_of_an_altered_cookie_is_expired(browser: Browser) -> None:
    address = await browser.goes()
    browser.kept = browser.kept[:-5] + ("AAAAA" if browser.kept[-5:] != "AAAAA" else "BBBBB")

    assert result_of(await browser.comes(address)) == "sign_in_expired"


@pytest.mark.parametrize("kept", ["x", ".", "\xe9.\xe9", "a" * 5000, "0000000000000000.AA=="])
async def test_callback_of_any_cookie_is_expired(api: Api, kept: str) -> None:
    headers = [(b"cookie", f"phoneprov_signin={kept}".encode("latin-1"))]

    reply = await api.client.get(f"{CALLBACK}?state=x&code=y", headers=headers)
    assert result_of(reply) == "sign_in_expired"


async def test_callback_error_of_the_provider_is_not_shown(
    stub: OidcStub, browser: Browser, ada: Caller
) -> None:
    stub.reply = {"code": None, "error": "access_denied", "error_description": "<b>go to x</b>"}

    assert await browser.signs_in() == "sign_in_refused"


@pytest.mark.parametrize(
    "reply",
    [{"iss": "https://other.example.org"}, {"iss": None}, {"code": "other"}, {"code": None}],
)
async def test_callback_of_another_issuer_or_code_is_refused(
    stub: OidcStub, browser: Browser, ada: Caller, reply: dict[str, Any]
) -> None:
    stub.reply = reply

    assert await browser.signs_in() == "sign_in_refused"


async def test_callback_without_issuer_is_accepted_where_none_is_promised(
    stub: OidcStub, browser: Browser, ada: Caller
) -> None:
    stub.discovery = {"authorization_response_iss_parameter_supported": False}
    stub.reply = {"iss": None}

    assert await browser.signs_in() == ""


async def test_callback_long_code_is_accepted(
    stub: OidcStub, browser: Browser, ada: Caller
) -> None:
    address = await browser.goes()
    code = parse_qs(urlsplit(address).query)["code"][0]
    stub.codes["c" * 4000] = stub.codes[code]

    assert result_of(await browser.comes(address.replace(code, "c" * 4000))) == ""


NOW = int(time.time())


@pytest.mark.parametrize(
    ("claims", "header"),
    [
        ({"iss": "https://other.example.org"}, {}),
        ({"iss": None}, {}),
        ({"aud": "another client"}, {}),
        ({"aud": None}, {}),
        ({"aud": {"x": 1}}, {}),
        ({"aud": [CLIENT, "another client"]}, {}),
        ({"aud": [CLIENT, "another client"], "azp": "another client"}, {}),
        ({"azp": "another client"}, {}),
        ({"exp": NOW - 120}, {}),
        ({"exp": None}, {}),
        ({"exp": "never"}, {}),
        ({"exp": True}, {}),
        ({"iat": NOW + 3600}, {}),
        ({"iat": None}, {}),
        ({"nbf": NOW + 3600}, {}),
        ({"nonce": "another"}, {}),
        ({"nonce": None}, {}),
        ({"sub": None}, {}),
        ({"sub": ""}, {}),
        ({"sub": 5}, {}),
        ({"sub": "a\0b"}, {}),
        ({"sub": "s" * 256}, {}),
        ({}, {"alg": "none"}),
        ({}, {"alg": "HS256"}),
        ({}, {"alg": "RS384"}),
        ({}, {"alg": "RS512"}),
        ({}, {"kid": "unknown"}),
        ({}, {"crit": ["exp"], "exp": 1}),
    ],
)
async def test_token_that_is_not_for_this_sign_in_is_refused(
    stub: OidcStub, browser: Browser, ada: Caller, claims: dict[str, Any], header: dict[str, Any]
) -> None:
    stub.claims, stub.header = claims, header

    assert await browser.signs_in() == "sign_in_refused"


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": NOW - 30},
        {"iat": NOW + 30},
        {"aud": [CLIENT]},
        {"aud": [CLIENT, "another"], "azp": CLIENT},
    ],
)
async def test_token_within_the_leeway_is_accepted(
    stub: OidcStub, browser: Browser, ada: Caller, claims: dict[str, Any]
) -> None:
    now = int(time.time())
    stub.claims = {name: value + now - NOW if isinstance(value, int) else value
                   for name, value in claims.items()}  # fmt: skip

    assert await browser.signs_in() == ""


async def test_token_of_another_key_with_the_known_id_is_refused(
    stub: OidcStub, browser: Browser, ada: Caller
) -> None:
    assert await browser.signs_in() == ""
    stub.rotate("RS256", "first")

    assert await browser.signs_in() == "sign_in_refused"


async def test_keys_are_fetched_again_for_an_unknown_one_once_a_minute(
    stub: OidcStub, browser: Browser, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = 0.0
    monotonic = time.monotonic
    monkeypatch.setattr("phoneprov_adapters.oidc.time.monotonic", lambda: monotonic() + passed)
    assert [await browser.signs_in() for _ in range(2)] == ["", ""]
    assert stub.asked.count("/jwks") == 1
    stub.rotate("ES256", "second")
    assert await browser.signs_in() == "sign_in_refused"
    passed = 61.0
    assert await browser.signs_in() == ""
    assert stub.asked.count("/jwks") == 2
    assert stub.asked.count("/.well-known/openid-configuration") == 1


# Providers that are away, or hostile


def large(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.end_headers()
    request.wfile.write(b'{"keys": [], "x": "' + b"x" * 65536 + b'"}')


def bomb(request: BaseHTTPRequestHandler) -> None:
    import gzip  # noqa: PLC0415

    request.send_response(200)
    request.send_header("Content-Encoding", "gzip")
    request.end_headers()
    request.wfile.write(gzip.compress(b"{" + b" " * 10_000_000 + b"}"))


def deep(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.end_headers()
    request.wfile.write(b'{"a":' + b"[" * 60_000)


def elsewhere(request: BaseHTTPRequestHandler) -> None:
    request.send_response(307)
    request.send_header("Location", f"http://{request.headers['Host']}/elsewhere")
    request.send_header("Content-Length", "2")
    request.end_headers()
    request.wfile.write(b"{}")


def a_list(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.end_headers()
    request.wfile.write(b"[]")


def garbage(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"\x00\xff\r\n\r\n")


HOSTILE = [large, bomb, deep, elsewhere, a_list, garbage]
PATHS = ["/.well-known/openid-configuration", "/token", "/jwks"]


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("path", PATHS)
async def test_provider_with_a_hostile_reply_is_unavailable(
    stub: OidcStub, browser: Browser, api: Api, ada: Caller, path: str, hostile: Any
) -> None:
    stub.answers[path] = hostile
    if path.startswith("/."):
        error_of(await api.client.get(OIDC), 503, "provider_unavailable")
    else:
        assert await browser.signs_in() == "provider_unavailable"
    assert "/elsewhere" not in stub.asked


@pytest.mark.parametrize(
    "discovery",
    [
        {"issuer": "https://other.example.org"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"token_endpoint": "http://10.0.0.1/token"},
        {"jwks_uri": "http://169.254.169.254/latest"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": None},
        {"token_endpoint": "http://[::1"},
    ],
)
async def test_provider_whose_configuration_leads_elsewhere_is_unavailable(
    stub: OidcStub, api: Api, discovery: dict[str, Any]
) -> None:
    stub.discovery = discovery

    error_of(await api.client.get(OIDC), 503, "provider_unavailable")


async def test_provider_away_leaves_the_login_by_password(tmp_path: Path, stub: OidcStub) -> None:
    settings = settings_of(stub, OIDC_ISSUER="http://127.0.0.1:9")
    async with opened_api(tmp_path, **settings) as api:
        await api.account("ada")
        error_of(await api.client.get(OIDC), 503, "provider_unavailable")
        body = {"username": "ada", "password": PASSWORD}
        data_of(await api.client.post("/console/session", json=body))


async def test_provider_certificate_of_the_offices_authority_is_verified(tmp_path: Path) -> None:
    known, unknown = trustme.CA(), trustme.CA()
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    known.issue_cert("127.0.0.1").configure_cert(tls)
    with oidc_stub("/realms/office", tls=tls) as stub:
        for name, authority in {"known": known, "unknown": unknown}.items():
            file = tmp_path / f"{name}.pem"
            authority.cert_pem.write_to_path(str(file))
            settings = settings_of(stub, OIDC_CA=str(file))
            async with opened_api(tmp_path / name, **settings) as api:
                await api.account("ada")
                if authority is known:
                    assert await Browser(api, stub).signs_in() == ""
                else:
                    error_of(await api.client.get(OIDC), 503, "provider_unavailable")


async def test_provider_that_is_slow_ends_after_five_seconds(
    stub: OidcStub, browser: Browser, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phoneprov_adapters.oidc.SECONDS", 0.5)

    def drips(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(400):
            request.wfile.write(b" ")
            request.wfile.flush()
            time.sleep(0.1)

    stub.answers["/jwks"] = drips
    started = time.monotonic()
    assert await browser.signs_in() == "provider_unavailable"
    assert time.monotonic() - started < 20


async def test_provider_proxy_of_the_environment_is_not_used(
    browser: Browser, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert await browser.signs_in() == ""


# Limits


async def test_failures_count_by_client_address(tmp_path: Path, stub: OidcStub) -> None:
    async with opened_api(tmp_path, **settings_of(stub, GUESSES_PER_ADDRESS="3")) as api:
        await api.account("ada")
        browser = Browser(api, stub)
        # Replies to no sign-in, which any site can send a browser with, close nothing.
        for _ in range(5):
            await Browser(api, stub).ask(f"{CALLBACK}?state=x&code=y")
        assert [await browser.signs_in() for _ in range(4)] == [""] * 4
        stub.person["sub"] = "person-2"
        assert [await browser.signs_in() for _ in range(3)] == ["not_linked"] * 3
        assert await browser.signs_in() == "too_many_attempts"
        body = {"username": "ada", "password": PASSWORD}
        data_of(await api.client.post("/console/session", json=body))


async def test_failures_of_an_unavailable_provider_do_not_count(
    tmp_path: Path, stub: OidcStub
) -> None:
    async with opened_api(tmp_path, **settings_of(stub, GUESSES_PER_ADDRESS="2")) as api:
        await api.account("ada")
        browser = Browser(api, stub)
        stub.answers["/token"] = a_list
        assert [await browser.signs_in() for _ in range(4)] == ["provider_unavailable"] * 4
        stub.answers.clear()
        assert await browser.signs_in() == ""
