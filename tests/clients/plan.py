"""One request to every operation of the document, for plain HTTP and for each generated client."""

import copy
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx

from support.document import DOCUMENT, resolved
from support.fuzz_records import RECORDS
from support.records import a_mac, identifier

USERNAME, PASSWORD = "ada", "correct horse battery"


class Call(NamedTuple):
    """A request. ``body`` is None without one; ``path`` has the values of its parameters."""

    operation: str
    tag: str
    method: str
    template: str
    path: dict[str, str]
    query: dict[str, int]
    body: Any
    schema: str
    takes: bool
    """Whether the operation takes anything, optional parameters included."""

    @property
    def url(self) -> str:
        return re.sub(r"\{(\w+)\}", lambda name: self.path[name[1]], self.template)


_QUERY = {"diff_revisions": {"from": 1, "to": 1}}
# Values of a record that does not exist yet.
_NEW = {
    "username": "new.person", "email": "new.person@example.com", "extension": "9001", "name": "New",
    "mac": a_mac(900),
}  # fmt: skip
_BODIES: dict[str, dict[str, Any]] = {
    "log_in": {"username": USERNAME, "password": PASSWORD},
    "create_user": {name: _NEW[name] for name in ("username", "email")},
    "register_account": {"username": "another.person", "email": "another.person@example.com"},
    "create_extension": {"extension": _NEW["extension"]},
    "create_permission": {"name": _NEW["name"]},
    "create_phone": {"mac": _NEW["mac"]},
    "create_token": {"expires_at": None},
    "update_extension": {"extension": "9002"},
    "update_user": {"username": "third.person", "email": "third.person@example.com"},
}
# What ends the session or the account comes last.
_LAST = ("refresh_tokens", "delete_user", "log_out")
_ORDER = ("get", "post", "put", "delete")


def calls(refresh_token: str) -> list[Call]:
    """The requests, those that delete after all others. The n-th request to a kind of record names
    the n-th record, so that no request depends on another one."""
    made = list(_calls(refresh_token))
    return sorted(
        made,
        key=lambda one: (
            _LAST.index(one.operation) + 1 if one.operation in _LAST else 0,
            _ORDER.index(one.method),
            one.operation,
        ),
    )


def _calls(refresh_token: str) -> Iterator[Call]:
    for number, (template, item) in enumerate(DOCUMENT["paths"].items()):
        for method, operation in item.items():
            turn = number + 1
            path = {
                one["name"]: _value(template, one, turn)
                for one in operation["parameters"]
                if one["in"] == "path"
            }
            query = {
                one["name"]: 1
                for one in operation["parameters"]
                if one["in"] == "query" and one.get("required")
            } | _QUERY.get(operation["operationId"], {})
            body, schema = None, ""
            if "requestBody" in operation:
                content = operation["requestBody"]["content"]["application/json"]
                reference = content["schema"].get("anyOf", [content["schema"]])[0]
                schema = reference["$ref"].rpartition("/")[2]
                body = _named(copy.deepcopy(content["example"]), template, turn)
                body |= _BODIES.get(operation["operationId"], {})
                if operation["operationId"] == "log_out":
                    body = None  # Go sends null
                elif "refresh_token" in body:
                    body["refresh_token"] = refresh_token
            yield Call(
                operation["operationId"], operation["tags"][0], method, template, path, query, body,
                schema, bool(operation["parameters"] or "requestBody" in operation),
            )  # fmt: skip


def _value(template: str, parameter: dict[str, Any], turn: int) -> str:
    schema = resolved(parameter["schema"])
    if "enum" in schema:
        return str(schema["enum"][0])
    if parameter["name"] in {"mac", "userUuid", "extUuid", "uuid"}:
        kinds = [kind for kind in RECORDS.of_paths if kind in template]
        if parameter["name"] != "uuid" or kinds:
            return RECORDS.of(template, parameter["name"], turn)
        return identifier(1)
    return str(schema.get("minimum", schema.get("examples", ["1"])[0]))


def _named(body: Any, template: str, turn: int) -> Any:
    """The body with records that exist."""
    if not isinstance(body, dict):
        return body
    for name in body:
        if name in RECORDS.in_bodies and body[name] is not None:
            body[name] = RECORDS.of(RECORDS.in_bodies[name], name, turn)
        if name == "macs":
            body[name] = [a_mac(turn)]
        body[name] = _named(body[name], template, turn)
    return body


def plain(url: str, token: str, plan: list[Call]) -> str:
    """A line for each request over plain HTTP, with its status."""
    headers = {"Authorization": f"Bearer {token}"}
    lines = []
    with httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=60) as client:
        for one in plan:
            sent = {} if one.body is None else {"json": one.body}
            reply = client.request(one.method, one.url, params=one.query, **sent)
            lines.append(f"{one.operation} {reply.status_code}\n")
    return "".join(lines)
