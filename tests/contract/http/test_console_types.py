"""The types of the console's modules are those of the OpenAPI document."""

import json
import os
from importlib import resources
from typing import Any

from support.api import Api

TYPES = resources.files("phoneprov_http.console").joinpath("types.d.ts")
HEAD = (
    "// Written from the OpenAPI document: "
    "PHONEPROV_WRITE_DOCS=1 pytest tests/contract/http/test_console_types.py\n"
)
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}


def typescript(schema: dict[str, Any]) -> str:
    """The type of a schema of the document."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for several in ("oneOf", "anyOf"):
        if several in schema:
            return " | ".join(dict.fromkeys(typescript(one) for one in schema[several]))
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(typescript({**schema, "type": one}) for one in kind)
    if kind == "array":
        items = typescript(schema.get("items", {}))
        return f"({items})[]" if "|" in items else f"{items}[]"
    if kind == "object":
        return "Record<string, any>"
    return "null" if kind == "null" else PLAIN.get(str(kind), "any")


def interface(name: str, schema: dict[str, Any]) -> str:
    lines = [
        f"  {field}: {typescript(one)};\n" for field, one in schema.get("properties", {}).items()
    ]
    return f"export interface {name} {{\n{''.join(lines)}}}\n"


async def test_console_types_are_those_of_the_openapi_document(api: Api) -> None:
    document = (await api.client.get("/docs/openapi.json")).json()
    kept = {
        name: schema
        for name, schema in document["components"]["schemas"].items()
        if "_" not in name and schema.get("type") == "object"
    }
    text = HEAD + "".join(f"\n{interface(name, kept[name])}" for name in sorted(kept))
    if os.environ.get("PHONEPROV_WRITE_DOCS"):
        with resources.as_file(TYPES) as path:
            path.write_text(text, "utf-8")
    assert TYPES.read_text("utf-8") == text
