"""Sections 1 and 7 of the interface: every reply is the envelope."""

import asyncio
import logging
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from support.api import Api, Caller, data_of, error_of, opened_api
from support.document import DOCUMENT

JSON = {"Content-Type": "application/json"}
OPERATIONS = {
    f"{method.upper()} {path}": described
    for path, item in DOCUMENT["paths"].items()
    for method, described in item.items()
    if path.startswith("/api/")
}


async def test_success_has_the_envelope(admin: Caller) -> None:
    reply = await admin.get("/users")

    assert list(reply.json()) == ["success", "message", "data", "metadata"]
    assert reply.json()["success"] is True
    assert reply.json()["metadata"] == {}
    assert reply.headers["content-type"] == "application/json"


async def test_failure_has_the_envelope(anonymous: Caller) -> None:
    reply = await anonymous.get("/users")

    assert list(reply.json()) == ["success", "message", "data", "error"]
    assert reply.json()["data"] is None
    assert list(reply.json()["error"]) == ["code", "details", "request_id"]
    assert error_of(reply, 401, "unauthenticated") == {}
    assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "path",
    ["/", "/api", "/api/v1", "/api/v1/nothing", "/api/v2/users", "/users", "/api/v1/users/a/b"],
)
async def test_unknown_path_without_token_is_404(api: Api, admin: Caller, path: str) -> None:
    for headers in ({}, {"Authorization": f"Bearer {admin.token}"}):
        reply = await api.client.request("POST", path, headers=headers, content=b"{broken")
        assert error_of(reply, 404, "not_found") == {}
        assert reply.json()["message"] == "This path does not exist."


@pytest.mark.parametrize(
    "path",
    [
        *("/api/v1%2fme", "/api%2Fv1/me", "//api//v1//me", "/api/v1//me", "//api/v1/me"),
        *("/api/v1/me/", "/api/v1/me//", "/api/v1/%6de", "/api/v1/%6De", "/%61pi/v1/me"),
        *("/api/v1/me/%2e", "/api/v1/users/%2E%2E/me"),
    ],
)
async def test_path_with_another_spelling_is_404(admin: Caller, api: Api, path: str) -> None:
    headers = {"Authorization": f"Bearer {admin.token}"}
    url = api.client.base_url.copy_with(raw_path=path.encode())

    assert error_of(await api.client.get(url, headers=headers), 404, "not_found") == {}
    url = url.copy_with(raw_path=b"/api/v1/users?q=//&location=%6d")
    assert (await api.client.get(url, headers=headers)).status_code == 200


async def test_path_parameter_percent_encoded_is_decoded(admin: Caller) -> None:
    await admin.post("/phones", {"mac": "001bd4123456"})

    for mac in ("00%3A1b%3aD4:12:34:56", "001b.d412.3456"):
        assert (await admin.get(f"/phones/{mac}")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PATCH", "/users", "GET, HEAD, POST"),
        ("DELETE", "/users", "GET, HEAD, POST"),
        ("POST", "/users/7", "DELETE, GET, HEAD, PUT"),
        ("GET", "/phone-profiles/switch", "POST"),
        ("PUT", "/phone-profiles/switch", "POST"),
        ("POST", "/me", "GET, HEAD"),
        ("GET", "/auth/login", "POST"),
        ("FOO", "/users", "GET, HEAD, POST"),
        ("TRACE", "/users", "GET, HEAD, POST"),
        ("HEAD", "/auth/login", "POST"),
        ("OPTIONS", "/users", "GET, HEAD, POST"),
        ("OPTIONS", "/phone-profiles/switch", "POST"),
        ("OPTIONS", "/users/7", "DELETE, GET, HEAD, PUT"),
    ],
)
async def test_method_not_allowed_is_405_with_allowed_methods(
    anonymous: Caller, method: str, path: str, allow: str
) -> None:
    reply = await anonymous.ask(method, path)

    assert reply.status_code == 405
    assert reply.headers["allow"] == allow
    if method != "HEAD":
        assert error_of(reply, 405, "method_not_allowed") == {}


