"""The OpenAPI document describes the interface completely and correctly."""

import ast
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import given, settings, strategies as st

import phoneprov_core
from phoneprov_core.kernel import fields, values, values as addresses
from phoneprov_core.kernel.errors import Refused, TimedOut, Unavailable
from phoneprov_core.switching.errors import NOT_RECORDED, OF_A_SWITCH, OUTCOME_UNKNOWN, REPLY_LOST
from phoneprov_http.phone.request import FAILURES
from support.access_table import TABLE
from support.document import DOCUMENT, problems, resolved
from support.scale import rounds

Json = dict[str, Any]

TAGS = {tag["name"] for tag in DOCUMENT["tags"]}
SCHEMAS: Json = DOCUMENT["components"]["schemas"]


def operations() -> Iterator[tuple[str, Json]]:
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            yield f"{method.upper()} {path}", operation


OPERATIONS = dict(operations())


def operation(called: str) -> Json:
    method, path = called.split()
    found: Json = OPERATIONS[f"{method} /api/v1{path}"]
    return found


def test_document_is_valid_openapi() -> None:
    schemathesis.openapi.from_dict(DOCUMENT).validate()


def test_document_has_every_operation_of_the_access_table() -> None:
    expected = {
        name.replace("{user_uuid}", "{userUuid}").replace("{extension_uuid}", "{extUuid}")
        for name in TABLE
        if " /docs" not in name and " /console" not in name
    }
    assert len(expected) > 80
    assert set(OPERATIONS) == expected


def test_every_operation_is_described() -> None:
    for name, described in OPERATIONS.items():
        assert described["summary"], name
        assert described["description"].endswith("."), name
        assert [tag in TAGS for tag in described["tags"]] == [True], name
        for parameter in described["parameters"]:
            assert parameter["description"], name
        for reply in described["responses"].values():
            assert resolved(reply)["description"], name


def test_operation_ids_and_tags_are_unique() -> None:
    names = [described["operationId"] for described in OPERATIONS.values()]
    assert len(set(names)) == len(names)
    tags = [tag["name"] for tag in DOCUMENT["tags"]]
    assert sorted(tags) == sorted(TAGS)
    assert all(tag["description"] for tag in DOCUMENT["tags"])


def test_every_field_is_described_and_others_are_forbidden() -> None:
    for name, schema in SCHEMAS.items():
        assert schema["description"], name
        assert schema["additionalProperties"] is False, name
        for field, described in schema["properties"].items():
            text = resolved(described).get("description") or described.get("description")
            assert text, (name, field)


def test_examples_match_their_schemas() -> None:
    checked = set()
    for name, described in OPERATIONS.items():
        if "requestBody" in described:
            content = described["requestBody"]["content"]["application/json"]
            assert problems(content["schema"], content["example"]) == [], name
            assert content["example"], name
        for reply in described["responses"].values():
            content = resolved(reply)["content"]["application/json"]
            examples = [one["value"] for one in content.get("examples", {}).values()]
            examples += [content["example"]] if "example" in content else []
            assert examples, name
            # Most errors are the same for many operations.
            for pair in {json.dumps([content["schema"], example]) for example in examples}:
                if pair not in checked:
                    assert problems(*json.loads(pair)) == [], name
                    checked.add(pair)


def test_schemas_are_usable_by_go_clients() -> None:
    """A constructor in Go is ``New`` and the name of the schema, and a default is no object."""
    names = set(SCHEMAS)
    assert {f"New{name}" for name in names} & names == set()
    fields = [field for one in SCHEMAS.values() for field in one.get("properties", {}).values()]
    assert [field for field in fields if isinstance(field.get("default"), dict)] == []


def test_no_combination_stands_beside_properties() -> None:
    """openapi-generator and openapi-python-client make a type of alternatives from it, and lose the
    fields."""
    combinations = {"oneOf", "anyOf", "allOf"}
    assert [name for name, one in SCHEMAS.items() if combinations & set(one)] == []
    accepted = SCHEMAS["CreateProfile"]
    text = {"user_uuid": accepted["examples"][0]["user_uuid"], "name": "x", "cnf_xml": "<a/>"}
    assert problems(accepted, text) == []
    assert problems(accepted, {**text, "template": "office"})
    assert problems(accepted, {**text, "cnf_xml": None})


