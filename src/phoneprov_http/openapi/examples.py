"""Examples of whole records, put together from those of their fields."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

Json = dict[str, Any]

UUID = "5f0c6f0e-3b1f-4c0a-9d53-0b8a2f6f3c11"

_OF_FORMAT = {"uuid": UUID, "date-time": "2026-01-31T08:15:30.250Z"}
_OF_TYPE = {"string": "text", "integer": 0, "boolean": True, "object": None}


def example(schema: Json, components: Json, fields: Container[str] | None = None) -> Any:
    """An example of what this schema describes; of an object only these ``fields``."""
    if "$ref" in schema:
        return example(components[schema["$ref"].rpartition("/")[2]], components, fields)
    for keyword in ("examples", "enum"):
        if keyword in schema:
            return next((one for one in schema[keyword] if one), schema[keyword][0])
    if "const" in schema:
        return schema["const"]
    if "format" in schema and schema["format"] in _OF_FORMAT:
        return _OF_FORMAT[schema["format"]]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], components)
    kind = schema.get("type")
    if kind == "array":
        return [example(schema["items"], components)]
    if kind == "object":
        return {
            name: example(field, components)
            for name, field in schema.get("properties", {}).items()
            if fields is None or name in fields
        }
    if isinstance(kind, list):
        return schema.get("default", _OF_TYPE[kind[0]])
    return schema.get("default", _OF_TYPE.get(str(kind)))