async def test_head_response_has_the_headers_of_get(
    api: Api, admin: Caller, anonymous: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "phoneprov.requests")
    for caller, path in ((admin, "/users"), (admin, "/users/7"), (anonymous, "/users")):
        head, get = await caller.ask("HEAD", path), await caller.get(path)
        assert (head.status_code, head.content) == (get.status_code, b"")
        assert head.headers["content-length"] == str(len(get.content))
        assert head.headers.keys() == get.headers.keys()
    assert vars(caplog.records[0])["fields"]["method"] == "HEAD"


async def test_options_for_unknown_path_is_404(api: Api) -> None:
    error_of(await api.client.options("/api/v1/nothing"), 404, "not_found")


async def test_every_response_has_a_request_id(api: Api, anonymous: Caller) -> None:
    for given in ("abc-1.2_3", "a" * 64):
        reply = await anonymous.ask("GET", "/users", headers={"X-Request-Id": given})
        assert reply.headers["x-request-id"] == given
        assert reply.json()["error"]["request_id"] == given
    for refused in ("", "a" * 65, "a b", "a/b", 'a"b'):
        reply = await anonymous.ask("GET", "/users", headers={"X-Request-Id": refused})
        assert re.fullmatch("[0-9a-f]{32}", reply.headers["x-request-id"])
        assert reply.json()["error"]["request_id"] == reply.headers["x-request-id"]
    assert "x-request-id" in (await api.client.get("/health/live")).headers


async def test_every_response_forbids_caching_and_framing(admin: Caller) -> None:
    for reply in (await admin.get("/users"), await admin.get("/nothing")):
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" ",
        b"{",
        b"nonsense",
        b"NaN",
        b'{"level": 1e999}',
        b'{"level": ' + b"1" * 5000 + b"}",
        b'{"name": "\xff"}',
        b'{"name": "\xed\xa0\x80"}',
        b'{"name": "\\ud800"}',
        b'{"\\udfff": 1}',
        b'\xef\xbb\xbf{"level": 1}',
        '{"level": 1}'.encode("utf-16"),
        b"[" * 100_000,
        b'{"level":' * 50_000,
    ],
)
async def test_body_that_is_not_json_is_400(admin: Caller, content: bytes) -> None:
    reply = await admin.ask("POST", "/permissions", content=content, headers=JSON)

    assert error_of(reply, 400, "malformed") == {}


@pytest.mark.parametrize("content", [b"null", b"1", b'"text"', b"[]", b"true"])
async def test_body_that_is_no_object_is_422(admin: Caller, content: bytes) -> None:
    reply = await admin.ask("POST", "/permissions", content=content, headers=JSON)

    assert error_of(reply, 422, "invalid") == {"body": "must be a JSON object"}


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "application/json; charset=latin-1",
        "",
        "json",
    ],
)
async def test_body_of_another_type_is_415(admin: Caller, content_type: str) -> None:
    reply = await admin.ask(
        "POST", "/permissions", content=b"{}", headers={"Content-Type": content_type}
    )

    assert error_of(reply, 415, "unsupported_media_type") == {}


@pytest.mark.parametrize(
    ("headers", "named"),
    [
        ({"Content-Type": "application/json; charset=ISO-8859-1"}, "character set iso-8859-1"),
        ({"Content-Type": "application/json; charset=x\x1b[31m"}, "character set x?[31m"),
        ({"Content-Encoding": "gzip"}, "content coding gzip"),
        ({"Content-Encoding": "gzip, br", **JSON}, "content coding gzip, br"),
    ],
)
async def test_body_with_another_charset_or_a_coding_is_415_and_named(
    admin: Caller, headers: dict[str, str], named: str
) -> None:
    reply = await admin.ask("POST", "/permissions", content=b"\x1f\x8b\x08", headers=headers)

    assert error_of(reply, 415, "unsupported_media_type") == {}
    assert named in reply.json()["message"]