def patterns(thing: Any) -> Iterator[str]:
    if isinstance(thing, dict):
        if isinstance(thing.get("pattern"), str):
            yield thing["pattern"]
        thing = list(thing.values())
    for one in thing if isinstance(thing, list) else ():
        yield from patterns(one)


_COMPILE = """
const patterns = JSON.parse(require("fs").readFileSync(0, "utf8"));
for (const pattern of patterns) for (const flags of ["", "u"]) new RegExp(pattern, flags);
console.log(patterns.length);
"""


def test_patterns_are_those_of_javascript_with_and_without_the_flag_u() -> None:
    """Generators of zod write them without the flag, validators of JSON schema with it."""
    every = sorted(set(patterns(DOCUMENT)))
    assert len(every) > 20
    assert [one for one in every if max(one) > "\uffff"] == []
    if node := shutil.which("node"):
        done = subprocess.run(
            [node, "-e", _COMPILE], input=json.dumps(every), capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip
        assert (done.stdout.strip(), done.stderr) == (str(len(every)), "")


def test_field_examples_match_their_schemas() -> None:
    checked = 0
    for name, schema in SCHEMAS.items():
        for field, described in schema["properties"].items():
            for example in described.get("examples", ()):
                assert problems(described, example) == [], (name, field)
                checked += 1
    assert checked > 100


def test_document_names_operations_that_need_a_token() -> None:
    for name, described in OPERATIONS.items():
        if "/health/" in name or name.endswith(("/auth/login", "/auth/refresh")):
            assert described["security"] == [], name
        elif name.endswith("/auth/register"):
            assert described["security"] == [{}, {"bearer": []}]
        else:
            assert described["security"] == [{"bearer": []}], name
            assert "401" in described["responses"], name
    assert DOCUMENT["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"


def test_every_body_has_every_refusal() -> None:
    for name, described in OPERATIONS.items():
        statuses = set(described["responses"])
        assert ({"413", "415", "422"} <= statuses) == ("requestBody" in described), name
        assert "400" in statuses, name
        assert ("503" in statuses) == (name != "GET /health/live"), name
        if re.search(r"\{(?!userUuid)", name) and name != "PUT /api/v1/vendor-phones/{mac}":
            assert "404" in statuses, name


PHONES = (
    "q brand model location phone_vlan software_version software_type is_active last_outcome"
    " last_drill user_uuid in_use number sort state macs"
)
DEPLOYMENTS = "profile_uuid outcome since until current before"
FILTERS = {
    "GET /api/v1/users": "q lang location nationality timezone is_active number sort",
    "GET /api/v1/extensions": "q type voicemail is_active sort",
    "GET /api/v1/phones": PHONES,
    "GET /api/v1/phones/summaries": PHONES,
    "GET /api/v1/desks": PHONES,
    "GET /api/v1/phones/counts": "by is_active",
    "GET /api/v1/vendor-kem": "connected_phone",
    "GET /api/v1/company-directory": "q department company location building is_active sort",
    "GET /api/v1/configuration-templates": "name",
    "GET /api/v1/configuration-templates/{uuid}/revisions/diff": "from to",
    "GET /api/v1/configuration-templates/{uuid}/revisions/text": "number",
    "GET /api/v1/phone-profiles": "q user_uuid software_type number sort",
    "GET /api/v1/phone-profiles/{uuid}/revisions/diff": "from to",
    "GET /api/v1/batches": "before",
    "GET /api/v1/batches/{uuid}/phones": "state after",
    "GET /api/v1/deployments": f"mac {DEPLOYMENTS}",
    "GET /api/v1/fleet": "days",
    "GET /api/v1/history/phones": "at location mac after",
    "GET /api/v1/search": "q most",
    "GET /api/v1/phones/{mac}/deployments": DEPLOYMENTS,
    "GET /api/v1/phones/{mac}/fetches": "before",
    "GET /api/v1/phones/{mac}/drills": "before",
    "GET /api/v1/audit": "since until q actor_uuid action resource resource_id before",
    "DELETE /api/v1/phone-profiles/{uuid}": "force",
}
BY_KEY = {
    "GET /api/v1/phones/{mac}/drills",
    "GET /api/v1/phones/{mac}/fetches",
    "GET /api/v1/audit",
}
"""Lists that only grow: their pages continue after a row and have no total."""


def test_page_parameters_exist_for_lists_only() -> None:
    for name, described in OPERATIONS.items():
        in_query = {one["name"]: one for one in described["parameters"] if one["in"] == "query"}
        (success,) = [status for status in described["responses"] if status < "300"]
        content = described["responses"][success]["content"]["application/json"]
        is_list = resolved(content["schema"])["properties"]["data"].get("type")
        pages = {"limit", "before"} if name in BY_KEY else {"limit", "offset"}
        assert (pages <= set(in_query)) == (is_list == "array"), name
        assert in_query.keys() - {"limit", "offset"} == set(FILTERS.get(name, "").split()), name
    limit, offset = operation("GET /permissions")["parameters"]
    assert (limit["schema"]["minimum"], limit["schema"]["maximum"]) == (1, 1000)
    assert offset["schema"]["minimum"] == 0


def test_metadata_is_missing_in_the_profile_group_only() -> None:
    for name, described in OPERATIONS.items():
        (status,) = [status for status in described["responses"] if status < "300"]
        schema = resolved(described["responses"][status]["content"]["application/json"]["schema"])
        assert ("metadata" in schema["properties"]) == ("/phone-profiles" not in name), name
        assert set(schema["required"]) == set(schema["properties"])
        assert schema["additionalProperties"] is False


def test_document_create_is_201_start_is_202_others_are_200() -> None:
    others = ("login", "refresh", "logout", "switch", "preview", "rollback", "restart",
              "user-perms", "lint", "imports/{kind}", "edits/{kind}",
              "configuration-templates/check", "render", "plan", "batches/list", "rehearse",
              "people/join", "people/leave", "people/undo",
              "numbers")  # fmt: skip
    for name, described in OPERATIONS.items():
        creates = name.startswith("POST") and not name.endswith(others)
        status = "202" if name == "POST /api/v1/batches" else "201" if creates else "200"
        assert status in described["responses"], name


def test_responses_have_their_headers() -> None:
    for name, described in OPERATIONS.items():
        for status, reply in described["responses"].items():
            headers = {key: resolved(one) for key, one in resolved(reply)["headers"].items()}
            assert headers.pop("X-Request-Id")["required"], name
            assert set(headers) == {"401": {"WWW-Authenticate"}, "429": {"Retry-After"}}.get(
                status, set()
            ), name


def test_document_allows_read_records_in_updates() -> None:
    for name, described in OPERATIONS.items():
        if not name.startswith("PUT") or name.endswith("/me/password"):  # it returns no record
            continue
        body = resolved(described["requestBody"]["content"]["application/json"]["schema"])
        reply = described["responses"]["200"]["content"]["application/json"]["schema"]
        read = resolved(resolved(reply)["properties"]["data"])
        assert set(read["properties"]) <= set(body["properties"]), name


def test_update_bodies_accept_matching_identifiers() -> None:
    for called, fields_ in {
        "PUT /permissions/{uuid}": {"uuid", "level"},
        "PUT /phones/{mac}": {"mac"},
        "PUT /vendor-users/{userUuid}": {"user_uuid"},
        "POST /personal-directory/{userUuid}": {"user_uuid"},
        "PUT /personal-directory/contact/{uuid}": {"uuid", "user_uuid"},
        "PUT /users/{uuid}": {"uuid"},
    }.items():
        content = operation(called)["requestBody"]["content"]["application/json"]
        described = resolved(content["schema"])["properties"]
        agree = {
            name for name, one in described.items() if "ust agree" in one.get("description", "")
        }
        assert agree == fields_, called


SHOWN_ON_PHONES = {
    "address_unknown", "in_call", "logged_in_elsewhere", "no_hotdesk", "no_page", "no_profile",
    "phone_not_served", "pin_length", "pins_differ", "weak_pin", "wrong_pin",
}  # fmt: skip
"""Codes of errors that a phone shows as text, and that have no JSON."""


def test_every_code_that_a_phone_shows_has_a_text_in_its_language() -> None:
    assert set(FAILURES) >= SHOWN_ON_PHONES
    kinds = (Refused, TimedOut, Unavailable)
    assert {
        one.code for one in OF_A_SWITCH if not issubclass(one, kinds) and one.code not in FAILURES
    } == set()


def test_every_raised_code_is_documented() -> None:
    raised = set()
    source = Path(phoneprov_core.__file__).parents[1]
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "code":
                raised |= {node.value.value} if isinstance(node.value, ast.Constant) else set()
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                named = node.targets[0].id == "code" and isinstance(node.value, ast.Constant)
                raised |= {node.value.value} if named else set()  # type: ignore[attr-defined]
    raised |= {OUTCOME_UNKNOWN, NOT_RECORDED, REPLY_LOST}
    about = set(re.findall(r"`(\w+)`", DOCUMENT["info"]["description"]))
    documented = {
        code
        for described in OPERATIONS.values()
        for status, reply in described["responses"].items()
        if status >= "400"
        for code in resolved(reply)["content"]["application/json"]["examples"]
    }
    # Over HTTP, every conflict has a code of its own.
    # A provider sends the browser back to the console, which is not in the document.
    of_console = {
        "not_a_member", "not_linked", "provider_unavailable", "sign_in_expired", "sign_in_refused",
    }  # fmt: skip
    assert raised - documented - about - SHOWN_ON_PHONES - of_console == {"conflict"}
    assert documented <= raised


def test_codes_are_documented_where_they_occur() -> None:
    described = {}
    for name, one in OPERATIONS.items():
        for status, reply in one["responses"].items():
            if status >= "400":
                codes = resolved(reply)["content"]["application/json"]["examples"]
                described[f"{status} {name.replace('/api/v1', '')}"] = set(codes)
    assert described["401 POST /auth/login"] == {"wrong_credentials"}
    assert described["401 POST /auth/refresh"] == {"unauthenticated"}
    assert described["429 POST /auth/login"] == {"too_many_attempts", "locked"}
    assert described["429 POST /phone-profiles/switch"] == {"too_many_switches"}
    shared = described["503 GET /phones"]
    assert described["503 POST /phone-profiles/switch"] == shared | {"not_recorded"}
    assert described["503 POST /phones/{mac}/rollback"] == shared | {"not_recorded"}
    assert described["503 POST /phones/{mac}/desk/logout"] == shared | {"not_recorded"}
    assert described["409 DELETE /permissions/{uuid}"] == {"in_use"}
    assert described["409 DELETE /users/{uuid}"] == {"last_superadmin"}
    assert described["409 PUT /users/{uuid}"] == {"already_exists", "last_superadmin"}
    assert described["409 POST /phone-profiles/switch"] == {
        "phone_inactive",
        "no_template_fits",
        "profile_not_allowed",
        "profile_does_not_fit",
        "template_fails",
        "phone_busy",
        "no_address",
        "address_not_allowed",
        "address_not_confirmed",
    }
    assert "409 PUT /phones/{mac}" not in described


def pattern_of(annotated: Any) -> str:
    (meta,) = [one for one in annotated.__metadata__ if hasattr(one, "extra_json_schema")]
    pattern: str = meta.extra_json_schema["pattern"]
    return pattern


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        (fields.MacAddress, addresses.mac),
        (fields.Email, values.email),
        (fields.Language, values.language),
        (fields.PinCode, values.pin_code),
        (fields.ExtensionNumber, values.extension_number),
        (fields.Line, values.required_text),
        (fields.OptionalLine, values.line),
        (fields.AnyLine, values.text),
        (fields.Description, values.description),
    ],
)
def test_patterns_match_their_rules(field: Any, rule: Any) -> None:
    pattern = re.compile(pattern_of(field).removesuffix("$") + r"\Z")

    @settings(max_examples=rounds(50, 1000))
    @given(st.from_regex(pattern).filter(lambda text: len(text) < 100))
    def matching_text_is_accepted(text: str) -> None:
        rule(text)

    @settings(max_examples=rounds(150, 1000))
    @given(st.text(max_size=20))
    def accepted_text_matches(text: str) -> None:
        try:
            rule(text)
        except ValueError:
            return
        assert pattern.match(text)

    matching_text_is_accepted()
    accepted_text_matches()


@pytest.mark.parametrize(
    "mac",
    ["001bd4123456", "00:1B:d4:12:34:56", "00-1b-d4-12-34-56", "001b.d412.3456", "0" * 12,
     "01:1B:D4:12:34:56", "FF" * 6, "00:1B-D4:12:34:56", "001bd412345", "00:00:00:00:00:00"],
)  # fmt: skip
def test_mac_pattern_accepts_the_same_as_the_rule(mac: str) -> None:
    assert bool(re.match(pattern_of(fields.MacAddress), mac)) == bool(addresses.known_mac(mac))
