"""The types that the console's modules use are those of the OpenAPI document."""

import json
import os
import re
from collections.abc import Iterable
from importlib import resources
from typing import Any

from phoneprov_http.console.files import assets
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


def names_in(text: str, names: Iterable[str]) -> set[str]:
    return set(re.findall(r"\w+", text)) & set(names)


async def test_console_types_are_those_of_the_openapi_document(api: Api) -> None:
    document = (await api.client.get("/docs/openapi.json")).json()
    kept = {
        name: schema
        for name, schema in document["components"]["schemas"].items()
        if "_" not in name and schema.get("type") == "object"
    }
    written = {name: interface(name, schema) for name, schema in kept.items()}
    scripts = "\n".join(
        file.content.decode() for name, file in assets().items() if name.endswith(".js")
    )
    used, also = set[str](), names_in(scripts, kept)
    while also:
        used |= also
        also = names_in("".join(written[name] for name in also), kept) - used
    text = HEAD + "".join(f"\n{written[name]}" for name in sorted(used))
    if os.environ.get("PHONEPROV_WRITE_DOCS"):
        with resources.as_file(TYPES) as path:
            path.write_text(text, "utf-8")
    assert TYPES.read_text("utf-8") == text
