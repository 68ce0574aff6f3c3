"""Invalid input of any kind takes milliseconds of the event loop.

The ordinary run only finds costs that grow faster than the input: those take many seconds.
"""

import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from phoneprov_core.kernel import values
from phoneprov_core.kernel.values import caseless
from phoneprov_http.bodies import MOST_ELEMENTS, MOST_FIELDS
from security.asking import answer, least, settled_memory
from support.api import Api, Caller, opened_api
from support.document import DOCUMENT
from support.scale import LONG, note, rounds

MOST = rounds(5000.0, 50.0)
"""Milliseconds of processor time in the thread of the event loop."""

MEBIBYTE = 1024 * 1024
ROOM = MEBIBYTE - 100
ACCENTS = ("a" + "\u0315\u0300" * (ROOM // 4)).encode()
HOSTILE = {
    "letters": b"a" * ROOM,
    "addresses": b"0:" * (ROOM // 2),
    "dots": b"a@" + b"a." * (ROOM // 2 - 2),
    "accents": ACCENTS,
}


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(tmp_path, PUBLIC_REGISTER="true") as opened:
        with settled_memory():
            yield opened


@pytest.fixture
async def admin(api: Api) -> Caller:
    return await api.account("admin", level=0)


def text_fields() -> list[tuple[str, str, str]]:
    """Method, path and name of every documented text field of a body."""
    schemas = DOCUMENT["components"]["schemas"]
    found = []
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            body = operation.get("requestBody")
            if body is None:
                continue
            schema = body["content"]["application/json"]["schema"]
            schema = schema.get("anyOf", [schema])[0]  # a body that may be null
            while "$ref" in schema:
                schema = schemas[schema["$ref"].rpartition("/")[2]]
            for name, field in schema["properties"].items():
                if "string" in json.dumps(field) or "$ref" in json.dumps(field):
                    found.append((method.upper(), path, name))
    return found


async def test_field_of_1_mib_is_refused_within_bounded_cost(api: Api, admin: Caller) -> None:
    fields = text_fields()
    assert len(fields) > 140
    if not LONG:
        fields = list({name: (method, path, name) for method, path, name in fields}.values())
    kinds = cycle(HOSTILE.values())
    costs = {}
    for method, path, name in fields:
        target = path.replace("{mac}", "001bd4123456")
        for parameter in ("uuid", "user_uuid", "userUuid"):
            target = target.replace(f"{{{parameter}}}", admin.uuid)
        for text in HOSTILE.values() if LONG else (next(kinds),):
            body = b'{"%s":"%s"}' % (name.encode(), text)
            reply = await least(api, MOST, method, target, body, caller=admin)
            # A check reports mistakes of the text that it checks.
            checks = {("cnf_xml", "lint"), ("body", "check"), ("text", "list")}
            is_linted = (name, path.rpartition("/")[2]) in checks
            expected = {200} if is_linted else range(400, 500)
            assert reply.status in expected, (method, path, name, reply.body)
            costs[method, path, name, text[:4]] = reply.cost
    note(f"1 MiB in each of {len(fields)} fields: at most {max(costs.values()):.0f} ms")
    assert max(costs.values()) < MOST, max(costs.items(), key=lambda item: item[1])


SHAPES: dict[str, Callable[[], bytes]] = {
    "fields": lambda: b"{%s}" % b",".join(b'"%d":0' % number for number in range(104_000)),
    "fields with room": lambda: (
        b"{%s}" % b",".join(b'"%d"\t :0' % number for number in range(85_000))
    ),
    "one field again and again": lambda: b"{%s}" % b",".join([b'"a":0'] * 170_000),
    "lists": lambda: b'{"mac":[%s]}' % b",".join([b"[]"] * 340_000),
    "lists of nothing else": lambda: b"[%s]" % b",".join([b"[]"] * 340_000),
    "objects": lambda: b'{"mac":[%s]}' % b",".join([b"{}"] * 340_000),
    "fields of an object": lambda: (
        b'{"mac":{%s}}' % b",".join(b'"%d":0' % number for number in range(100_000))
    ),
    "numbers": lambda: b'{"mac":[%s]}' % b",".join([b"1"] * 500_000),
    "fractions": lambda: b'{"mac":[%s]}' % b",".join([b"1e9"] * 250_000),
    "texts": lambda: b'{"models":[%s]}' % b",".join([b'"a"'] * 260_000),
    "a long number": lambda: b'{"level":%s}' % (b"1" * ROOM),
    "a long fraction": lambda: b'{"level":0.%s}' % (b"1" * ROOM),
    "depth": lambda: b"[" * ROOM,
    "depth of objects": lambda: b'{"a":' * (ROOM // 5),
    "escapes": lambda: b'{"mac":"%s"}' % (b"\\u00e9" * (ROOM // 6)),
    "blanks": lambda: b"{" + b" " * ROOM + b"}",
    "a quote and blanks": lambda: b'{"a"' + b" " * ROOM + b"}",
}


async def test_body_of_1_mib_in_any_shape_has_bounded_cost(api: Api, admin: Caller) -> None:
    for shape, body in SHAPES.items():
        reply = await least(api, MOST, "POST", "/api/v1/phones", body(), caller=admin)

        assert reply.status in {400, 422}, shape
        assert reply.cost < MOST, shape
        assert len(reply.body) < 200_000, shape


async def test_large_valid_body_is_accepted(api: Api, admin: Caller) -> None:
    async def phone(body: Any) -> Any:
        content = json.dumps(body).encode()
        return await answer(api, "POST", "/api/v1/phones", content, caller=admin)

    unknown = {f"field {number}": "x" * 100 for number in range(MOST_FIELDS)}
    reply = await phone(unknown)
    assert reply.status == 422
    assert len(reply.envelope["error"]["details"]) == MOST_FIELDS + 1
    assert (await phone({**unknown, "more": 0})).status == 422
    assert (await phone({"mac": ["text"] * MOST_ELEMENTS})).status == 422
    assert (await phone({"mac": ["text"] * (MOST_ELEMENTS + 1)})).status == 422


@pytest.mark.parametrize("content", [b'{"mac":"\xff"}', b'{"mac":["\xed\xa0\x80"]}', b'{"mac":]}'])
async def test_large_invalid_body_is_refused(api: Api, admin: Caller, content: bytes) -> None:
    content = content[:-1] + b" " * 20_000 + b"}"

    assert (await answer(api, "POST", "/api/v1/phones", content, caller=admin)).status == 400


def least_time(rule: Callable[[str], str], text: str) -> float:
    """The milliseconds of a rule for a text, accepted or refused."""
    tried = []
    for _ in range(3):
        began = time.thread_time()
        with suppress(ValueError):
            rule(text)
        tried.append((time.thread_time() - began) * 1000)
    return min(tried)


@pytest.mark.parametrize("length", [1020, 1021, 10_000, 500_000])
def test_name_comparison_cost_is_bounded(length: int) -> None:
    for text in ("a" + "\u0315\u0300" * (length // 2), "\u1e14" * length, "a" * length):
        assert caseless(caseless(text)) == caseless(text)
        assert least_time(caseless, text) < MOST / 2


@pytest.mark.parametrize("rule", [values.text, values.description, values.url, values.email])
def test_text_validation_cost_is_bounded(rule: Callable[[str], str]) -> None:
    for length in (255, 1020, 2048, 8192, 8193, 1_000_000):
        for text in ("a" + "\u0315\u0300" * (length // 2), "\u1e14" * length, "e\u0301" * length):
            assert least_time(rule, text[:length]) < MOST / 2, (length, text[:3])


def test_character_with_over_30_accents_is_refused() -> None:
    assert len(values.text("a" + "\u0315" * 30)) == 31
    assert values.text("e\u0301" * 200) == "\u00e9" * 200
    with pytest.raises(ValueError, match="30 accents"):
        values.text("a" + "\u0315" * 31)


HEADERS = [
    (b"authorization", b"Bearer " + b"a.b." * 15_000),
    (b"authorization", b"Bearer" + b" " * 60_000 + b"x"),
    (b"x-forwarded-for", b"," * 60_000),
    (b"x-forwarded-for", b"10.0.0.1, " * 6_000),
    (b"x-request-id", b"a" * 60_000),
    (b"content-type", b"application/json" + b";charset=utf-8" * 4_000),
    (b"cookie", b"a=b;" * 15_000),
    (b"accept", b"text/html," * 6_000),
    (b"accept-language", b"en;q=0.1," * 6_000),
]


async def test_header_field_of_60_kb_has_bounded_cost(tmp_path: Path) -> None:
    async with opened_api(tmp_path, PHONEPROV_TRUSTED_PROXIES="10.0.0.0/8") as api:
        with settled_memory():
            for header in HEADERS:
                reply = await least(
                    api, MOST, "POST", "/api/v1/auth/login", b"{}", headers=[header]
                )

                assert 400 <= reply.status < 500, header[0]
                assert reply.cost < MOST, header[0]


TARGETS = [
    "/api/v1/users/" + "a" * 60_000,
    "/api/v1/phones/" + "00:" * 20_000,
    "/" * 60_000,
    "/api/v1" + "/users" * 10_000,
    "/api/v1/users?" + "limit=1&" * 7_000,
    "/api/v1/users?limit=" + "1" * 60_000,
    "/api/v1/users?" + "&".join(f"a{number}=" for number in range(8_000)),
    "/api/v1/users?" + "%" * 60_000,
    "/api/v1/users?" + ";" * 60_000,
]


async def test_target_of_60_kb_has_bounded_cost(api: Api, admin: Caller) -> None:
    for target in TARGETS:
        reply = await least(api, MOST, "GET", target, caller=admin)

        assert reply.cost < MOST, target[:22]
        assert reply.status in {200, 400, 404, 422}, target[:22]
