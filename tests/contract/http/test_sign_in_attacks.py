"""What an attacker with the source tries at the sign-in with a provider."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import ECKey, OKPKey, RSAKey

from support.api import Api, Caller, data_of, error_of, opened_api
from support.oidc_stub import OidcStub, oidc_stub
from support.signing_in import CALLBACK, OIDC, PUBLIC, Browser, begun, result_of, settings_of


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


# Redirects


@pytest.mark.parametrize("name", ["return_to", "next", "redirect_uri", "url", "RelayState"])
async def test_callback_parameter_with_an_address_leads_nowhere(
    browser: Browser, ada: Caller, name: str
) -> None:
    reply = await browser.comes(f"{await browser.goes()}&{name}=https://evil.example")

    assert reply.headers["location"] == f"{PUBLIC}/console/"


async def test_begin_parameter_or_host_changes_no_address(api: Api) -> None:
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Console-Path": "/x/"}
    path = f"{OIDC}?redirect_uri=https://evil.example&state=known&nonce=known&scope=all"
    reply = await api.client.get(path, headers=headers)

    asked = parse_qs(urlsplit(reply.headers["location"]).query)
    assert asked["redirect_uri"] == [PUBLIC + CALLBACK]
    assert asked["scope"] == ["openid profile email"]
    assert all(len(asked[name][0]) == 43 for name in ("state", "nonce"))


@pytest.mark.parametrize(
    "suffix", ["#x", "\r\nSet-Cookie: a=b", "/\u00e9", "\t", "?redirect_uri=x"]
)
async def test_discovery_address_that_would_alter_the_request_is_refused(
    api: Api, stub: OidcStub, suffix: str
) -> None:
    stub.discovery = {"authorization_endpoint": f"{stub.issuer}/auth{suffix}"}

    reply = await api.client.get(OIDC)
    if suffix.startswith("?"):
        # RFC 6749, section 3.1, allows a query; ours come after it.
        assert parse_qs(urlsplit(reply.headers["location"]).query)["redirect_uri"][-1] == (
            PUBLIC + CALLBACK
        )
    else:
        error_of(reply, 503, "provider_unavailable")


# Replies


async def test_callback_parameters_of_other_specifications_are_ignored(
    stub: OidcStub, browser: Browser, ada: Caller
) -> None:
    stub.reply = {"session_state": "1.2", "authuser": "0", "hd": "office.example", "scope": "x"}

    assert await browser.signs_in() == ""


async def test_callback_with_two_states_is_refused(browser: Browser, ada: Caller) -> None:
    address = await browser.goes()
    for place in ("state=other&", "code=other&", "iss=other&"):
        error_of(await browser.comes(address.replace("?", f"?{place}")), 422)

    assert result_of(await browser.comes(address)) == ""


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_callback_of_another_method_uses_nothing_up(
    api: Api, browser: Browser, ada: Caller, method: str
) -> None:
    address = await browser.goes()
    headers = {"Cookie": f"phoneprov_signin={browser.kept}"}
    reply = await api.client.request(method, address.removeprefix(PUBLIC), headers=headers)

    assert reply.status_code == 405
    assert result_of(await browser.comes(address)) == ""


async def test_callback_session_that_the_browser_had_is_not_continued(
    api: Api, stub: OidcStub, browser: Browser, ada: Caller, bob: Caller
) -> None:
    stub.person = {"sub": "b", "preferred_username": "bob"}
    thief = Browser(api, stub)
    assert await thief.signs_in() == ""
    stub.person = {"sub": "a", "preferred_username": "ada"}
    address = await browser.goes()
    cookies = f"phoneprov_signin={browser.kept}; phoneprov_session={thief.session}"
    reply = await api.client.get(address.removeprefix(PUBLIC), headers={"Cookie": cookies})
    browser.session = reply.headers.get_list("set-cookie")[1].partition("=")[2].partition(";")[0]

    assert (await begun(api, thief))["me"]["username"] == "bob"
    assert (await begun(api, browser))["me"]["username"] == "ada"


async def test_reply_of_the_attackers_sign_in_signs_no_victim_in(
    api: Api, stub: OidcStub, ada: Caller
) -> None:
    attacker, victim = Browser(api, stub), Browser(api, stub)
    address = await attacker.goes()
    own = await victim.goes()

    assert result_of(await victim.comes(address)) == "sign_in_expired"
    code = parse_qs(urlsplit(address).query)["code"][0]
    # The code of another sign-in, with the victim's own state: the verifier is wrong.
    mixed = own.replace(parse_qs(urlsplit(own).query)["code"][0], code)
    assert result_of(await victim.comes(mixed)) == "sign_in_refused"
    assert victim.session == ""


async def test_connect_of_another_browser_connects_no_victim(
    api: Api, stub: OidcStub, browser: Browser, bob: Caller
) -> None:
    reply = await api.client.post(OIDC, headers={"Authorization": f"Bearer {bob.token}"})
    address = stub.authorize(data_of(reply)["location"])

    assert result_of(await browser.comes(address)) == "sign_in_expired"
    assert result_of(await Browser(api, stub).comes(address)) == "sign_in_expired"
    assert "/token" not in stub.asked


# Accounts


@pytest.mark.parametrize("name", ["ada ", " ada", "ad\u0430", "ada\0", "\uff41da", "ada@evil", ""])
async def test_name_that_only_looks_like_another_gets_no_account(
    stub: OidcStub, browser: Browser, ada: Caller, name: str
) -> None:
    stub.person["preferred_username"] = name

    assert await browser.signs_in() == "not_linked"


async def test_claims_grant_no_permission_and_set_no_other_field(
    tmp_path: Path, stub: OidcStub
) -> None:
    async with opened_api(tmp_path, **settings_of(stub, OIDC_CREATE="true")) as api:
        stub.person = {
            "sub": "n", "preferred_username": "nina", "email": "nina@example.com", "level": 0,
            "permission": {"level": 0}, "roles": ["superadmin"], "uuid": "x", "location": "Hall",
            "created_by": "x", "password": "a password of the claims",
        }  # fmt: skip
        browser = Browser(api, stub)
        assert await browser.signs_in() == ""
        session = await begun(api, browser)

        assert (session["level0"], session["me"]["permission"]) == (False, None)
        assert session["me"]["location"] is None


Change = Callable[[Api, Caller, Caller], Coroutine[Any, Any, Any]]


async def deactivated(_: Api, admin: Caller, ada: Caller) -> None:
    data_of(await admin.put(f"/users/{ada.uuid}", {"is_active": False}))


async def raised(_: Api, admin: Caller, ada: Caller) -> None:
    made = data_of(await admin.post("/permissions", {"level": 0, "name": "all"}), 201)
    body = {"user_uuid": ada.uuid, "perm_uuid": made["uuid"]}
    data_of(await admin.post("/user-perms", body))


@pytest.mark.parametrize("database_kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("change", [deactivated, raised])
async def test_account_that_changes_while_the_provider_answers_is_not_signed_in(
    tmp_path: Path, stub: OidcStub, change: Change, database_kind: str
) -> None:
    async with opened_api(tmp_path, database_kind=database_kind, **settings_of(stub)) as api:
        admin, ada = await api.account("admin", level=0), await api.account("ada")
        loop = asyncio.get_running_loop()

        def keys(request: BaseHTTPRequestHandler) -> None:
            asyncio.run_coroutine_threadsafe(change(api, admin, ada), loop).result(20)
            body = json.dumps({"keys": [stub.key.as_dict(private=False)]}).encode()
            request.send_response(200)
            request.end_headers()
            request.wfile.write(body)

        stub.answers["/jwks"] = keys
        assert await Browser(api, stub).signs_in() == "not_linked"


# Keys and tokens


def keys_of(stub: OidcStub, keys: list[Any]) -> None:
    """Let the provider publish these keys."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        body = json.dumps({"keys": keys}).encode()
        assert len(body) <= 64 * 1024
        request.send_response(200)
        request.end_headers()
        request.wfile.write(body)

    stub.answers["/jwks"] = answer