@pytest.mark.parametrize(
    "path",
    ["/phones/001bd4123456/rollback", "/discovered-phones/001bd4123456/adopt"],
)
async def test_body_that_may_be_omitted_may_be_null(admin: Caller, path: str) -> None:
    omitted = await admin.ask("POST", path)
    null = await admin.ask("POST", path, content=b" null\n", headers=JSON)

    assert null.status_code == omitted.status_code == 404
    assert null.json()["message"] == omitted.json()["message"]


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON", 'application/json; charset="UTF-8"', None],
)
async def test_body_with_any_json_media_type_is_accepted(
    admin: Caller, content_type: str | None
) -> None:
    headers = {"Content-Type": content_type} if content_type else {}

    reply = await admin.ask(
        "POST", "/permissions", content=b'{"level": 1, "name": "x"}', headers=headers
    )

    assert data_of(reply, 201)["name"] == "x"


async def test_body_over_the_limit_is_413(tmp_path: Path) -> None:
    async with opened_api(tmp_path, PHONEPROV_BODY_MAX="2048") as api:
        admin = await api.account("admin", level=0)

        async def in_pieces() -> Any:
            for _ in range(3):
                yield b" " * 1000

        for content in (b" " * 2049, in_pieces()):
            reply = await admin.ask("POST", "/permissions", content=content, headers=JSON)
            assert error_of(reply, 413, "too_large") == {}
        body = b'{"level": 1, "name": "x"}'
        reply = await admin.ask("POST", "/permissions", content=body.rjust(2048), headers=JSON)
        data_of(reply, 201)


async def test_body_limit_is_1_mib_by_default(admin: Caller) -> None:
    body = b'{"level": 1, "name": "x"}'

    reply = await admin.ask("POST", "/permissions", content=body.rjust(1024 * 1024), headers=JSON)
    data_of(reply, 201)
    reply = await admin.ask(
        "POST", "/permissions", content=body.rjust(1024 * 1024 + 1), headers=JSON
    )
    error_of(reply, 413, "too_large")


async def test_errors_are_ordered_401_403_404_422(
    admin: Caller, ada: Caller, anonymous: Caller
) -> None:
    path = "/users/00000000-0000-4000-8000-00000000dead"
    for content in (b"{broken", b" " * (1024 * 1024 + 1)):
        for asked in (path, f"/users/{ada.uuid}"):
            broken: dict[str, Any] = {"content": content, "headers": JSON}
            error_of(await anonymous.ask("PUT", asked, **broken), 401)
            error_of(await ada.ask("PUT", asked, **broken), 403)
        error_of(await admin.put(path, {}), 404)
    error_of(await admin.ask("PUT", f"/users/{ada.uuid}", content=b"{broken", headers=JSON), 400)
    error_of(await admin.put(f"/users/{ada.uuid}", {"nonsense": 1}), 422)


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer \x7f", "Bearer a.b.c", "Token x", "a" * 10_000],
)
async def test_token_of_another_service_is_401(anonymous: Caller, authorization: str) -> None:
    reply = await anonymous.ask("GET", "/me", headers={"Authorization": authorization})

    assert error_of(reply, 401, "unauthenticated") == {}
    assert reply.headers["www-authenticate"] == "Bearer"


async def test_authorization_scheme_ignores_case(anonymous: Caller, ada: Caller) -> None:
    for scheme in ("bearer", "BEARER", "Bearer  "):
        reply = await anonymous.ask(
            "GET", "/me", headers={"Authorization": f"{scheme} {ada.token}"}
        )
        assert data_of(reply)["uuid"] == ada.uuid


@pytest.mark.parametrize("host", ["a b", "a/b", "\x7f"])
async def test_invalid_host_is_400(ada: Caller, host: str) -> None:
    reply = await ada.ask("GET", "/me", headers={"Host": host})

    assert error_of(reply, 400, "malformed") == {}


async def test_repeated_field_has_its_last_value(admin: Caller) -> None:
    reply = await admin.ask(
        "POST", "/permissions", content=b'{"level": 1, "name": "a", "name": "b"}', headers=JSON
    )

    assert data_of(reply, 201)["name"] == "b"


