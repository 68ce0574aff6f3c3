"""Schemas of Structs, made by msgspec."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar.openapi.spec import Reference, Schema
from litestar.plugins import OpenAPISchemaPlugin
from litestar.typing import FieldDefinition
from msgspec import Struct

Json = dict[str, Any]

_REF = "#/components/schemas/{name}"


def reference(name: str) -> Json:
    """A reference to a schema."""
    return {"$ref": _REF.format(name=name)}


class StructSchemas(OpenAPISchemaPlugin):
    """Refers to every Struct by the name that msgspec gives it, and remembers them all."""

    def __init__(self) -> None:
        self.types: dict[str, Any] = {}

    def is_plugin_supported_field(self, field_definition: FieldDefinition) -> bool:
        return not field_definition.is_union and field_definition.is_subclass_of(Struct)

    def to_openapi_schema(
        self,
        field_definition: FieldDefinition,
        schema_creator: Any,  # noqa: ARG002
    ) -> Schema:
        (schema,), _ = msgspec.json.schema_components(
            [field_definition.annotation], ref_template=_REF
        )
        self.types[schema["$ref"]] = field_definition.annotation
        return Schema(all_of=[Reference(ref=schema["$ref"])])


def components_of(structs: StructSchemas) -> Json:
    """The schemas of all Structs that the document refers to, and of those in them."""
    _, components = msgspec.json.schema_components(structs.types.values(), ref_template=_REF)
    components = _with_enums_in_place(components)
    return {name: _tidied(name, components[name]) for name in sorted(components)}


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


def _tidied(name: str, schema: Json) -> Json:
    """A record's schema: closed, null beside a type and not as a type of its own."""
    properties = {field: _nullable(inner) for field, inner in schema["properties"].items()}
    together = _TOGETHER.get(name, {})
    return {**schema, "properties": properties, "additionalProperties": False, **together}


def _with_enums_in_place(components: Json) -> Json:
    """The schemas, with each enumeration in the place of the references to it."""
    enums = {
        _REF.format(name=name): {"type": "string", "enum": schema["enum"]}
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


def _nullable(schema: Json) -> Json:
    if schema.get("type") == "null":
        # A schema of null alone is more than some client generators understand.
        return {**schema, "type": ["object", "null"], "maxProperties": 0}
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