def coded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


NO_KEYS: list[Any] = [
    None, 5, "key", [], {}, {"kty": "oct", "k": "AAAA"}, {"kty": ["RSA"]},
    {"kty": "OKP", "crv": "X25519", "x": coded(b"\1" * 32)},
    {"kty": "OKP", "crv": "Ed25519", "x": 5}, {"kty": "OKP", "crv": "Ed25519", "x": "AA"},
    {"kty": "EC", "crv": "P-256", "x": "AA", "y": {}}, {"kty": "EC", "crv": [], "x": "AA"},
    {"kty": "EC", "crv": "P-521", "x": "AA", "y": "AA"},
    {"kty": "RSA", "n": 5, "e": "AQAB"}, {"kty": "RSA", "n": "", "e": ""},
    {"kty": "RSA", "n": "\u00e9", "e": None}, {"kty": "RSA", "n": coded(b"\2"), "e": "AQAB"},
    {"kty": "RSA", "n": coded(b"\xff" * 256), "e": "AQAB", "key_ops": ["sign"]},
]  # fmt: skip


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
async def test_keys_that_are_none_stand_in_no_way(
    stub: OidcStub, browser: Browser, ada: Caller, algorithm: str
) -> None:
    stub.rotate(algorithm, "right")
    keys_of(stub, [*NO_KEYS, stub.key.as_dict(private=False)])
    stub.header = {"kid": None}

    assert await browser.signs_in() == ""


