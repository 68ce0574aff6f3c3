"""Schemas of records and bodies, from the types themselves and the words about them."""

from __future__ import annotations

import re
from typing import Any

from phoneprov_http.openapi.fields import FIELDS, Field

Json = dict[str, Any]

REF = "#/components/schemas/{name}"

_UNSET_FILTER: Json = {"enum": [None, ""]}
_SET_FILTERS: list[Json] = [
    {"required": [name], "properties": {name: {"type": "string", "minLength": 1}}}
    for name in ("model", "location", "software_type")
]

_TOGETHER: Json = {
    "NewBatch": {
        "allOf": [
            {
                "oneOf": [
                    {
                        "required": ["macs"],
                        "properties": {
                            "macs": {"type": "array"},
                            "model": _UNSET_FILTER,
                            "location": _UNSET_FILTER,
                            "software_type": _UNSET_FILTER,
                        },
                    },
                    {"properties": {"macs": {"type": "null"}}, "anyOf": _SET_FILTERS},
                ]
            },
            {
                "anyOf": [
                    {"properties": {"revision": {"type": "null"}}},
                    {
                        "required": ["profile_uuid"],
                        "properties": {"profile_uuid": {"type": "string"}},
                    },
                ]
            },
            {
                "anyOf": [
                    {"properties": {"action": {"const": "switch"}}},
                    {"properties": {"profile_uuid": {"type": "null"}}},
                ]
            },
        ]
    },
    "RollbackRequest": {
        "dependentRequired": {"profile_uuid": ["revision"], "revision": ["profile_uuid"]},
        "not": {"required": ["deployment_uuid", "profile_uuid"]},
    },
}
"""Which fields need and which exclude each other; types cannot say that."""

_AFFIXES = re.compile(r"^(New|Shown|Enriched)|(Patch|Flag)$")


def tidied(name: str, schema: Json) -> Json:
    """A record's schema: closed, every field with words and an example, null beside a type
    and not as a type of its own."""
    if schema.get("type") != "object":
        return schema
    resource = _AFFIXES.sub("", name)
    properties = {
        field: _worded(_nullable(field_schema), _words(resource, field))
        for field, field_schema in schema["properties"].items()
    }
    together = _TOGETHER.get(name, {})
    return {**schema, "properties": properties, "additionalProperties": False, **together}


def with_enums_in_place(components: Json) -> Json:
    """The records, with each choice of words written where it is made."""
    enums = {
        REF.format(name=name): {"type": "string", "enum": schema["enum"]}
        for name, schema in components.items()
        if "enum" in schema
    }

    def placed(thing: Any) -> Any:
        if isinstance(thing, list):
            return [placed(item) for item in thing]
        if isinstance(thing, dict):
            named = enums.get(thing.get("$ref", ""), {})
            return {**named, **{k: placed(v) for k, v in thing.items() if not named or k != "$ref"}}
        return thing

    return {name: placed(schema) for name, schema in components.items() if "enum" not in schema}


def of_request(schema: Json, read: Json | None, identifiers: tuple[str, ...]) -> None:
    """Let a body hold the ``identifiers`` of what is addressed and, where ``read`` is its
    record as it is answered, that record's other fields."""
    properties = schema["properties"]
    for field in identifiers:
        if field not in properties:
            kind = read["properties"][field] if read else {"type": "string", "format": "uuid"}
            properties[field] = {**kind, "description": "Must agree with what is addressed"}
    for field in read["properties"] if read else ():
        if field not in properties:
            properties[field] = {"description": "Read-only: may be sent as it was read, is ignored"}


def _words(resource: str, field: str) -> Field:
    return FIELDS.get(f"{resource}.{field}") or FIELDS.get(field) or Field("")


def _worded(schema: Json, words: Field) -> Json:
    worded = dict(schema)
    if "description" not in worded and words.description:
        worded["description"] = words.description
    if not {"examples", "const", "enum", "$ref"} & set(worded) and words.example is not None:
        worded["examples"] = [words.example]
    return worded


def _nullable(schema: Json) -> Json:
    # {"anyOf": [{"type": "string", ...}, {"type": "null"}]} as {"type": ["string", "null"], ...}
    if [*schema.get("anyOf", ())][1:] != [{"type": "null"}]:
        return schema
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    inner = schema["anyOf"][0]
    if "$ref" in inner:
        return schema
    if "enum" in inner:
        inner = {**inner, "type": "string", "enum": [*inner["enum"], None]}
    return {**inner, "type": [inner["type"], "null"], **rest}