async def test_internal_error_is_500_without_details(
    api: Api, ada: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> Any:
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(api.database, "read", broken)

    reply = await ada.get("/me")

    assert error_of(reply, 500, "internal_error") == {}
    assert "secret" not in reply.text
    assert "the secret inside" in caplog.text


async def test_unavailable_database_is_503(api: Api, ada: Caller) -> None:
    await api.database.close()

    for reply in (await ada.get("/me"), await ada.put("/vendor-users/" + ada.uuid, {})):
        assert error_of(reply, 503, "unavailable") == {}


async def test_access_log_has_one_line_per_request(
    ada: Caller, anonymous: Caller, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "phoneprov.requests")

    await ada.ask("GET", f"/users/{ada.uuid}?token=secret", headers={"X-Request-Id": "one"})
    await anonymous.ask("GET", "/nothing", headers={"X-Request-Id": "two"})

    lines = [vars(record)["fields"] for record in caplog.records]
    assert [line.pop("duration_ms") >= 0 for line in lines] == [True, True]
    assert lines == [
        {
            "request_id": "one",
            "method": "GET",
            "route": "/api/v1/users/{uuid}",
            "status": 403,
            "account": ada.uuid,
        },
        {"request_id": "two", "method": "GET", "route": "-", "status": 404, "account": None},
    ]


async def test_concurrent_requests_have_their_own_ids(ada: Caller) -> None:
    async def asked(number: int) -> str:
        reply = await ada.ask("GET", "/me", headers={"X-Request-Id": f"r{number}"})
        return str(reply.headers["x-request-id"])

    assert await asyncio.gather(*map(asked, range(20))) == [f"r{n}" for n in range(20)]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/me"),
        ("GET", "/phones/001bd4123456"),
        ("DELETE", "/users/none"),
        ("POST", "/vendor-kem"),
    ],
)
async def test_query_long_or_with_a_repeated_parameter_is_refused_where_none_is_read(
    admin: Caller, method: str, path: str
) -> None:
    repeated = await admin.ask(method, path, params=[("a", "1"), ("a", "2")])
    long = await admin.ask(method, path, params={"a": "1" * 2048})

    assert error_of(repeated, 422, "invalid") == {"a": "is not a parameter; this path has none"}
    assert error_of(long, 400, "malformed") == {}


@pytest.mark.parametrize(("operation", "described"), OPERATIONS.items(), ids=OPERATIONS)
async def test_query_with_an_unknown_parameter_is_422_with_those_that_exist(
    admin: Caller, operation: str, described: Any
) -> None:
    method, path = operation.split()
    known = [one["name"] for one in described["parameters"] if one["in"] == "query"]
    path = path.removeprefix("/api/v1").replace("{mac}", "001bd4123456")
    path = re.sub(r"{\w+}", "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11", path)

    problems = error_of(await admin.ask(method, path, params={"locaton": "Hall"}), 422, "invalid")

    which = f"there are {', '.join(known)}" if known else "this path has none"
    assert problems == {"locaton": f"is not a parameter; {which}"}


async def test_query_names_unknown_repeated_and_invalid_parameters_together(admin: Caller) -> None:
    sent = [("locaton", "1"), ("limit", "0"), ("is_active", "x"), ("q", "a"), ("q", "b")]

    problems = error_of(await admin.ask("GET", "/users", params=sent), 422, "invalid")

    assert problems.keys() == {"locaton", "limit", "is_active", "q"}
    assert problems["q"] == "must be sent once"
    of_phone = await admin.ask("GET", "/phones/001bd4123456/deployments", params={"mac": "1"})
    assert error_of(of_phone, 422).keys() == {"mac"}


async def test_request_without_a_hash_uses_no_thread_pool(
    admin: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted: list[object] = []
    submit = ThreadPoolExecutor.submit

    def counted(pool: ThreadPoolExecutor, work: Any, /, *values: Any, **named: Any) -> Any:
        submitted.append(work)
        return submit(pool, work, *values, **named)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", counted)
    await admin.post("/phones", {"mac": "00:1B:D4:12:34:56"})
    await admin.get("/phones/00:1B:D4:12:34:56")
    await admin.get("/phones", limit="1")

    assert submitted == []