@pytest.mark.parametrize(("before", "result"), [(15, ""), (16, "sign_in_refused")])
async def test_keys_by_the_dozen_are_not_all_tried(
    stub: OidcStub, browser: Browser, ada: Caller, before: int, result: str
) -> None:
    """Each of them may have signed the token, and costs a verification."""
    stub.rotate("ES256", "k")
    others = [ECKey.generate_key("P-256").as_dict(private=False) for _ in range(before)]
    keys_of(stub, [*others, stub.key.as_dict(private=False)])
    stub.header = {"kid": None}

    assert await browser.signs_in() == result


async def test_token_signed_with_the_key_in_its_header_is_refused(
    stub: OidcStub, browser: Browser, ada: Caller
) -> None:
    published = stub.key.as_dict(private=False)
    stub.rotate("RS256", "first")
    keys_of(stub, [published])
    own = stub.key.as_dict(private=False)
    for header in ({"jwk": own}, {"jku": f"{stub.issuer}/own"}, {"x5u": f"{stub.issuer}/own"}):
        stub.header = header
        assert await browser.signs_in() == "sign_in_refused"
    assert "/own" not in stub.asked


@pytest.mark.parametrize("kid", ["../../etc/passwd", "' OR 1=1 --", "x" * 300, "\0", ["first"], {}])
async def test_token_with_any_key_id_is_refused(
    stub: OidcStub, browser: Browser, ada: Caller, kid: Any
) -> None:
    stub.header = {"kid": kid}

    result = await browser.signs_in()
    assert result == "sign_in_refused"


@pytest.mark.parametrize("key", [RSAKey.generate_key(2048), OKPKey.generate_key("Ed25519")])
async def test_token_of_an_algorithm_that_is_not_its_keys_is_refused(
    stub: OidcStub, browser: Browser, ada: Caller, key: Any
) -> None:
    keys_of(stub, [key.as_dict(private=False)])
    stub.rotate("ES256", "first")
    stub.header = {"kid": None}

    assert await browser.signs_in() == "sign_in_refused"


async def test_token_with_further_header_parameters_is_accepted(
    stub: OidcStub, browser: Browser, ada: Caller
) -> None:
    """RFC 7515, section 4: what is not understood is ignored, unless `crit` names it."""
    stub.header = {"x5t": "abc", "org.example.client": "phones", "typ": "JWT"}

    assert await browser.signs_in() == ""


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": 10**30, "iat": 10**30},
        {"exp": -(10**30)},
        {"exp": 1.0e308, "nbf": 1.0e308},
        {"iat": [1]},
        {"aud": [["phones & desks"]]},
        {"aud": []},
        {"sub": {"$ne": None}},
        {"sub": "\u202eada"},
        {"nonce": ["x"]},
    ],
)
async def test_token_with_strange_values_is_refused(
    stub: OidcStub, browser: Browser, ada: Caller, claims: dict[str, Any]
) -> None:
    stub.claims = claims

    assert await browser.signs_in() == "sign_in_refused"
